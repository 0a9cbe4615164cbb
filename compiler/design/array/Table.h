// An array by its columns: how arrays are put together before their rows are handed out. Internal to compiler/design.
#pragma once

#include "compiler/design/array/Array.h"
#include "compiler/design/array/Columns.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::design {

struct Column {
  std::uint32_t levels = 0;
  std::vector<std::uint32_t> cells;  ///< one a row
};

struct Table {
  std::size_t runs = 0;
  std::vector<Column> columns;

  Table() = default;
  explicit Table(std::size_t runs) : runs(runs) {}
  Table(const Array& array);  // NOLINT(google-explicit-constructor): what makes rows serves where columns are wanted
};

/// The rows, with one column for each of `levels`, in that order: the first ones of the table. Nothing where one is missing.
std::optional<Array> rowsOf(const Table& table, const std::vector<std::uint32_t>& levels);

}  // namespace tbem::design
