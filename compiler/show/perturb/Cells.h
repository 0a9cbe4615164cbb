// Numbers that may be nothing, in tables and in JSON. Internal to this folder.
#pragma once

#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace tbem::driver {

constexpr const char* kNothing = "-";

inline report::Cell shareCell(const std::optional<double>& share) { return share ? report::percent(*share) : kNothing; }
/// Of a number between -1 and 1 that is no share.
inline report::Cell coefficientCell(const std::optional<double>& value) {
  return value ? fmt::format("{:.4f}", *value) : kNothing;
}
inline nlohmann::ordered_json numberOrNull(const std::optional<double>& number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

}  // namespace tbem::driver
