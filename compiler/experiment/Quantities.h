// What is known of a measured row, by the names that responses of regressions have for it: one table, which says what each is.
#pragma once

#include "runtime/core/Measurement.h"
#include "runtime/report/Svg.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tbem::driver {

/// What is measured of any row.
struct MeasuredQuantity {
  const char* name;
  report::Quantity quantity;
  std::variant<std::optional<std::uint64_t> runtime::Measurement::*, std::optional<double> runtime::Measurement::*> member;
};
std::span<const MeasuredQuantity> measuredQuantities();

/// What is measured of a row that is run over a data set: named as in responses, in tables and JSON.
struct ExampleQuantity {
  const char* name;
  const char* title;  ///< of a table's column
  std::optional<double> runtime::Measurement::*member;
  report::Quantity quantity;
  bool isShare = false;
  /// What a row must ask for to have it.
  enum class Wants : std::uint8_t { Nothing, Energy, Attack } wants = Wants::Nothing;
};
std::span<const ExampleQuantity> exampleQuantities();

/// The names of all, measured and estimated: memory_peak, latency, static_memory, ...
const std::vector<std::string>& quantityNames();

/// What a quantity of this name is, measured or estimated; a plain number where it is none.
report::Quantity quantityOf(std::string_view name);

}  // namespace tbem::driver
