// What a gate decided, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include <vector>

namespace tbem::perturb {

/// One of Answer::decisions: an integer, but for the share of an example's places.
inline nlohmann::ordered_json jsonOf(double decision) {
  return decision > 0 && decision < 1 ? nlohmann::ordered_json(decision) : nlohmann::ordered_json(static_cast<int>(decision));
}

/// All of one example.
inline nlohmann::ordered_json jsonOf(const std::vector<double>& decisions) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const double decision : decisions) list.push_back(jsonOf(decision));
  return list;
}

}  // namespace tbem::perturb
