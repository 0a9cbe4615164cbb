// JSON Schemas (draft 2020-12) of what `--json` prints.
#pragma once

#include "compiler/emit/OrderedJson.h"
#include "compiler/show/json/Field.h"

#include <string>

namespace tbem::show {

/// Closed: an object with a field that is not described does not fit. `unit` is an annotation.
Json schemaOf(const JsonKind& kind);
/// The text of docs/schemas/KIND.schema.json.
std::string schemaText(const JsonKind& kind);

}  // namespace tbem::show
