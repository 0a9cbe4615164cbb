// Numbers of the host on their way into the inputs of an executable.
#pragma once

#include "runtime/core/Executable.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tbem::runtime {

/// Into the input with this path: row-major elements, as many as it has, converted to its type. An input that the executable does
/// not read has no storage, and takes nothing.
tl::expected<void, Failure> writeInput(Instance& instance, std::string_view path, std::span<const float> values);
tl::expected<void, Failure> writeInput(Instance& instance, std::string_view path, std::span<const std::int64_t> values);

}  // namespace tbem::runtime
