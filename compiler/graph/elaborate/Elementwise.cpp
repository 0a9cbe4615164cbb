// Element-wise expressions: from the language's terms to nodes.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"
#include "compiler/graph/ir/WholeNumbers.h"
#include "compiler/sema/Walk.h"

#include <algorithm>
#include <array>

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

namespace {
Value elemValue(ElementwiseBuilder::Node node) { return Value::indexed(ValueKind::Elem, node); }
}  // namespace

std::optional<std::uint32_t> Elaborator::asElem(const Value& value, SrcRange range) {
  if (value.is(ValueKind::Elem)) return value.id;
  if (!value.is(ValueKind::Number) && !value.is(ValueKind::Bool)) {
    wrongKind(range, "an element-wise expression", "a number or a tensor of this declaration", value);
    return std::nullopt;
  }
  const auto constant = pool.constantValue(value.expr);
  if (constant && !value.isReal) return now.elem->constant(*constant);
  if (value.isReal && now.current != nullptr) {
    for (const Local& local : now.current->frame.locals) {
      if (!local.isParameter || !local.value.isReal || local.value.expr != value.expr) continue;
      const std::string owner = phase() == Phase::Optimizer ? "optimizer" : now.current->path;
      builder.registerScalar((owner.empty() ? "" : owner + ".") + std::string(local.name), value.expr);
      break;
    }
  }
  return now.elem->scalar(value.expr);
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
  const ElementwiseBuilder::Node result = now.elem->operation(*op, *a, *b);
  return elemValue(expr.op == ast::BinaryOp::NotEqual ? now.elem->operation(ElemOp::Not, result) : result);
}

Value Elaborator::runtimeUnary(const ast::Unary& expr, const Value& operand) {
  if (now.elem == nullptr || !frame->elementwise) {
    return callNamed(expr.op == ast::UnaryOp::Negate ? "neg" : "logical_not", {operand}, {}, expr.range);
  }
  const std::optional<std::uint32_t> at = asElem(operand, expr.operand->range);
  if (!at) return {};
  return elemValue(now.elem->operation(expr.op == ast::UnaryOp::Negate ? ElemOp::Neg : ElemOp::Not, *at));
}

Value Elaborator::runtimeSelect(const ast::IfExpr& expr, const Value& condition) {
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
  return a && b ? elemValue(now.elem->operation(ElemOp::Select, condition.id, *a, *b)) : Value{};
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
  if (*dimension < 0 || *dimension >= static_cast<std::int64_t>(now.elem->shape().size()))
    return fail(diag::index_out_of_range, range, *dimension, "shape", now.elem->shape().size());
  return elemValue(now.elem->coordinate(static_cast<std::uint32_t>(*dimension)));
}

std::optional<Value> Elaborator::elementwiseCall(std::string_view name, const ast::Call& call) {
  if (now.elem != nullptr && name == "coordinate") return elemCoordinate(call);
  if (now.elem == nullptr) return std::nullopt;
  const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& one) { return one.name == name; });
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
  return elemValue(now.elem->operation(word->op, operands[0], operands[1]));
}

namespace {
/// What a fraction comes from, in the language's words.
std::string fractionText(const ElemNode& node, const Op& op, const Graph& graph, const sema::ExprPool& pool) {
  switch (node.op) {
    case ElemOp::Input:
      return "elements of type " + dtypeName(graph[op.inputs[node.input]].dtype);
    case ElemOp::Constant:
      return node.value.str();
    case ElemOp::Scalar:
      return "`" + pool.str(node.scalar) + "`";
    case ElemOp::Div:
      return "`/`";
    default:
      return "`" + std::string(std::ranges::find(kWords, node.op, &Word::op)->name) + "`";
  }
}
}  // namespace

// ---- Operands ---------------------------------------------------------------------------------------------------------

