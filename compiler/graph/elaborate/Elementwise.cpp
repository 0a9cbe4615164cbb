// Element-wise expressions: from the language's terms to nodes.
#include "compiler/graph/elaborate/Elaborator.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace tbem::graph {

namespace {
struct Word {
  std::string_view name;
  ElemOp op;
  std::size_t operands;
};
constexpr std::array<Word, 15> kWords = {{{"exp", ElemOp::Exp, 1},
                                          {"log", ElemOp::Log, 1},
                                          {"sqrt", ElemOp::Sqrt, 1},
                                          {"rsqrt", ElemOp::Rsqrt, 1},
                                          {"pow", ElemOp::Pow, 2},
                                          {"tanh", ElemOp::Tanh, 1},
                                          {"erf", ElemOp::Erf, 1},
                                          {"sin", ElemOp::Sin, 1},
                                          {"cos", ElemOp::Cos, 1},
                                          {"floor", ElemOp::Floor, 1},
                                          {"abs", ElemOp::Abs, 1},
                                          {"minimum", ElemOp::Minimum, 2},
                                          {"maximum", ElemOp::Maximum, 2},
                                          {"cast", ElemOp::Cast, 1},
                                          {"random", ElemOp::Random, 0}}};

std::optional<ElemOp> elemOp(ast::BinaryOp op) {
  switch (op) {
    case ast::BinaryOp::Add:
      return ElemOp::Add;
    case ast::BinaryOp::Sub:
      return ElemOp::Sub;
    case ast::BinaryOp::Mul:
      return ElemOp::Mul;
    case ast::BinaryOp::Divide:
      return ElemOp::Div;
    case ast::BinaryOp::Power:
      return ElemOp::Pow;
    case ast::BinaryOp::Equal:
    case ast::BinaryOp::NotEqual:
      return ElemOp::Equal;
    case ast::BinaryOp::Less:
    case ast::BinaryOp::Greater:
      return ElemOp::Less;
    case ast::BinaryOp::LessEqual:
    case ast::BinaryOp::GreaterEqual:
      return ElemOp::LessEqual;
    case ast::BinaryOp::And:
      return ElemOp::And;
    case ast::BinaryOp::Or:
      return ElemOp::Or;
    default:
      return std::nullopt;
  }
}
}  // namespace

bool isElementwiseWord(std::string_view name) {
  return name == "coordinate" || std::any_of(kWords.begin(), kWords.end(), [&](const Word& one) { return one.name == name; });
}

Value Elaborator::elemLeaf(ElemNode node, bool varies) {
  ElemBuild& build = *now.elem;
  std::uint64_t h = static_cast<std::uint64_t>(node.op);
  for (const std::uint64_t part : {std::uint64_t{node.a}, std::uint64_t{node.b}, std::uint64_t{node.c}, std::uint64_t{node.input},
                                   static_cast<std::uint64_t>(node.value.num), static_cast<std::uint64_t>(node.value.den),
                                   static_cast<std::uint64_t>(node.scalar)}) {
    h = (h ^ part) * 0xFF51AFD7ED558CCDULL;
    h ^= h >> 32;
  }
  for (auto same = std::ranges::find(build.hashes, h); same != build.hashes.end();
       same = std::find(same + 1, build.hashes.end(), h)) {
    const auto at = static_cast<std::uint32_t>(same - build.hashes.begin());
    const ElemNode& known = build.expression.nodes[at];
    if (known.op == node.op && known.a == node.a && known.b == node.b && known.c == node.c && known.input == node.input &&
        known.value == node.value && known.scalar == node.scalar && known.stream == node.stream)
      return Value::indexed(ValueKind::Elem, at);
  }
  const auto at = static_cast<std::uint32_t>(build.expression.nodes.size());
  build.expression.nodes.push_back(std::move(node));
  build.varies.push_back(varies);
  build.hashes.push_back(h);
  return Value::indexed(ValueKind::Elem, at);
}

