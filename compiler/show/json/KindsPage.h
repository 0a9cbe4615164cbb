// docs/json.md, which is made from the descriptions.
#pragma once

#include "compiler/show/Out.h"
#include "compiler/show/json/Field.h"

namespace tbem::show {

/// All kinds and their fields in tables (Markdown); with --json a `json_schema` object of each.
void printJsonKinds(Out& out);
/// The JSON Schema of one kind; with --json as a `json_schema` object.
void printJsonSchema(Out& out, const JsonKind& kind);

}  // namespace tbem::show