/// The tensor as an operand of the expression being built. Poison after a report.
Value Elaborator::readTensor(TensorId tensor, const Labels& labels, std::string_view name) {
  using Fault = ElementwiseBuilder::Alignment::Fault;
  const std::vector<ExprId>&shape = graph[tensor].shape, &result = now.elem->shape();
  const SrcRange declared = now.current->decl->name.range;
  ElementwiseBuilder::Alignment alignment = now.elem->align(shape, labels);
  const std::vector<std::int32_t>& axes = alignment.operand.axes;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (axes[k] < 0 || shape[k] == result[static_cast<std::size_t>(axes[k])]) continue;
    const std::string dimension = std::string(name) + "[" + std::to_string(k) + "]";
    if (!agree(shape[k], result[static_cast<std::size_t>(axes[k])], dimension, now.current->range, declared)) return {};
  }
  if (alignment.fault == Fault::Ambiguous)
    return fail(diag::ambiguous_dimension, declared, labels[axes.size()], name, alignment.why);
  if (alignment.fault == Fault::TooManyDimensions) {
    sink.report(diag::rank_mismatch, now.current->range, name, now.current->decl->name.text,
                "at most " + std::to_string(result.size()), std::to_string(shape.size()) + ": " + shapeText(pool, graph, tensor));
    return {};
  }
  return elemValue(now.elem->operand(tensor, std::move(alignment.operand)));
}

/// Those tensors among the activation's names that are asked for, as operands of the expression being built. Nothing after a
/// report.
std::optional<std::vector<Operand>> Elaborator::readOperands(Activation& a, const std::function<bool(const Local&)>& isOperand) {
  const Labels none;
  std::vector<Operand> operands;
  operands.reserve(a.labels.size());
  for (std::size_t i = 0; i < a.frame.locals.size(); ++i) {
    const Local& local = a.frame.locals[i];
    if (!local.value.is(ValueKind::Tensor) || !isOperand(local)) continue;
    const Labels* own = a.labelsOf(local.name);
    operands.push_back({i, readTensor(static_cast<TensorId>(local.value.id), own != nullptr ? *own : none, local.name)});
    if (operands.back().element.isPoison()) return std::nullopt;
  }
  return operands;
}

std::optional<Op> Elaborator::buildElementwise(Activation& a, const std::vector<const ast::Expr*>& parts,
                                               const std::vector<TensorId>& results, const Labels& resultLabels) {
  constexpr std::size_t kUsual = 16;
  std::vector<std::string_view> used;
  used.reserve(kUsual);
  for (const ast::Expr* part : parts) {
    sema::forEachInside(*part, [&](const ast::Expr& inner) {
      if (const auto* name = ast::dynCast<ast::NameRef>(&inner)) used.push_back(name->name.text);
    });
  }
  const Detour detour(*this);
  ElementwiseBuilder build(builder, pool, graph[results.front()].shape, resultLabels, a.path);
  now.elem = &build;
  const auto isOperand = [&](const Local& local) {
    return std::ranges::find(used, local.name) != used.end() &&
           std::ranges::find(results, static_cast<TensorId>(local.value.id)) == results.end();  // not yet written
  };
  std::optional<std::vector<Operand>> operands = readOperands(a, isOperand);
  if (!operands) return std::nullopt;
  frame = &a.frame;
  const ElementNames names(a.frame, std::move(*operands));
  for (const ast::Expr* part : parts) {
    const Value value = evaluate(*part);
    const auto root = value.isPoison() ? std::nullopt : asElem(value, part->range);
    if (!root) return std::nullopt;
    build.addRoot(*root);
  }
  Op op = build.finish(results);
  return holdsResults(a, op) ? std::optional<Op>(std::move(op)) : std::nullopt;
}

/// Whether the elements of the results can hold what is computed for them: a fraction would be cut off in silence by integers.
bool Elaborator::holdsResults(const Activation& a, const Op& op) {
  const auto isInteger = [this](TensorId tensor) { return !tbem_is_floating(graph[tensor].dtype); };
  const NumberSources sources{[&](std::uint32_t input) { return isInteger(op.inputs[input]); },
                              [&](ExprId value) { return force(Value::number(value), a.range); }};
  for (std::size_t k = 0; k < op.outputs.size(); ++k) {
    const tbem_dtype type = graph[op.outputs[k]].dtype;
    if (!isInteger(op.outputs[k]) || type == TBEM_BOOL) continue;
    const std::optional<std::uint32_t> fraction = fractionBelow(op.elementwise, op.elementwise.roots[k], sources);
    if (!fraction) continue;
    const ElemNode& node = op.elementwise.nodes[*fraction];
    fail(diag::fraction_in_integers, a.range, dtypeName(type), a.decl->name.text, fractionText(node, op, graph, pool));
    if (Diagnostic* const report = told(diag::fraction_in_integers, a.range); report != nullptr && report->notes.empty()) {
      report->note("they would be cut off: of integers make real elements first, `cast(..., to: " + dtypeName(options.dtype) +
                   ")`; in an `elementwise` expression `floor` and `cast` give whole numbers");
    }
    return false;
  }
  return true;
}

}  // namespace tbem::graph
