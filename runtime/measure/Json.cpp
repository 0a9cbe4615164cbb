// A measurement as a line of JSON: what a worker tells its parent.
#include "runtime/measure/Child.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tbem::measure {
namespace {

using Json = nlohmann::ordered_json;

Json orNull(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(); }
/// JSON knows no NaN and no infinity: they are null, as in "not known".
Json orNull(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(); }

/// Reads the fields of an object and remembers the first that is not as it should be.
class Reader {
public:
  explicit Reader(const Json& from) : object(from) {}
  std::string error;

  void text(const char* key, std::string& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_string())
      to = at->get<std::string>();
    else
      wrong(key, "a text");
  }
  void number(const char* key, double& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_number())
      to = at->get<double>();
    else
      wrong(key, "a number");
  }
  void number(const char* key, std::optional<double>& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_number())
      to = at->get<double>();
    else
      wrong(key, "a number or null");
  }
  void size(const char* key, std::optional<std::uint64_t>& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_number_unsigned())
      to = at->get<std::uint64_t>();
    else
      wrong(key, "a whole number of bytes or null");
  }
  void numbers(const char* key, std::vector<double>& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (!at->is_array()) return wrong(key, "a list of numbers");
    for (const Json& one : *at) {
      if (!one.is_number()) return wrong(key, "a list of numbers");
      to.push_back(one.get<double>());
    }
  }
  template <class Read>
  void inner(const char* key, Read read) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (!at->is_object()) return wrong(key, "an object");
    Reader fields(*at);
    read(fields);
    if (error.empty()) error = fields.error;
  }

private:
  const Json* find(const char* key) const {
    const auto at = object.find(key);
    return at == object.end() || at->is_null() ? nullptr : &*at;
  }
  void wrong(const char* key, const char* expected) {
    if (error.empty()) error = fmt::format("`{}` is not {}", key, expected);
  }
  const Json& object;
};

}  // namespace

std::string toJson(const runtime::Measurement& value) {
  Json samples = Json::array();
  for (const double one : value.samples) samples.push_back(one);
  const Json object = {
      {"status", runtime::name(value.status)},
      {"reason", value.reason},
      {"memory_peak", orNull(value.memoryPeak)},
      {"memory_baseline", orNull(value.memoryBaseline)},
      {"memory_reason", value.memoryReason},
      {"arena_peak", orNull(value.arenaPeak)},
      {"arena_planned", orNull(value.arenaPlanned)},
      {"latency",
       {{"median", orNull(value.latencyMedian)}, {"p05", orNull(value.latencyP05)}, {"p95", orNull(value.latencyP95)}}},
      {"samples", samples},
      {"energy", orNull(value.energy)},
      {"energy_reason", value.energyReason},
      {"load",
       {{"others", orNull(value.load.others)},
        {"stolen", orNull(value.load.stolen)},
        {"waited", orNull(value.load.waited)},
        {"average", orNull(value.load.average)}}},
      {"loss_not_finite", value.lossNotFinite},
      {"static", orNull(value.staticMemory)},
      {"live", orNull(value.live)},
      {"arena", orNull(value.arena)},
      {"machine", value.machine},
      {"versions", value.versions},
      {"started", value.started},
      {"finished", value.finished},
      {"time_limit", value.timeLimit}};
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

tl::expected<runtime::Measurement, std::string> parseMeasurement(const std::string& line) {
  if (line.empty()) return tl::unexpected(std::string("there is none"));
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return tl::unexpected(fmt::format("not a JSON object: {}", line.substr(0, 80)));
  runtime::Measurement value;
  Reader reader(object);
  std::string status;
  reader.text("status", status);
  const auto known = runtime::statusOf(status);
  if (!known) return tl::unexpected(fmt::format("`status` is not ok, oom, failed, timeout or skipped but `{}`", status));
  value.status = *known;
  reader.text("reason", value.reason);
  reader.size("memory_peak", value.memoryPeak);
  reader.size("memory_baseline", value.memoryBaseline);
  reader.text("memory_reason", value.memoryReason);
  reader.size("arena_peak", value.arenaPeak);
  reader.size("arena_planned", value.arenaPlanned);
  reader.inner("latency", [&](Reader& latency) {
    latency.number("median", value.latencyMedian);
    latency.number("p05", value.latencyP05);
    latency.number("p95", value.latencyP95);
  });
  reader.inner("load", [&](Reader& load) {
    load.number("others", value.load.others);
    load.number("stolen", value.load.stolen);
    load.number("waited", value.load.waited);
    load.number("average", value.load.average);
  });
  reader.numbers("samples", value.samples);
  reader.number("energy", value.energy);
  reader.text("energy_reason", value.energyReason);
  reader.text("loss_not_finite", value.lossNotFinite);
  reader.size("static", value.staticMemory);
  reader.size("live", value.live);
  reader.size("arena", value.arena);
  reader.text("machine", value.machine);
  reader.text("versions", value.versions);
  reader.number("started", value.started);
  reader.number("finished", value.finished);
  reader.number("time_limit", value.timeLimit);
  if (!reader.error.empty()) return tl::unexpected(reader.error);
  return value;
}

}  // namespace tbem::measure
