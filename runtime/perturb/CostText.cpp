// Costs as the store has them.
#include "runtime/perturb/Costs.h"
#include "runtime/perturb/DecisionJson.h"

#include <nlohmann/json.hpp>

namespace tbem::perturb {

using Json = nlohmann::ordered_json;

std::string textOf(const Costs& costs) {
  Json examples = Json::array(), times = Json::array();
  for (const Cost& cost : costs.examples)
    examples.push_back({cost.example, cost.label, cost.prediction, cost.flops, jsonOf(cost.decisions)});
  const auto orNull = [](const std::optional<double>& number) { return number ? Json(*number) : Json(); };
  for (const BatchTime& time : costs.times) {
    Json& each = times.emplace_back(Json{time.first, time.count, time.flops, orNull(time.seconds)});
    if (time.joules) each.push_back(*time.joules);
  }
  return Json({{"gates", costs.gates}, {"examples", examples}, {"times", times}}).dump();
}

tl::expected<Costs, std::string> costsOfText(const std::string& text) {
  Costs costs;
  try {
    const Json json = Json::parse(text);
    json.at("gates").get_to(costs.gates);
    for (const Json& each : json.at("examples")) {
      Cost& cost = costs.examples.emplace_back();
      each.at(0).get_to(cost.example);
      each.at(1).get_to(cost.label);
      each.at(2).get_to(cost.prediction);
      each.at(3).get_to(cost.flops);
      each.at(4).get_to(cost.decisions);
    }
    for (const Json& each : json.at("times")) {
      BatchTime& time = costs.times.emplace_back();
      each.at(0).get_to(time.first);
      each.at(1).get_to(time.count);
      each.at(2).get_to(time.flops);
      if (!each.at(3).is_null()) time.seconds = each.at(3).get<double>();
      if (each.size() > 4) time.joules = each.at(4).get<double>();
    }
  } catch (const Json::exception& problem) {
    return tl::unexpected(std::string(problem.what()));
  }
  return costs;
}

}  // namespace tbem::perturb
