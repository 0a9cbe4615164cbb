#include "compiler/graph/read/Losses.h"

#include "compiler/diagnostics/tables/Graph.h"

#include <optional>
#include <string>
#include <utility>

namespace tbem::graph {

Value sumOfLosses(Elaborator& e, const GateTraining& gates, const Value& loss, const std::vector<Value>& pair, SrcRange at) {
  const std::string& name = static_cast<const ast::Callable*>(loss.decl)->name.text;
  std::vector<TensorId> results = e.trainedResults();
  const std::vector<Rational>& weights = gates.exits;
  if (!weights.empty() && weights.size() != results.size()) {
    e.sink.report(
        diag::design_clause_value, gates.exitsRange, "exits",
        results.empty() ? "a network with exits" : "a weight for each of " + std::to_string(results.size()) + " results",
        results.empty() ? "none" : std::to_string(weights.size()));
    return {};
  }
  if (results.empty()) results.push_back(static_cast<TensorId>(pair.front().id));
  Value sum;
  for (std::size_t k = 0; k < results.size(); ++k) {
    if (!weights.empty() && weights[k].num == 0) continue;
    std::optional<std::vector<Local>> parameters = e.networkParameters(loss, {}, at);
    if (!parameters) return {};
    Value number =
        e.applyRoot(loss, std::move(*parameters), {Value::indexed(ValueKind::Tensor, index(results[k])), pair.back()}, name, at);
    if (!number.is(ValueKind::Tensor)) return number;
    if (!weights.empty() && !(weights[k] == Rational{1}))
      number = e.callNamed("mul_scalar", {number}, {{"value", Value::number(e.pool.constant(weights[k]), true)}}, at);
    sum = sum.isPoison() ? number : e.callNamed("add", {sum, number}, {}, at);
    if (sum.isPoison()) return {};
  }
  return sum;
}

}  // namespace tbem::graph
