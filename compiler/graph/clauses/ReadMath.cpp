// Clause `math`.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborate.h"

#include <fmt/format.h>

namespace tbem::graph {

bool readMath(DiagnosticSink& sink, const SourceManager& sources, const ast::Expr& math, std::optional<tbem_dtype> dtype) {
  const auto* word = ast::dynCast<ast::NameRef>(&math);
  if (word == nullptr || word->name.text != "tf32") {
    sink.report(diag::design_clause_value, math.range, "math", "`tf32`", fmt::format("`{}`", sourceText(sources, math.range)));
    return false;
  }
  if (dtype && *dtype != TBEM_F32) {
    sink.report(diag::design_clause_value, math.range, "math", "a step in f32",
                fmt::format("`dtype {}`", sema::kDTypeNames[static_cast<std::size_t>(*dtype)]));
    return false;
  }
  return true;
}

}  // namespace tbem::graph
