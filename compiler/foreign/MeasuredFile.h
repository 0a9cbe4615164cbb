// Rows of a design that were measured elsewhere: a table of comma-separated values, or the store of another machine.
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tbem::foreign {

struct MeasuredRow {
  std::size_t line = 0;             ///< of the file, from 1; 0: of a store
  std::string design;               ///< "": the file does not say
  std::vector<std::string> levels;  ///< by factor, as `readMeasured` was given them
  std::string backend;
  std::uint32_t repeat = 0;  ///< from 0
  runtime::Measurement value;
  std::map<std::string, double> own;  ///< by MeasuredColumns::own, where the cell is not empty
};

/// What a file says of itself.
struct MeasuredFile {
  bool isStore = false;
  std::vector<std::string> designs;  ///< that its rows are of: its column `design`, or a store's; empty: it does not say
  std::vector<std::string> columns;  ///< of a table, without their units
};
/// Errors: as below.
tl::expected<MeasuredFile, std::string> describeMeasured(const std::string& path);

/// What the columns of a table are, beside metrics and where a row is from.
struct MeasuredColumns {
  std::vector<std::string> factors;
  std::vector<std::string> own;   ///< plain numbers that responses name
  bool passesOverOthers = false;  ///< columns that are nothing of this are no mistake
};

/// The rows of a design that a file has (docs/frameworks.md, "Measured elsewhere"). A file of the extension `.tbemdb` is a store,
/// any other is a table with a line of names: those of `columns`, metrics as of Answer.h, with their unit in brackets where it is
/// not the base unit (`memory_peak [MiB]`), and where and with what it was measured: `machine` and `versions`. Errors: the file
/// and its line, what is wrong, and what was expected.
tl::expected<std::vector<MeasuredRow>, std::string> readMeasured(const std::string& path, const std::string& design,
                                                                 const MeasuredColumns& columns);

}  // namespace tbem::foreign
