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
/// gradient/PATH, after/PATH, buffer_after/PATH, output (output_2, ... for several), loss, decision/PATH of gates, as the step left them.
tl::expected<std::vector<data::Array>, std::string> arraysAfter(const RowState& lowered, const runtime::Instance& instance);
/// Writes the inputs, target, weights and buffers of a file into the instance; other arrays are left. Values are converted to the
/// instance's element types. Errors: an unknown path, a shape that differs.
struct Loaded {
  std::size_t taken = 0;
  std::vector<std::string> ignored;  ///< arrays of the file that are no input, target, weight or buffer
  std::vector<std::string> missing;  ///< weights of the network that the file does not have: they stay as initialised
};
tl::expected<Loaded, std::string> loadArrays(const std::vector<data::Array>& arrays, runtime::Instance& instance);

}  // namespace tbem::driver
