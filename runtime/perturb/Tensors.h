// Numbers on their way into the inputs of an executable and out of its buffers. Internal to this folder.
#pragma once

#include "runtime/core/Executable.h"
#include "runtime/perturb/Result.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tbem::perturb {

/// Zeros in the type and shape of a buffer.
runtime::HostTensor zerosOf(const tbem_operand& operand);

/// Into the input with this path, which has as many elements. An input that the executable does not read has no storage, and
/// takes nothing.
Result<void> writeInput(runtime::Instance& instance, std::string_view path, std::span<const float> values);
Result<void> writeInput(runtime::Instance& instance, std::string_view path, std::span<const std::int64_t> values);
Result<void> writeInput(runtime::Instance& instance, std::string_view path, const runtime::HostTensor& value);

/// A buffer's elements in logical order; those of another type than f32 are rounded to it.
Result<std::vector<float>> readNumbers(const runtime::Instance& instance, std::uint32_t buffer);

}  // namespace tbem::perturb
