#include "compiler/spec/size/Points.h"

#include <algorithm>
#include <unordered_map>

namespace tbem::spec {

using sema::ExprNode;

Points::Points(const sema::ExprPool& from, std::span<const ExprId> given) {
  for (std::size_t s = 0; s < from.symbolCount(); ++s) {
    const sema::Symbol& symbol = from[static_cast<SymbolId>(s)];
    pool.symbol(symbol.name, symbol.range, symbol.runtime);
  }
  std::vector<ExprId> cone;
  for (const ExprId root : given) {
    const std::vector<ExprId> part = from.cone(root);
    cone.insert(cone.end(), part.begin(), part.end());
  }
  std::sort(cone.begin(), cone.end());
  cone.erase(std::unique(cone.begin(), cone.end()), cone.end());
  std::unordered_map<ExprId, ExprId> made;
  for (const ExprId id : cone) {
    const ExprNode& node = from[id];
    const auto of = [&](ExprId operand) { return operand == sema::kNoExpr ? operand : made.at(operand); };
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
  for (const ExprId one : given) roots.push_back(made.at(one));
}

void Points::at(std::span<const std::optional<Rational>> point) {
  values.value.clear();
  values.error.clear();
  pool.extend(values, point);
}

}  // namespace tbem::spec
