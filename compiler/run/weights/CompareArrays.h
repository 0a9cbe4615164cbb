// Which array of a file goes where in a network, and what does not fit: what `step --load` reads by and `weights --against`
// tells.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "runtime/core/Executable.h"
#include "runtime/data/ArrayFile.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::driver {

/// An input, weight or buffer of a network, which an array of a file may be.
struct ArrayPlace {
  runtime::BufferClass kind = runtime::BufferClass::Weight;
  std::string path;
  std::int32_t dtype = 0;
  std::vector<std::int64_t> shape;

  /// Not an input: what a file that has any of them must have all of.
  bool isWeight() const { return kind != runtime::BufferClass::Input; }
};

enum class ArrayFit : std::uint8_t {
  Taken,
  Unused,   ///< what a step or a training leaves behind, or what the table of names passes over
  Unknown,  ///< no place has its name
  Twice,    ///< an earlier array of the file has the same place
  Shape,    ///< the place has another one
  Unheld,   ///< the place's type of whole numbers cannot hold a value
};

/// What becomes of an array of the file.
struct ComparedArray {
  const data::ArrayView* array = nullptr;
  ArrayFit fit = ArrayFit::Unknown;
  const ArrayPlace* place = nullptr;  ///< not of Unused and Unknown
  std::string hint;                   ///< of Unknown: the path that is closest, or ""; of Unheld: which value, and where
};

struct ArrayComparison {
  ArrayComparison() = default;
  ArrayComparison(ArrayComparison&&) = default;  // what points into `places` goes with it
  ArrayComparison& operator=(ArrayComparison&&) = default;

  std::vector<ArrayPlace> places;     ///< weights, buffers, inputs (the target among them), in order of definition
  std::vector<ComparedArray> arrays;  ///< in the file's order
  /// Where the file has any weight or buffer: those without an array in it, and those for which `--partial` takes none.
  std::vector<const ArrayPlace*> missing, initialised;
  std::string prefix;  ///< that all of the file's names have and are read without: "module."

  /// Whether `--load` reads the file as it is.
  bool fits() const;
};

/// By name: `input/NAME`, `target`, `weight/PATH`, `buffer/PATH`, and a plain PATH; what else `step --save` writes is unused.
/// With `names` (loadNameTable; "": none) all names but those of inputs are those of another framework. Where no name fits as it
/// is, words that all of them begin with are left out, as those of a model that lay inside of another. The result points into
/// `file`. Errors: the table cannot be read, or a line of it matches more names on one side than on the other.
tl::expected<ArrayComparison, std::string> compareArrays(const data::ArrayFile& file, const std::string& names,
                                                         const graph::Row& row);

}  // namespace tbem::driver
