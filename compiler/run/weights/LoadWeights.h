// Weights from a file into a step: what `step --load` does.
#pragma once

#include "compiler/run/weights/CompareArrays.h"
#include "runtime/core/Executable.h"
#include "runtime/data/ArrayFile.h"

#include <string>
#include <vector>

namespace tbem::driver {

struct Loaded {
  std::size_t taken = 0;
  std::vector<std::string> ignored;  ///< with `partial`: arrays of the file that have no place, or do not fit it
  std::vector<std::string> missing;  ///< weights and buffers that stay as initialised
  std::string prefix;                ///< that all of the file's names have and are read without: "module."
};

/// Writes the arrays that have a place (compareArrays) into the instance, converted to its element types. Errors: an unknown name
/// (the nearest is told), a shape that differs, and, where the file has any weight at all, a weight or buffer that it lacks; with
/// `partial` these are left as they are. A value that the element type cannot hold is an error always.
tl::expected<Loaded, std::string> loadArrays(const ArrayComparison& comparison, bool partial, runtime::Instance& instance);

}  // namespace tbem::driver
