// Rows of a design that were measured elsewhere: a table of comma-separated values, or the store of another machine.
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
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
};

/// The names of designs that a file says its rows are of: its column `design`, or a store's. Empty: it does not say. Errors: as
/// below.
tl::expected<std::vector<std::string>, std::string> designsIn(const std::string& path);

/// The rows of a design that a file has (docs/frameworks.md, "Measured elsewhere"). A file of the extension `.tbemdb` is a store,
/// any other is a table with a line of names: the factors, metrics as of Answer.h, with their unit in brackets where it is
/// not the base unit (`memory_peak [MiB]`), and where and with what it was measured: `machine` and `versions`. Errors: the file
/// and its line, what is wrong, and what was expected.
tl::expected<std::vector<MeasuredRow>, std::string> readMeasured(const std::string& path, const std::string& design,
                                                                 const std::vector<std::string>& factors);

}  // namespace tbem::foreign
