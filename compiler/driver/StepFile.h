// The numbers of one step as arrays: what `tbemc step --save` writes and `--load` reads.
#pragma once

#include "compiler/driver/Pipeline.h"
#include "runtime/core/Executable.h"
#include "runtime/data/Npz.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// input/NAME, target, weight/PATH, buffer/PATH as they are before the step, in order of definition.
tl::expected<std::vector<data::Array>, std::string> arraysBefore(const RowState& lowered, const runtime::Instance& instance);
/// gradient/PATH, after/PATH, output (output_2, ... for several), loss, as the step left them.
tl::expected<std::vector<data::Array>, std::string> arraysAfter(const RowState& lowered, const runtime::Instance& instance);
/// Writes the inputs, target, weights and buffers of a file into the instance; other arrays are left. Values are converted to the
/// instance's element types. The number of arrays taken. Errors: an unknown path, a shape that differs.
tl::expected<std::size_t, std::string> loadArrays(const std::vector<data::Array>& arrays, runtime::Instance& instance);

}  // namespace tbem::driver
