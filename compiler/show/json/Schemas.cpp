#include "compiler/show/json/Schemas.h"

#include "compiler/support/Version.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace tbem::show {

namespace {

const char* typeName(JsonType type) {
  switch (type) {
    case JsonType::String:
      return "string";
    case JsonType::Boolean:
      return "boolean";
    case JsonType::Integer:
      return "integer";
    case JsonType::Number:
      return "number";
    case JsonType::Object:
      return "object";
    case JsonType::Any:
      break;
  }
  return "";
}

/// Makes the schemas of one kind, and remembers which definitions they refer to.
class Schemas {
public:
  /// Adds `properties`, `required` and what else an object with these fields has.
  void addFields(Json& schema, std::span<const JsonField> fields, Json properties, Json required) {
    std::string numbers;
    for (const JsonField& field : fields) {
      properties[std::string(field.name)] = described(field);
      if (field.when.empty()) required.push_back(field.name);
      if (field.type == JsonType::Number) numbers += fmt::format("{}{}", numbers.empty() ? "" : "|", field.name);
    }
    schema["properties"] = std::move(properties);
    schema["required"] = std::move(required);
    if (!numbers.empty()) {
      hasNumbers = true;
      schema["patternProperties"] = {{fmt::format("^({})_not_finite$", numbers), {{"$ref", "#/$defs/not_finite"}}}};
    }
    schema["additionalProperties"] = false;
  }

  Json definitions() const {
    if (!hasNumbers) return {};
    return {
        {"number",
         {{"description",
           "null where it is not finite: then a field of the same name and `_not_finite` beside it says what it is"},
          {"type", {"number", "null"}}}},
        {"not_finite",
         {{"description", "what a number is that is not finite; of a list, for each element, null for a finite one"},
          {"anyOf",
           {{{"enum", {"inf", "-inf", "nan", nullptr}}}, {{"type", "array"}, {"items", {{"$ref", "#/$defs/not_finite"}}}}}}}}};
  }

private:
  Json described(const JsonField& field) {
    Json schema;
    schema["description"] = field.when.empty() ? std::string(field.means) : fmt::format("{} ({})", field.means, field.when);
    if (field.unit != JsonUnit::None) schema["unit"] = unitText(field.unit);
    schema.update(wrapped(field, field.depth));
    return schema;
  }

  Json wrapped(const JsonField& field, std::size_t depth) {
    if (depth == 0) return bare(field);
    const bool list = field.around[depth - 1] == JsonAround::List;
    Json schema;
    schema["type"] = orNull(list ? "array" : "object", field.nullable[depth]);
    Json inner = wrapped(field, depth - 1);
    if (list) {
      schema["items"] = std::move(inner);
      return schema;
    }
    if (field.type == JsonType::Number) schema["patternProperties"] = {{"_not_finite$", {{"$ref", "#/$defs/not_finite"}}}};
    schema["additionalProperties"] = std::move(inner);
    return schema;
  }

  Json bare(const JsonField& field) {
    Json schema = Json::object();
    if (field.type == JsonType::Any) return schema;
    const bool nullable = field.nullable[0];
    if (field.type == JsonType::Number && !nullable) {
      schema["$ref"] = "#/$defs/number";
      return schema;
    }
    if (!field.words.empty()) {
      schema["enum"] = wordsOf(field);
      if (nullable) schema["enum"].push_back(nullptr);
      return schema;
    }
    schema["type"] = orNull(typeName(field.type), nullable);
    if (field.type == JsonType::Object) addFields(schema, field.fields(), Json::object(), Json::array());
    return schema;
  }

  static Json orNull(const char* type, bool nullable) { return nullable ? Json::array({type, "null"}) : Json(type); }

  bool hasNumbers = false;
};

}  // namespace

Json schemaOf(const JsonKind& kind) {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = kind.name;
  schema["description"] = kind.help;
  schema["type"] = "object";
  Schemas schemas;
  schemas.addFields(schema, kind.fields(), {{"kind", {{"const", kind.name}}}, {"schema", {{"const", kJsonSchema}}}},
                    {"kind", "schema"});
  if (Json definitions = schemas.definitions(); !definitions.is_null()) schema["$defs"] = std::move(definitions);
  return schema;
}

std::string schemaText(const JsonKind& kind) { return schemaOf(kind).dump(1) + "\n"; }

}  // namespace tbem::show
