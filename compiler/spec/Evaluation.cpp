#include "compiler/spec/Attempt.h"

#include <algorithm>
#include <unordered_map>

namespace tbem::spec {

using sema::ExprNode;

Evaluation::Evaluation(const sema::ExprPool& from, const Goal& goal) {
  for (std::size_t s = 0; s < from.symbolCount(); ++s) {
    const sema::Symbol& symbol = from[static_cast<SymbolId>(s)];
    pool.symbol(symbol.name, symbol.range, symbol.runtime);
  }
  std::vector<ExprId> roots = goal.hypotheses;
  roots.push_back(goal.claim);
  std::vector<std::uint32_t> cone;
  std::unordered_map<std::uint32_t, ExprId> made;
  std::vector<ExprId> open = roots;
  while (!open.empty()) {
    const ExprId id = open.back();
    open.pop_back();
    if (!made.emplace(static_cast<std::uint32_t>(id), sema::kNoExpr).second) continue;
    cone.push_back(static_cast<std::uint32_t>(id));
    for (const ExprId operand : {from[id].a, from[id].b, from[id].c}) {
      if (operand != sema::kNoExpr) open.push_back(operand);
    }
  }
  std::sort(cone.begin(), cone.end());
  for (const std::uint32_t id : cone) {
    const ExprNode& node = from[static_cast<ExprId>(id)];
    const auto of = [&](ExprId operand) {
      return operand == sema::kNoExpr ? operand : made.at(static_cast<std::uint32_t>(operand));
    };
    ExprId copy{};
    if (node.op == sema::ExprOp::Constant)
      copy = pool.constant(node.value);
    else if (node.op == sema::ExprOp::Symbol)
      copy = pool.symbolRef(node.symbol);
    else if (node.op == sema::ExprOp::Step)
      copy = pool.step();
    else
      copy = pool.make(node.op, of(node.a), of(node.b), of(node.c));
    made[id] = copy;
  }
  for (const ExprId one : goal.hypotheses) hypotheses.push_back(made.at(static_cast<std::uint32_t>(one)));
  claim = made.at(static_cast<std::uint32_t>(goal.claim));
}

Evaluation::Outcome Evaluation::at(std::span<const std::optional<Rational>> values) {
  scratch.value.clear();
  scratch.error.clear();
  pool.extend(scratch, values);
  const auto beyond = [](sema::EvalError error) {
    return error == sema::EvalError::Overflow || error == sema::EvalError::Unassigned;
  };
  for (const ExprId one : hypotheses) {
    const sema::EvalError error = scratch.errorOf(one);
    if (beyond(error)) return Outcome::NoValue;
    if (error != sema::EvalError::None || scratch[one].num == 0) return Outcome::Outside;
  }
  const sema::EvalError error = scratch.errorOf(claim);
  if (beyond(error)) return Outcome::NoValue;
  return error == sema::EvalError::None && scratch[claim].num != 0 ? Outcome::Holds : Outcome::Fails;
}

}  // namespace tbem::spec