Value Elaborator::elemNode(ElemOp op, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  ElemNode node;
  node.op = op;
  node.a = a;
  node.b = b;
  node.c = c;
  if (op == ElemOp::Random) {
    // The first is numbered as in the operator's gradient, and so are the others in their order.
    node.stream = now.elem->stream + now.elem->randoms++ * 0x9E3779B97F4A7C15U;
    return elemLeaf(node, true);
  }
  const bool two = op == ElemOp::Select || op == ElemOp::Pow || op == ElemOp::Minimum || op == ElemOp::Maximum ||
                   op == ElemOp::Add || op == ElemOp::Sub || op == ElemOp::Mul || op == ElemOp::Div || op == ElemOp::Equal ||
                   op == ElemOp::Less || op == ElemOp::LessEqual || op == ElemOp::And || op == ElemOp::Or;
  const bool varies = now.elem->varies[a] || (two && now.elem->varies[b]) || (op == ElemOp::Select && now.elem->varies[c]);
  return elemLeaf(node, varies);
}

std::optional<std::uint32_t> Elaborator::asElem(const Value& value, SrcRange range) {
  if (value.is(ValueKind::Elem)) return value.id;
  if (!value.is(ValueKind::Number) && !value.is(ValueKind::Bool)) {
    wrongKind(range, "an element-wise expression", "a number or a tensor of this declaration", value);
    return std::nullopt;
  }
  ElemNode node;
  const auto constant = pool.constantValue(value.expr);
  if (constant && !value.isReal) {
    node.op = ElemOp::Constant;
    node.value = *constant;
  } else {
    node.op = ElemOp::Scalar;
    node.scalar = value.expr;
    if (value.isReal && now.current != nullptr) {
      for (const Local& local : now.current->frame.locals) {
        if (!local.isParameter || !local.value.isReal || local.value.expr != value.expr) continue;
        const std::string owner = phase() == Phase::Optimizer ? "optimizer" : now.current->path;
        builder.registerScalar((owner.empty() ? "" : owner + ".") + std::string(local.name), value.expr);
        break;
      }
    }
  }
  return elemLeaf(node, false).id;
}

Value Elaborator::elemBinary(const ast::Binary& expr, const Value& left, const Value& right) {
  const std::optional<ElemOp> op = elemOp(expr.op);
  if (!op) {
    fail(diag::wrong_kind, expr.range, "an element-wise expression", "+ - * / **, a comparison or logic",
         "`" + sourceText(session.sources, expr.range) + "`");
    if (expr.op == ast::BinaryOp::FloorDiv || expr.op == ast::BinaryOp::Mod) {
      if (Diagnostic* const told = this->told(diag::wrong_kind, expr.range); told != nullptr && told->notes.empty())
        told->note("of elements, `a div b` is `floor(a / b)` and `a mod b` is `a - b * floor(a / b)`");
    }
    return {};
  }
  std::optional<std::uint32_t> a = asElem(left, expr.left->range);
  std::optional<std::uint32_t> b = asElem(right, expr.right->range);
  if (!a || !b) return {};
  if (expr.op == ast::BinaryOp::Greater || expr.op == ast::BinaryOp::GreaterEqual) std::swap(a, b);
  const Value result = elemNode(*op, *a, *b);
  return expr.op == ast::BinaryOp::NotEqual ? elemNode(ElemOp::Not, result.id) : result;
}

Value Elaborator::runtimeUnary(const ast::Unary& expr, Value operand) {
  if (now.elem == nullptr || !frame->elementwise) {
    return callNamed(expr.op == ast::UnaryOp::Negate ? "neg" : "logical_not", {operand}, {}, expr.range);
  }
  const std::optional<std::uint32_t> at = asElem(operand, expr.operand->range);
  if (!at) return {};
  return elemNode(expr.op == ast::UnaryOp::Negate ? ElemOp::Neg : ElemOp::Not, *at);
}

Value Elaborator::runtimeSelect(const ast::IfExpr& expr, Value condition) {
  if (now.elem == nullptr || !condition.is(ValueKind::Elem)) {
    Diagnostic& d = sink.report(diag::unknown_at_compile_time, expr.condition->range, "a condition");
    d.note("an `if` on the elements of a tensor stands in an `elementwise` expression; `skip` and `exit` gate per sample");
    return {};
  }
  const Value yes = evaluate(*expr.then);
  const Value no = expr.otherwise != nullptr ? evaluate(*expr.otherwise) : integerValue(0);
  if (yes.isPoison() || no.isPoison()) return {};
  const auto a = asElem(yes, expr.then->range);
  const auto b = asElem(no, expr.range);
  return a && b ? elemNode(ElemOp::Select, condition.id, *a, *b) : Value{};
}

