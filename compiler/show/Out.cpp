#include "compiler/show/Out.h"

#include "compiler/support/Json.h"
#include "compiler/support/Version.h"
#include "runtime/report/Numbers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace tbem::show {

namespace {

/// What a field FIELD_not_finite says of a value: a text, of a list the texts of its elements; null where all is finite.
Json notFiniteIn(const Json& value) {
  if (value.is_number_float()) {
    const std::string text = report::notFinite(value.get<double>());
    return text.empty() ? Json() : Json(text);
  }
  if (!value.is_array()) return {};
  Json texts = Json::array();
  for (const Json& element : value) texts.push_back(notFiniteIn(element));
  return std::all_of(texts.begin(), texts.end(), [](const Json& text) { return text.is_null(); }) ? Json() : texts;
}

bool isFinite(const Json& value) {
  if (value.is_structured()) return std::all_of(value.begin(), value.end(), isFinite);
  return !value.is_number_float() || std::isfinite(value.get<double>());
}

/// JSON knows no infinity and no NaN: they are written as null, and a field beside each says what was there.
void sayNotFinite(Json& value) {
  if (value.is_array()) {
    for (Json& element : value) sayNotFinite(element);
  }
  if (!value.is_object()) return;
  Json told = Json::object();
  for (auto& [name, field] : value.items()) {
    sayNotFinite(field);
    Json text = notFiniteIn(field);
    told[name] = std::move(field);
    if (!text.is_null()) told[name + "_not_finite"] = std::move(text);
  }
  value = std::move(told);
}

}  // namespace

ExitCode Out::fail(const Failed& failed) {
  for (const std::string& message : failed.messages) failure(message);
  return failed.status;
}

void Out::json(const char* kind, Json fields) {
  Json object;
  object["kind"] = kind;
  object["schema"] = kJsonSchema;
  object.update(fields);
  if (!isFinite(object)) sayNotFinite(object);
  jsonLine(object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace tbem::show
