// Arrays made of arrays: columns of many levels replaced by smaller arrays. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Columns.h"
#include "compiler/design/array/Table.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tbem::design {

/// An array that one construction gives, before it is built.
struct BaseArray {
  std::uint64_t runs = 0;
  Columns columns;
  std::string words;  ///< "difference schemes D(6, 6, 3) over 3^1"
  /// At least the wanted ones of its columns, in any order.
  std::function<std::optional<Table>(const Columns& wanted)> build;
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

/// At least the wanted ones of the composite's columns. Nothing where a part cannot be built.
std::optional<Table> build(const Composite& composite, const Columns& wanted);

}  // namespace tbem::design
