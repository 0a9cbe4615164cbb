// Clause `checkpoint`: `auto`, `auto(under: 8 GiB)`, `all`, a block, or a list of blocks.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/clauses/Places.h"
#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/sema/evaluate/Evaluator.h"

namespace tbem::graph {

namespace {

constexpr const char* kWanted = "`auto`, `auto(under: 8 GiB)`, `all`, or blocks such as `stage[0].residual`";

class CheckpointReader : public sema::Evaluator {
public:
  CheckpointReader(Session& session, const sema::Program& program, const sema::Module& module, sema::ExprPool& pool)
      : Evaluator(program, pool, session.sink), session(session), module(module) {}

  std::optional<CheckpointSpec> read(const ast::Expr& expr) {
    CheckpointSpec spec;
    spec.range = expr.range;
    const auto* call = ast::dynCast<ast::Call>(&expr);
    const auto* word = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : &expr);
    if (word != nullptr && word->name.text == "auto") {
      for (const ast::Argument& argument : call != nullptr ? call->arguments : std::vector<ast::Argument>{}) {
        if (!readUnder(argument, spec)) return std::nullopt;
      }
      return spec;
    }
    if (call == nullptr && word != nullptr && word->name.text == "all") {
      spec.kind = CheckpointSpec::Kind::All;
      return spec;
    }
    spec.kind = CheckpointSpec::Kind::Places;
    const auto* list = ast::dynCast<ast::List>(&expr);
    for (const ast::Expr* one : list != nullptr ? list->items : std::vector<const ast::Expr*>{&expr}) {
      std::optional<std::string> place = placeText(session, *one);
      if (!place) return wrong(*one);
      spec.places.push_back(std::move(*place));
    }
    if (spec.places.empty()) return wrong(expr);
    return spec;
  }

private:
  std::optional<CheckpointSpec> wrong(const ast::Expr& expr) {
    fail(diag::design_clause_value, expr.range, "checkpoint", kWanted, "`" + std::string(session.sources.text(expr.range)) + "`");
    return std::nullopt;
  }

  bool readUnder(const ast::Argument& argument, CheckpointSpec& spec) {
    if (argument.rest || argument.name.text != "under") {
      fail(diag::unknown_argument, argument.range, "auto",
           argument.name.empty() ? std::string(session.sources.text(argument.range)) : argument.name.text);
      return false;
    }
    const sema::Value limit = evaluateIn(module, *argument.value, {});
    const auto bytes = limit.is(sema::ValueKind::Number) ? pool.constantValue(limit.expr) : std::nullopt;
    if (bytes && limit.unit == sema::UnitPowers{1, 0, 0, 0} && bytes->toDouble() >= 1) {
      spec.under = static_cast<std::uint64_t>(bytes->num / bytes->den);
      return true;
    }
    if (!limit.isPoison())
      fail(diag::design_clause_value, argument.range, "under", "memory such as `8 GiB`",
           "`" + std::string(session.sources.text(argument.value->range)) + "`");
    return false;
  }

  Session& session;
  const sema::Module& module;
};

}  // namespace

std::optional<CheckpointSpec> readCheckpoint(Session& session, const sema::Program& program, const sema::Module& module,
                                             sema::ExprPool& pool, const ast::Expr& expr) {
  return CheckpointReader(session, program, module, pool).read(expr);
}

}  // namespace tbem::graph
