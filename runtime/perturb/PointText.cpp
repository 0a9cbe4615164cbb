#include "runtime/perturb/PointText.h"

#include "runtime/perturb/DecisionJson.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <string_view>

namespace tbem::perturb {

namespace {

using Json = nlohmann::ordered_json;

/// Calls f(name, member) for each field of a point but the example's number, in the text's order.
template <class P, class F>
void forEachField(P& point, F&& f) {
  f("label", point.label);
  f("before", point.before);
  f("after", point.after);
  f("flops_before", point.flopsBefore);
  f("flops", point.flops);
  f("linf", point.linf);
  f("l2", point.l2);
  f("decisions_before", point.decisionsBefore);
  f("decisions", point.decisions);
  f("latency_before", point.latencyBefore);
  f("latency", point.latency);
  f("energy_before", point.energyBefore);
  f("energy", point.energy);
  f("psnr", point.psnr);
  f("ssim", point.ssim);
}

/// Points from before energy was measured do not have it.
bool isLater(std::string_view name) { return name.starts_with("energy"); }

template <class T>
Json written(const T& value) {
  return value;
}
/// JSON knows no infinity and no NaN: they are texts, "inf", "-inf", "nan".
Json written(double value) { return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value)); }
Json written(const std::vector<double>& decisions) { return jsonOf(decisions); }
Json written(const std::optional<double>& value) { return value ? written(*value) : Json(); }

template <class T>
void take(const Json& json, T& to) {
  json.get_to(to);
}
void take(const Json& json, double& to) {
  to = json.is_string() ? std::strtod(json.get_ref<const std::string&>().c_str(), nullptr) : json.get<double>();
}
void take(const Json& json, std::optional<double>& to) {
  to.reset();
  if (!json.is_null()) take(json, to.emplace());
}

}  // namespace

std::string textOf(const Point& point) {
  Json out = Json::object();
  forEachField(point, [&](const char* name, const auto& member) { out[name] = written(member); });
  return out.dump();
}

tl::expected<Point, std::string> pointOf(std::int64_t example, const std::string& text) {
  Point point;
  point.example = example;
  try {
    const Json json = Json::parse(text);
    forEachField(point, [&](const char* name, auto& member) {
      if (json.contains(name) || !isLater(name)) take(json.at(name), member);
    });
  } catch (const Json::exception& problem) {
    return tl::unexpected(std::string(problem.what()));
  }
  return point;
}

}  // namespace tbem::perturb