/// `coordinate(k)`: where the element stands along dimension k of the result.
Value Elaborator::elemCoordinate(const ast::Call& call) {
  const bool fits = call.arguments.size() == 1 && call.arguments.front().value != nullptr && call.arguments.front().name.empty();
  if (!fits) return fail(diag::wrong_kind, call.range, "`coordinate`", "one dimension", std::to_string(call.arguments.size()));
  const SrcRange range = call.arguments.front().range;
  const Value value = evaluate(*call.arguments.front().value);
  if (value.isPoison()) return {};
  if (!value.is(ValueKind::Number)) return wrongKind(range, "`coordinate`", "a dimension", value);
  const std::optional<std::int64_t> dimension = forceInt(value, "`coordinate`", range);
  if (!dimension) return {};
  if (*dimension < 0 || *dimension >= static_cast<std::int64_t>(now.elem->shape.size()))
    return fail(diag::index_out_of_range, range, *dimension, "shape", now.elem->shape.size());
  ElemNode node;
  node.op = ElemOp::Index;
  node.input = static_cast<std::uint32_t>(*dimension);
  return elemLeaf(node, true);
}

std::optional<Value> Elaborator::elementwiseCall(std::string_view name, const ast::Call& call) {
  if (now.elem != nullptr && name == "coordinate") return elemCoordinate(call);
  const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& one) { return one.name == name; });
  if (now.elem == nullptr) return std::nullopt;
  if (word == kWords.end()) {
    const auto isElement = [this](const ast::Argument& argument) {
      return argument.value != nullptr && argument.name.empty() && evaluate(*argument.value).is(ValueKind::Elem);
    };
    if ((name == "max" || name == "min") && call.arguments.size() == 2 &&
        std::any_of(call.arguments.begin(), call.arguments.end(), isElement)) {
      const std::string other = name == "max" ? "maximum" : "minimum";
      fail(diag::wrong_kind, call.range, "`" + std::string(name) + "`", "a whole tensor and an axis", "elements");
      if (Diagnostic* const told = this->told(diag::wrong_kind, call.range); told != nullptr && told->notes.empty())
        told->note("of two elements: `" + other + "`").fix(call.callee->range, other);
      return Value{};
    }
    return std::nullopt;
  }
  std::vector<std::uint32_t> operands;
  for (const ast::Argument& argument : call.arguments) {
    if (argument.value == nullptr) return fail(diag::unknown_argument, argument.range, name, "...");
    if (!argument.name.empty()) return fail(diag::unknown_argument, argument.range, name, argument.name.text);
    const Value value = evaluate(*argument.value);
    if (value.isPoison()) return Value{};
    const auto at = asElem(value, argument.range);
    if (!at) return Value{};
    operands.push_back(*at);
  }
  if (operands.size() != word->operands) {
    return fail(diag::wrong_kind, call.range, "`" + std::string(name) + "`", std::to_string(word->operands) + " operands",
                std::to_string(operands.size()));
  }
  operands.resize(2, 0);
  return elemNode(word->op, operands[0], operands[1]);
}

// ---- Operands ---------------------------------------------------------------------------------------------------------

void Elaborator::beginElementwise(ElemBuild& build, Activation& a, const Labels&) { build.stream = hashText(a.path); }

namespace {
/// Where dimension k of an operand lies in the result, by name: the second `k` of [k, k] is the second there. -1: no name says.
std::int64_t axisByName(const Labels& labels, std::size_t k, const Labels& result) {
  if (k >= labels.size() || labels[k].empty()) return -1;
  const auto earlier = std::count(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(k), labels[k]);
  auto at = std::find(result.begin(), result.end(), labels[k]);
  for (auto i = earlier; i > 0 && at != result.end(); --i) at = std::find(at + 1, result.end(), labels[k]);
  return at == result.end() ? -1 : at - result.begin();
}

/// A name that the operand and the result have a different number of times, or that the result has not although its dimension
/// there has another: no rule says which is meant. Empty: nothing is wrong.
std::string ambiguity(const Labels& labels, std::size_t k, const Labels& result, std::int64_t axis) {
  if (k >= labels.size() || labels[k].empty()) return "";
  const auto here = std::count(labels.begin(), labels.end(), labels[k]),
             there = std::count(result.begin(), result.end(), labels[k]);
  if (there != 0 && here != there)
    return fmt::format("it has it {} and the result {}", here == 1 ? "once" : fmt::format("{} times", here),
                       there == 1 ? "once" : fmt::format("{} times", there));
  const bool isPlain = labels[k].find('#') == std::string::npos;  // dimensions of a spread `..s` align on the right
  const bool other =
      axis >= 0 && axis < static_cast<std::int64_t>(result.size()) && !result[static_cast<std::size_t>(axis)].empty();
  if (there == 0 && isPlain && other) return "the result has none of that name";
  return "";
}
}  // namespace

