// Clause `checkpoint`: `auto`, `auto(under: 8 GiB)`, `all`, a block, or a list of blocks.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/read/ExperimentInputs.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>

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
      if (!isPlace(*one)) return wrong(*one);
      std::string text(session.sources.text(one->range));
      text.erase(std::remove_if(text.begin(), text.end(), [](unsigned char c) { return c <= ' '; }), text.end());
      spec.places.push_back(std::move(text));
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

  /// A path: names, indices that are numbers, members.
  static bool isPlace(const ast::Expr& expr) {
    if (expr.kind == ast::NodeKind::NameRef) return true;
    if (const auto* member = ast::dynCast<ast::Member>(&expr)) return isPlace(*member->object);
    const auto* at = ast::dynCast<ast::Index>(&expr);
    if (at == nullptr) return false;
    const bool numbers =
        std::all_of(at->items.begin(), at->items.end(), [](const auto& item) { return item->kind == ast::NodeKind::Number; });
    return numbers && at->items.size() == 1 && isPlace(*at->object);
  }

  Session& session;
  const sema::Module& module;
};

}  // namespace

std::optional<CheckpointSpec> readCheckpoint(Session& session, const sema::Program& program, const sema::Module& module,
                                             sema::ExprPool& pool, const ast::Expr& expr) {
  return CheckpointReader(session, program, module, pool).read(expr);
}

bool placesAreThere(DiagnosticSink& sink, const Graph& graph, const CheckpointSpec& spec) {
  const std::string unmet = scopesOf(graph, spec).unmet;
  if (unmet.empty()) return true;
  if (sink.find([&](const Diagnostic& one) { return one.kind == diag::mutation_unmet && one.range == spec.range; }) != nullptr)
    return false;
  Diagnostic& told = sink.report(diag::mutation_unmet, spec.range, graph.network, unmet);
  const bool isOperator = std::any_of(graph.ops.begin(), graph.ops.end(), [&](const Op& op) { return op.declaration == unmet; });
  if (isOperator) told.note("`" + unmet + "` is an operator; what is computed again is a block");
  constexpr std::size_t kShown = 8;
  std::string some;
  for (std::size_t s = 1; s < graph.scopes.size() && s <= kShown; ++s)
    some += (s == 1 ? "`" : ", `") + graph.scopes[s].path + "`";
  told.note(some.empty() ? "the network applies no blocks"
                         : "its places are " + some + (graph.scopes.size() > kShown + 1 ? " ..." : ""));
  return false;
}

}  // namespace tbem::graph
