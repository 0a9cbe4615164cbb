// Exact numbers in `--json`.
#pragma once

#include "compiler/emit/OrderedJson.h"
#include "compiler/support/Rational.h"

#include <nlohmann/json.hpp>

namespace tbem::driver {

/// A whole number as it is, another as the nearest double.
inline Json jsonNumber(const Rational& value) { return value.isInt() ? Json(value.num) : Json(value.toDouble()); }

}  // namespace tbem::driver
