// Clause `mixed`.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/elaborate/Elaborate.h"

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

std::optional<tbem_dtype> mixedType(DiagnosticSink& sink, const sema::ExprPool& pool, const Value& type, SrcRange range,
                                    std::optional<tbem_dtype> dtype) {
  if (type.isPoison()) return std::nullopt;
  const bool narrow = type.is(ValueKind::DType) && type.id > TBEM_F32 && tbem_is_floating(static_cast<std::int32_t>(type.id));
  if (narrow && type.id != TBEM_BF16 && type.id != TBEM_F16) {
    sink.report(diag::backend_mode_not_there, range, "mixed " + sema::print(pool, type));
  } else if (!narrow) {
    sink.report(diag::design_clause_value, range, "mixed", "`bf16` or `f16`", sema::print(pool, type));
  } else if (dtype && *dtype != TBEM_F32) {
    sink.report(diag::design_clause_value, range, "mixed", "a step in f32",
                "`dtype " + std::string(sema::kDTypeNames[static_cast<std::size_t>(*dtype)]) + "`");
  } else {
    return static_cast<tbem_dtype>(type.id);
  }
  return std::nullopt;
}

}  // namespace tbem::graph
