// The numbers of one step as arrays: what `tbemc step --save` writes.
#pragma once

#include "compiler/driver/Pipeline.h"
#include "runtime/core/Executable.h"
#include "runtime/data/Array.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// input/NAME, target, weight/PATH, buffer/PATH as they are before the step, in order of definition.
tl::expected<std::vector<data::Array>, std::string> arraysBefore(const RowState& lowered, const runtime::Instance& instance);
/// gradient/PATH, after/PATH, buffer_after/PATH, output (output_2, ... for several), loss, decision/PATH of gates, as the step
/// left them.
tl::expected<std::vector<data::Array>, std::string> arraysAfter(const RowState& lowered, const runtime::Instance& instance);

/// An array in which some numbers are not finite.
struct NotFinite {
  std::string array;
  std::size_t count = 0, of = 0;
};
std::vector<NotFinite> notFiniteIn(const std::vector<data::Array>& arrays);

}  // namespace tbem::driver
