// Where an expression has a value.
#include "compiler/spec/prove/Prove.h"

#include <algorithm>
#include <unordered_map>

namespace tbem::spec {

using sema::ExprNode;
using sema::ExprOp;

namespace {
std::uint32_t raw(ExprId id) { return static_cast<std::uint32_t>(id); }
}  // namespace

ExprId definedness(sema::ExprPool& pool, ExprId root) {
  std::unordered_map<std::uint32_t, ExprId> made;
  const ExprId always = pool.constant(1);
  const auto both = [&](ExprId a, ExprId b) { return pool.make(ExprOp::And, a, b); };
  const auto isNot = [&](ExprId a) { return pool.make(ExprOp::Not, a); };
  for (const ExprId id : pool.cone(root)) {
    const ExprNode node = pool[id];
    const auto of = [&](ExprId operand) { return operand == sema::kNoExpr ? always : made.at(raw(operand)); };
    ExprId here = both(of(node.a), both(of(node.b), of(node.c)));
    switch (node.op) {
      case ExprOp::And:  // the right side is looked at where the left leaves it open
        here = both(of(node.a), of(node.b) == always ? always : pool.make(ExprOp::Or, isNot(node.a), of(node.b)));
        break;
      case ExprOp::Or:
        here = both(of(node.a), of(node.b) == always ? always : pool.make(ExprOp::Or, node.a, of(node.b)));
        break;
      case ExprOp::Select:
        here = both(of(node.a), pool.make(ExprOp::Select, node.a, of(node.b), of(node.c)));
        break;
      case ExprOp::Divide:
      case ExprOp::FloorDiv:
      case ExprOp::CeilDiv:
      case ExprOp::Mod:
        here = both(here, isNot(pool.make(ExprOp::Equal, node.b, pool.constant(0))));
        break;
      case ExprOp::Power:
        here = both(here, pool.make(ExprOp::LessEqual, pool.constant(0), node.b));
        break;
      default:
        break;
    }
    made.emplace(raw(id), here);
  }
  return made.at(raw(root));
}

}  // namespace tbem::spec
