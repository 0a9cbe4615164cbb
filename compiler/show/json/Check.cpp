#include "compiler/show/json/Check.h"

#include "compiler/show/json/Kinds.h"
#include "compiler/support/Bug.h"
#include "compiler/support/Version.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

namespace tbem::show {

namespace {

constexpr std::string_view kNotFinite = "_not_finite";

/// Nothing, or what is wrong.
using Fault = std::optional<std::string>;

bool hasWord(const JsonField& field, std::string_view word) {
  const std::vector<std::string_view> words = wordsOf(field);
  return words.empty() || std::find(words.begin(), words.end(), word) != words.end();
}

bool isWhole(const Json& value) {
  return value.is_number_integer() || (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>());
}

Fault wrong(const std::string& path, std::string_view what) { return fmt::format("`{}` {}", path, what); }

/// The name that `name` says more of: `loss` for `loss_not_finite`, where `object` has it as null or a list.
bool saysNotFinite(const Json& object, std::string_view name) {
  if (!name.ends_with(kNotFinite)) return false;
  const auto base = object.find(std::string(name.substr(0, name.size() - kNotFinite.size())));
  return base != object.end() && (base->is_null() || base->is_array());
}

Fault faultInFields(const Json& object, std::span<const JsonField> fields, const std::string& path, std::size_t skipped);

/// `notFinite`: a field beside it says that numbers in it are not finite, so that they are null.
Fault faultOfValue(const Json& value, const JsonField& field, const std::string& path, bool notFinite) {
  switch (field.type) {
    case JsonType::Any:
      return {};
    case JsonType::String:
      if (!value.is_string()) return wrong(path, "is not a string");
      if (!hasWord(field, value.get_ref<const std::string&>()))
        return wrong(path, fmt::format("is {}, not one of: {}", value.dump(), field.words));
      return {};
    case JsonType::Boolean:
      return value.is_boolean() ? Fault() : wrong(path, "is not a boolean");
    case JsonType::Integer:
      return isWhole(value) ? Fault() : wrong(path, "is not an integer");
    case JsonType::Number:
      return value.is_number() || (notFinite && value.is_null()) ? Fault() : wrong(path, "is not a number");
    case JsonType::Object:
      return value.is_object() ? faultInFields(value, field.fields(), path, 0) : wrong(path, "is not an object");
  }
  return {};
}

/// `depth`: of what stands around the value, the outer end.
Fault faultOf(const Json& value, const JsonField& field, std::size_t depth, const std::string& path, bool notFinite) {
  if (value.is_null() && field.nullable[depth]) return {};
  if (depth == 0) return faultOfValue(value, field, path, notFinite);
  if (field.around[depth - 1] == JsonAround::List) {
    if (!value.is_array()) return wrong(path, "is not a list");
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (Fault fault = faultOf(value[i], field, depth - 1, fmt::format("{}[{}]", path, i), notFinite)) return fault;
    }
    return {};
  }
  if (!value.is_object()) return wrong(path, "is not an object");
  const bool numbers = field.type == JsonType::Number;
  for (const auto& [name, inner] : value.items()) {
    if (numbers && saysNotFinite(value, name)) continue;
    const bool told = numbers && value.contains(name + std::string(kNotFinite));
    if (Fault fault = faultOf(inner, field, depth - 1, path + "." + name, told)) return fault;
  }
  return {};
}

/// The first `skipped` members of the object are not described.
Fault faultInFields(const Json& object, std::span<const JsonField> fields, const std::string& path, std::size_t skipped) {
  const std::string before = path.empty() ? "" : path + ".";
  std::size_t next = 0;
  const auto lacks = [&](std::size_t end) -> Fault {
    for (; next < end; ++next) {
      if (fields[next].when.empty()) return wrong(before + std::string(fields[next].name), "is missing, or not in its place");
    }
    return {};
  };
  for (auto member = std::next(object.begin(), static_cast<std::ptrdiff_t>(skipped)); member != object.end(); ++member) {
    std::size_t at = next;
    while (at < fields.size() && fields[at].name != member.key()) ++at;
    if (at == fields.size()) {
      if (saysNotFinite(object, member.key())) continue;
      return wrong(before + member.key(), "is not described, or not in its place");
    }
    if (Fault fault = lacks(at)) return fault;
    ++next;
    const bool told = object.contains(member.key() + std::string(kNotFinite));
    if (Fault fault = faultOf(member.value(), fields[at], fields[at].depth, before + member.key(), told)) return fault;
  }
  return lacks(fields.size());
}

}  // namespace

std::string jsonFault(const Json& object) {
  const std::string name = object.at("kind").is_string() ? object.at("kind").get<std::string>() : object.at("kind").dump();
  const JsonKind* kind = findJsonKind(name);
  if (kind == nullptr) return fmt::format("`{}` is not described", name);
  const auto schema = std::next(object.begin());
  if (object.begin().key() != "kind" || schema == object.end() || schema.key() != "schema" || schema.value() != kJsonSchema)
    return fmt::format("`{}`: it does not begin with `kind` and `schema`", name);
  const Fault fault = faultInFields(object, kind->fields(), "", 2);
  return fault ? fmt::format("`{}`: {}", name, *fault) : std::string();
}

void checkPrinted([[maybe_unused]] std::string_view line) {
#ifdef TBEM_CHECK_JSON
  const Json object = Json::parse(line, nullptr, false);
  if (object.is_discarded()) TBEM_BUG("what --json prints is not JSON: {}", line);
  if (!object.is_object() || !object.contains("kind")) return;
  if (const std::string fault = jsonFault(object); !fault.empty())
    TBEM_BUG("what --json prints is not as compiler/show/json describes: {}", fault);
#endif
}

}  // namespace tbem::show
