// The numbers of one step as named arrays: what `tbemc step --save` writes, and what `step` looks through for numbers that are
// not finite.
#pragma once

#include "compiler/run/State.h"
#include "runtime/core/Executable.h"

#include <cstddef>
#include <functional>
#include <string>

namespace tbem::driver {

using VisitArray = std::function<void(const std::string& name, const runtime::HostTensor& value)>;

/// input/NAME, target, weight/PATH, buffer/PATH as they are before the step, in order of definition.
tl::expected<void, std::string> visitBefore(const RowState& lowered, const runtime::Instance& instance, const VisitArray& visit);
/// gradient/PATH, after/PATH, buffer_after/PATH, output (output_2, ... for several), loss, decision/PATH of gates, as the step
/// left them. `keepsResults`: as State::keepResults when the row was lowered; without it there are no gradients and no outputs.
tl::expected<void, std::string> visitAfter(const RowState& lowered, const runtime::Instance& instance, bool keepsResults,
                                           const VisitArray& visit);

/// How many numbers of a tensor of a floating type are not finite.
std::size_t countNotFinite(const runtime::HostTensor& tensor);

/// An array in which some numbers are not finite.
struct NotFinite {
  std::string array;
  std::size_t count = 0, of = 0;
};

}  // namespace tbem::driver
