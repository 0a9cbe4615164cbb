#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/perturb/Attack.h"
#include "compiler/graph/perturb/ReadMethod.h"

#include <utility>

namespace tbem::graph {

using sema::Value;

namespace {

/// The design's factors that the row has, with their levels.
void nameFactors(ClauseReader& e, const DesignSpec& design, std::span<const std::uint32_t> levels) {
  for (std::uint32_t f = 0; f < design.factors.size(); ++f) {
    if (!design.active(f, levels)) continue;
    const FactorSpec& factor = design.factors[f];
    const Level& level = factor.levels[levels[f]];
    Value value = level.value;
    if (level.number)
      value = Value::number(e.pool.constant(*level.number), factor.isReal);
    else if (level.expr != nullptr)
      value = e.evaluateIn(*level.module, *level.expr, e.names);
    e.names.push_back({.name = factor.name, .value = std::move(value), .range = factor.range});
  }
}

}  // namespace

std::optional<Attack> readAttack(Session& session, const sema::Program& program, const ast::Clause& clause,
                                 const DesignSpec& design, std::span<const std::uint32_t> levels) {
  sema::ExprPool pool;
  ClauseReader e(session, program, *design.module, pool);
  const std::size_t errors = e.sink.errorCount();
  nameFactors(e, design, levels);
  Attack attack;
  const auto readOwn = [&](const ast::Argument& item) {
    const std::string& name = item.name.text;
    if (name == "keep") {
      const auto* word = ast::dynCast<ast::NameRef>(item.value);
      attack.keepLabel = word != nullptr && word->name.text == "label";
      if (!attack.keepLabel) e.fail(diag::design_clause_value, item.range, name, "`label`", e.text(*item.value));
    } else if (name == "seed") {
      if (const auto seed = e.whole(name, *item.value, 0)) attack.seed = static_cast<std::uint64_t>(*seed);
    } else {
      return false;
    }
    return true;
  };
  const ast::Argument* method = readMoving(e, clause, attack.ball, "one method, `norm:`, `box:`, `keep:` and `seed:`", readOwn);
  std::optional<MethodSpec> read;
  if (method != nullptr) read = readMethod(e, *method, {attack.ball, attack.keepLabel});
  if (!read || e.sink.errorCount() != errors) return std::nullopt;
  attack.method = std::move(*read);
  return attack;
}

ExperimentSpec attackOf(const DesignSpec& design, const Attack& attack, Task task, InputSpec input) {
  ExperimentSpec experiment;
  experiment.name = design.name;
  experiment.range = design.range;
  experiment.module = design.module;
  experiment.factors = design.factors;
  experiment.of = design.of;
  experiment.inputs.push_back(std::move(input));
  experiment.task = task;
  experiment.optimizer = attack.method.optimizer;
  experiment.dtype = design.dtype;
  experiment.tf32 = design.tf32;
  experiment.dtypeFactor = design.dtypeFactor;
  experiment.search = attack.method.search;
  experiment.pool = std::make_unique<sema::ExprPool>(*design.pool);
  return experiment;
}

}  // namespace tbem::graph
