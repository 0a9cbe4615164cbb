#include "compiler/graph/ir/WholeNumbers.h"

#include <vector>

namespace tbem::graph {

namespace {
bool isWhole(const ElemNode& number, const NumberSources& sources, bool orNegative) {
  if (number.op != ElemOp::Constant && number.op != ElemOp::Scalar) return false;
  const std::optional<Rational> value = number.op == ElemOp::Constant ? number.value : sources.scalar(number.scalar);
  return value && value->isInt() && (orNegative || value->num >= 0);
}
}  // namespace

std::optional<std::uint32_t> fractionBelow(const Elementwise& expression, std::uint32_t root, const NumberSources& sources) {
  std::vector<bool> seen(expression.nodes.size(), false);
  std::vector<std::uint32_t> open{root};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    const ElemNode& node = expression.nodes[at];
    switch (node.op) {
      case ElemOp::Input:
        if (!sources.isWhole(node.input)) return at;
        break;
      case ElemOp::Constant:
      case ElemOp::Scalar:
        if (!isWhole(node, sources, true)) return at;
        break;
      case ElemOp::Add:
      case ElemOp::Sub:
      case ElemOp::Mul:
      case ElemOp::Minimum:
      case ElemOp::Maximum:
        open.push_back(node.b);
        open.push_back(node.a);
        break;
      case ElemOp::Neg:
      case ElemOp::Abs:
        open.push_back(node.a);
        break;
      case ElemOp::Select:
        open.push_back(node.c);
        open.push_back(node.b);
        break;
      case ElemOp::Pow:
        if (!isWhole(expression.nodes[node.b], sources, false)) return at;
        open.push_back(node.a);
        break;
      case ElemOp::Random:
      case ElemOp::Div:
      case ElemOp::Exp:
      case ElemOp::Log:
      case ElemOp::Sqrt:
      case ElemOp::Rsqrt:
      case ElemOp::Tanh:
      case ElemOp::Erf:
      case ElemOp::Sin:
      case ElemOp::Cos:
        return at;
      case ElemOp::Index:
      case ElemOp::Floor:
      case ElemOp::Equal:
      case ElemOp::Less:
      case ElemOp::LessEqual:
      case ElemOp::And:
      case ElemOp::Or:
      case ElemOp::Not:
      case ElemOp::Cast:
        break;
    }
  }
  return std::nullopt;
}

}  // namespace tbem::graph
