// Measured values in JSON, where there may be none.
#pragma once

#include "compiler/emit/OrderedJson.h"

#include <nlohmann/json.hpp>

#include <optional>

namespace tbem::driver {

template <class T>
Json orNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace tbem::driver
