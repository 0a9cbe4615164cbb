#include "compiler/show/json/KindsPage.h"

#include "compiler/show/json/Kinds.h"
#include "compiler/show/json/Schemas.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace tbem::show {

namespace {

constexpr const char* kIntroduction = R"(# JSON output

With `--json`, every command except `report` writes one JSON object per line to standard output and nothing else
there. Every object has the fields `kind` and `schema` (1), and then those of the tables below, in their order. What
is not known is `null`; a type without *or null* has no such value. A field whose meaning begins with *Only* or *Not* is
not always there.

JSON has neither infinity nor NaN. A number that is not finite is `null`, and a field `FIELD_not_finite` follows it,
which is `"inf"`, `"-inf"` or `"nan"` (for a list, a list of these and `null`):
`"loss": null, "loss_not_finite": "inf"`. This holds for every field of the type number.

In the column *field*, `a.b` is the field `b` of the object `a`, `a[].b` that of each object of the list `a`, and
`a.NAME` a field whose name the program gives.

`tbemc doc --json-kinds` makes this page, and a test compares. For each kind, [schemas](schemas) has a JSON Schema
(draft 2020-12) with the same text, which `tbemc doc --schema KIND` prints.
)";

const char* typeText(JsonType type, bool several) {
  switch (type) {
    case JsonType::String:
      return several ? "strings" : "string";
    case JsonType::Boolean:
      return several ? "booleans" : "boolean";
    case JsonType::Integer:
      return several ? "integers" : "integer";
    case JsonType::Number:
      return several ? "numbers" : "number";
    case JsonType::Object:
      return several ? "objects" : "object";
    case JsonType::Any:
      return several ? "values" : "value";
  }
  return "";
}

/// "list of strings", "object by FACTOR of lists of integers or null"; `depth`: of what stands around, the outer end.
std::string typeOf(const JsonField& field, std::size_t depth, bool several) {
  std::string text;
  if (depth == 0) {
    text = typeText(field.type, several);
  } else {
    const bool list = field.around[depth - 1] == JsonAround::List;
    text = fmt::format("{}{}{} of {}", list ? "list" : "object", several ? "s" : "", list ? "" : fmt::format(" by {}", field.key),
                       typeOf(field, depth - 1, true));
  }
  if (!field.nullable[depth]) return text;
  return depth == field.depth ? text + " or null" : fmt::format("({} or null)", text);
}

/// `pairs_covered`, `terms[]`, `by_operator.NAME`: how the fields of what is in a field are called.
std::string pathOf(const std::string& before, const JsonField& field) {
  std::string path = before + std::string(field.name);
  for (std::size_t depth = field.depth; depth-- > 0;)
    path += field.around[depth] == JsonAround::List ? "[]" : fmt::format(".{}", field.key);
  return path;
}

std::string meaningOf(const JsonField& field) {
  std::string text(field.means);
  if (const auto words = wordsOf(field); !words.empty()) text += fmt::format(": `{}`", fmt::join(words, "`, `"));
  if (field.when.empty()) return text;
  const bool absent = field.when.starts_with("not ");
  return fmt::format("{} {}: {}", absent ? "Not" : "Only", absent ? field.when.substr(4) : field.when, text);
}

void printFields(Out& out, std::span<const JsonField> fields, const std::string& before) {
  for (const JsonField& field : fields) {
    out.print("| `{}{}` | {} | {} | {} |\n", before, field.name, typeOf(field, field.depth, false), unitText(field.unit),
              meaningOf(field));
    if (field.inner != nullptr) printFields(out, field.fields(), pathOf(before, field) + ".");
  }
}

}  // namespace

void printJsonKinds(Out& out) {
  if (!out.display.json) out.print("{}", kIntroduction);
  for (const JsonGroup& group : jsonGroups()) {
    if (!out.display.json) out.print("\n## {}\n", group.title);
    for (const JsonKind& kind : group.kinds) {
      if (out.display.json) {
        printJsonSchema(out, kind);
        continue;
      }
      out.print("\n### `{}`\n{}\n\n| field | type | unit | meaning |\n|---|---|---|---|\n", kind.name, kind.help);
      printFields(out, kind.fields(), "");
    }
  }
}

void printJsonSchema(Out& out, const JsonKind& kind) {
  if (out.display.json) {
    out.json("json_schema", {{"name", kind.name}, {"document", schemaOf(kind)}});
  } else {
    out.data(schemaText(kind));
  }
}

}  // namespace tbem::show
