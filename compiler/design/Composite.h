// Arrays made of arrays: columns of many levels replaced by smaller arrays. Internal to this folder.
#pragma once

#include "compiler/design/Array.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::design {

/// How many columns have so many levels.
using Columns = std::map<std::uint32_t, std::uint64_t>;
Columns columnsOf(const std::vector<std::uint32_t>& levels);

/// An array that one construction gives, before it is built.
struct BaseArray {
  std::uint64_t runs = 0;
  Columns columns;
  std::string words;                            ///< "difference schemes D(6, 6, 3) over 3^1"
  std::function<std::optional<Array>()> build;  ///< its columns in any order
};

/// A base array, some of whose columns are replaced, each by the columns of an array with as many runs as the column has levels
/// (expansive replacement: Hedayat, Sloane, Stufken, section 9.3). An array of the same strength, if all parts have it.
struct Composite {
  struct Replacement {
    std::uint32_t levels = 0;
    std::uint64_t times = 0;  ///< so many columns of `levels` levels
    BaseArray by;
  };
  BaseArray base;
  std::vector<Replacement> replacements;  ///< in this order
  Columns columns;                        ///< what then is there
  std::string words() const;
};

/// The array with one column for each of `levels`, in that order; what is not asked for is dropped. Nothing where a part cannot
/// be built. `levels` are among composite.columns.
std::optional<Array> build(const Composite& composite, const std::vector<std::uint32_t>& levels, std::uint32_t strength);

}  // namespace tbem::design
