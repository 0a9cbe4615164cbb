// Expressions as text, in the language's own form and the user's names.
#include "compiler/sema/Symbolic.h"

#include <algorithm>

namespace tbem::sema {

namespace {
std::uint32_t raw(ExprId id) { return static_cast<std::uint32_t>(id); }
}  // namespace

namespace {
/// Binding strengths, loosest first, as the language has them.
enum Strength : int { kLoosest, kOr, kAnd, kNot, kCompare, kSum, kProduct, kMinus, kPower, kAtom };

struct Printed {
  std::string text;
  int strength = kAtom;
};

std::string within(const Printed& part, int least) { return part.strength < least ? "(" + part.text + ")" : part.text; }

struct Infix {
  const char* word;
  int strength;
};
std::optional<Infix> infix(ExprOp op) {
  switch (op) {
    case ExprOp::Add:
      return Infix{" + ", kSum};
    case ExprOp::Sub:
      return Infix{" - ", kSum};
    case ExprOp::Mul:
      return Infix{" * ", kProduct};
    case ExprOp::Divide:
      return Infix{" / ", kProduct};
    case ExprOp::FloorDiv:
      return Infix{" div ", kProduct};
    case ExprOp::CeilDiv:
      return Infix{" cdiv ", kProduct};
    case ExprOp::Mod:
      return Infix{" mod ", kProduct};
    case ExprOp::Equal:
      return Infix{" = ", kCompare};
    case ExprOp::Less:
      return Infix{" < ", kCompare};
    case ExprOp::LessEqual:
      return Infix{" <= ", kCompare};
    case ExprOp::And:
      return Infix{" and ", kAnd};
    case ExprOp::Or:
      return Infix{" or ", kOr};
    default:
      return std::nullopt;
  }
}

Printed number(const Rational& value) {
  const std::string text = value.str();
  if (text.find('/') != std::string::npos) return {text, kProduct};
  return {text, value.num < 0 ? kMinus : kAtom};
}

Printed binaryText(const ExprNode& node, const Printed& a, const Printed& b, std::optional<Rational> right) {
  if (node.op == ExprOp::Add && right && right->num < 0) return {within(a, kSum) + " - " + right->str().substr(1), kSum};
  if (node.op == ExprOp::Power) return {within(a, kAtom) + " ** " + within(b, kPower), kPower};
  if (node.op == ExprOp::Min || node.op == ExprOp::Max) {
    return {(node.op == ExprOp::Min ? "min(" : "max(") + a.text + ", " + b.text + ")", kAtom};
  }
  const Infix form = *infix(node.op);
  // Operators group to the left; comparisons do not chain; `+`, `and`, `or` may drop the parentheses on their right.
  const bool flat = node.op == ExprOp::Add || node.op == ExprOp::And || node.op == ExprOp::Or;
  const int leftLeast = form.strength == kCompare ? kSum : form.strength;
  return {within(a, leftLeast) + form.word + within(b, flat ? form.strength : form.strength + 1), form.strength};
}
}  // namespace

std::string ExprPool::str(ExprId id) const {
  if (id == kNoExpr) return "";
  // Operands precede their users, so one pass over the nodes in use replaces recursion, and no depth can overflow the stack.
  std::vector<bool> used(raw(id) + 1, false);
  used[raw(id)] = true;
  for (std::uint32_t i = raw(id) + 1; i-- > 0;) {
    if (!used[i]) continue;
    for (const ExprId operand : {nodes[i].a, nodes[i].b, nodes[i].c}) {
      if (operand != kNoExpr) used[raw(operand)] = true;
    }
  }
  std::vector<Printed> printed(raw(id) + 1);
  const auto at = [&printed](ExprId operand) -> const Printed& { return printed[raw(operand)]; };
  for (std::uint32_t i = 0; i <= raw(id); ++i) {
    if (!used[i]) continue;
    const ExprNode& node = nodes[i];
    switch (node.op) {
      case ExprOp::Constant: {
        const auto name = node.value.isInt() ? names.find(node.value.num) : names.end();
        printed[i] = name != names.end() ? Printed{name->second, kAtom} : number(node.value);
        break;
      }
      case ExprOp::Symbol:
        printed[i] = {(*this)[node.symbol].name, kAtom};
        break;
      case ExprOp::Step:
        printed[i] = {"step", kAtom};
        break;
      case ExprOp::Not:
        printed[i] = {"not " + within(at(node.a), kNot), kNot};
        break;
      case ExprOp::Select:
        if (isUndefined(node.c))  // what is read only where it is there
          printed[i] = at(node.b);
        else
          printed[i] = {"if " + at(node.a).text + " then " + within(at(node.b), kOr) + " else " + at(node.c).text, kLoosest};
        break;
      default:
        printed[i] = binaryText(node, at(node.a), at(node.b), constantValue(node.b));
        break;
    }
  }
  return printed[raw(id)].text;
}

}  // namespace tbem::sema