/// How an operand is read: by the names of its dimensions where the result has them, else aligned on the right as NumPy does.
bool Elaborator::addOperand(ElemBuild& build, TensorId tensor, const Labels& labels, const Labels& resultLabels,
                            std::string_view name, Value& out) {
  const std::vector<ExprId> shape = graph[tensor].shape;
  ElemOperand operand;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    std::int64_t axis = axisByName(labels, k, resultLabels);
    if (axis < 0) axis = static_cast<std::int64_t>(build.shape.size()) - static_cast<std::int64_t>(shape.size() - k);
    if (const std::string why = ambiguity(labels, k, resultLabels, axis); !why.empty()) {
      fail(diag::ambiguous_dimension, now.current->decl->name.range, labels[k], name, why);
      return false;
    }
    const bool one = pool.constantValue(shape[k]) == Rational::of(1);
    if (axis < 0) {
      if (one) {
        operand.axes.push_back(-1);
        continue;
      }
      sink.report(diag::rank_mismatch, now.current->range, name, now.current->decl->name.text,
                  "at most " + std::to_string(build.shape.size()),
                  std::to_string(shape.size()) + ": " + shapeText(pool, graph, tensor));
      return false;
    }
    const ExprId wanted = build.shape[static_cast<std::size_t>(axis)];
    if (one && pool.constantValue(wanted) != Rational::of(1)) {
      operand.axes.push_back(-1);
      continue;
    }
    if (!agree(shape[k], wanted, std::string(name) + "[" + std::to_string(k) + "]", now.current->range,
               now.current->decl->name.range))
      return false;
    operand.axes.push_back(static_cast<std::int32_t>(axis));
  }
  ElemNode node;
  node.op = ElemOp::Input;
  node.input = static_cast<std::uint32_t>(build.inputs.size());
  build.inputs.push_back(tensor);
  build.expression.operands.push_back(std::move(operand));
  out = elemLeaf(node, true);
  return true;
}

std::optional<Op> Elaborator::buildElementwise(Activation& a, const std::vector<const ast::Expr*>& parts,
                                               const std::vector<TensorId>& results, const Labels& resultLabels) {
  ElemBuild build;
  build.shape = graph[results.front()].shape;
  std::set<std::string_view> used;
  for (const ast::Expr* part : parts) {
    sema::forEachInside(*part, [&](const ast::Expr& inner) {
      if (const auto* name = ast::dynCast<ast::NameRef>(&inner)) used.insert(name->name.text);
    });
  }
  Frame inner = a.frame;
  inner.elementwise = true;
  const Detour detour(*this);
  now.elem = &build;
  beginElementwise(build, a, resultLabels);
  bool good = true;
  for (Local& local : inner.locals) {
    if (!good || !local.value.is(ValueKind::Tensor) || used.count(local.name) == 0) continue;
    const auto tensor = static_cast<TensorId>(local.value.id);
    if (std::find(results.begin(), results.end(), tensor) != results.end()) continue;  // not yet written
    const Labels* own = a.labelsOf(local.name);
    good = addOperand(build, tensor, own != nullptr ? *own : Labels{}, resultLabels, local.name, local.value);
  }
  frame = &inner;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    const Value value = evaluate(*parts[i]);
    const auto root = value.isPoison() ? std::nullopt : asElem(value, parts[i]->range);
    good = root.has_value();
    if (good) build.expression.roots.push_back(*root);
  }
  if (!good) return std::nullopt;
  Op op;
  op.kind = OpKind::Elementwise;
  op.outputs = results;
  pruneElementwise(build, op);
  countElementwise(build, op);
  return op;
}

}  // namespace tbem::graph
