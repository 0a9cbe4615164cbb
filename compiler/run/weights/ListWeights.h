// Names, shapes and types of a network's weights and buffers, or of the arrays in a file.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "runtime/data/ArrayFile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::driver {

struct ListedArray {
  std::string group;  ///< "weight", "buffer"; "" for an array of a file
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
};

/// Weights, then buffers, in order of definition.
std::vector<ListedArray> weightsOf(const graph::Row& row);
std::vector<ListedArray> arraysOf(const data::ArrayFile& file);
/// An array's element type as tbemc names it, or NumPy's name where no network has it.
std::string dtypeOf(const data::ArrayView& array);

/// By its name, or by its first bytes.
bool isArrayFile(const std::string& path);

}  // namespace tbem::driver
