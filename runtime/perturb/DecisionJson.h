// What a gate decided, as JSON.
#pragma once

#include <nlohmann/json.hpp>

namespace tbem::perturb {

/// One of Answer::decisions: an integer, but for the share of an example's places.
inline nlohmann::ordered_json jsonOf(double decision) {
  return decision > 0 && decision < 1 ? nlohmann::ordered_json(decision) : nlohmann::ordered_json(static_cast<int>(decision));
}

}  // namespace tbem::perturb
