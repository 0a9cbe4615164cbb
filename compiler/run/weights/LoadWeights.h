// Weights from a file: which array goes where, and what does not fit. What `--load` does.
#pragma once

#include "compiler/run/weights/WeightNames.h"
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

/// Writes the arrays of a file into the instance, converted to its element types.
///
/// By name: `input/NAME`, `target`, `weight/PATH`, `buffer/PATH`, and a plain PATH of a weight or buffer; what else `step --save`
/// writes is left. With `rules` all names are those of another framework. Where no name fits as it is, words that all of them
/// begin with are left out, as those of a model that lay inside of another. Errors: an unknown name (the nearest is told), a
/// shape that differs, and, where the file has any weight at all, a weight or buffer that it lacks; with `partial` these are left
/// as they are. A value that the element type cannot hold is an error always.
tl::expected<Loaded, std::string> loadArrays(const data::ArrayFile& file, const std::vector<NameRule>* rules, bool partial,
                                             runtime::Instance& instance);

}  // namespace tbem::driver
