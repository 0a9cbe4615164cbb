// A measurement as a line of JSON: what a worker tells its parent.
#include "runtime/measure/Child.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tbem::measure {
namespace {

using Json = nlohmann::ordered_json;

Json written(const std::string& text) { return text; }
Json written(double value) { return value; }
Json written(const std::optional<std::uint64_t>& value) { return value ? Json(*value) : Json(); }
/// JSON knows no NaN and no infinity: they are null, as in "not known".
Json written(const std::optional<double>& value) { return value && std::isfinite(*value) ? Json(*value) : Json(); }
Json written(const std::vector<double>& samples) {
  Json list = Json::array();
  for (const double sample : samples) list.push_back(sample);
  return list;
}

/// Reads the fields of an object and remembers the first that is not as it should be.
class Reader {
public:
  explicit Reader(const Json& from) : object(from) {}
  std::string error;

  void take(const char* key, std::string& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_string())
      to = at->get<std::string>();
    else
      wrong(key, "a text");
  }
  void take(const char* key, double& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_number())
      to = at->get<double>();
    else
      wrong(key, "a number");
  }
  void take(const char* key, std::optional<double>& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_number())
      to = at->get<double>();
    else
      wrong(key, "a number or null");
  }
  void take(const char* key, std::optional<std::uint64_t>& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (at->is_number_unsigned())
      to = at->get<std::uint64_t>();
    else
      wrong(key, "a whole number of bytes or null");
  }
  void take(const char* key, std::vector<double>& to) {
    const Json* at = find(key);
    if (at == nullptr) return;
    if (!at->is_array()) return wrong(key, "a list of numbers");
    for (const Json& one : *at) {
      if (!one.is_number()) return wrong(key, "a list of numbers");
      to.push_back(one.get<double>());
    }
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
  Json object = {{"status", runtime::name(value.status)}};
  forEachField(value, [&](runtime::MeasuredField field, const auto& member) { object[field.column] = written(member); });
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

tl::expected<runtime::Measurement, std::string> parseMeasurement(const std::string& line) {
  if (line.empty()) return tl::unexpected(std::string("there is none"));
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return tl::unexpected(fmt::format("not a JSON object: {}", line.substr(0, 80)));
  runtime::Measurement value;
  Reader reader(object);
  std::string status;
  reader.take("status", status);
  const auto known = runtime::statusOf(status);
  if (!known) return tl::unexpected(fmt::format("`status` is not ok, oom, failed, timeout or skipped but `{}`", status));
  value.status = *known;
  forEachField(value, [&](runtime::MeasuredField field, auto& member) { reader.take(field.column, member); });
  if (!reader.error.empty()) return tl::unexpected(reader.error);
  return value;
}

}  // namespace tbem::measure
