// Finished element-wise expressions: unused nodes go, work is counted. Infix operators on whole tensors.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <algorithm>
#include <map>

namespace tbem::graph {

namespace {
/// The FLOP part that a node counts as, or nullptr: logic, choices and casts compute no number.
const char* partOf(ElemOp op) {
  switch (op) {
    case ElemOp::Add:
    case ElemOp::Sub:
    case ElemOp::Neg:
      return "add";
    case ElemOp::Mul:
      return "mul";
    case ElemOp::Div:
      return "divide";
    case ElemOp::Minimum:
    case ElemOp::Maximum:
    case ElemOp::Equal:
    case ElemOp::Less:
    case ElemOp::LessEqual:
      return "cmp";
    case ElemOp::Abs:
      return "abs";
    case ElemOp::Exp:
      return "exp";
    case ElemOp::Log:
      return "log";
    case ElemOp::Sqrt:
      return "sqrt";
    case ElemOp::Rsqrt:
      return "rsqrt";
    case ElemOp::Pow:
      return "pow";
    case ElemOp::Tanh:
      return "tanh";
    case ElemOp::Erf:
      return "erf";
    case ElemOp::Sin:
      return "sin";
    case ElemOp::Cos:
      return "cos";
    case ElemOp::Floor:
      return "floor";
    default:
      return nullptr;
  }
}
}  // namespace

void Elaborator::pruneElementwise(ElemBuild& build, Op& op) {
  std::vector<ElemNode>& nodes = build.expression.nodes;
  std::vector<bool> used(nodes.size(), false);
  for (const std::uint32_t root : build.expression.roots) used[root] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!used[i]) continue;
    const int count = operandCount(nodes[i].op);
    if (count > 0) used[nodes[i].a] = true;
    if (count > 1) used[nodes[i].b] = true;
    if (count > 2) used[nodes[i].c] = true;
  }
  std::vector<bool> inputUsed(build.inputs.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (used[i] && nodes[i].op == ElemOp::Input) inputUsed[nodes[i].input] = true;
  }
  std::vector<std::uint32_t> inputPlace(build.inputs.size(), 0);
  for (std::size_t i = 0; i < build.inputs.size(); ++i) {
    if (!inputUsed[i]) continue;
    inputPlace[i] = static_cast<std::uint32_t>(op.inputs.size());
    op.inputs.push_back(build.inputs[i]);
    op.elementwise.operands.push_back(std::move(build.expression.operands[i]));
  }
  std::vector<std::uint32_t> place(nodes.size(), 0);
  std::vector<bool> varies;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!used[i]) continue;
    place[i] = static_cast<std::uint32_t>(op.elementwise.nodes.size());
    ElemNode node = nodes[i];
    const int count = operandCount(node.op);
    node.a = count > 0 ? place[node.a] : 0;
    node.b = count > 1 ? place[node.b] : 0;
    node.c = count > 2 ? place[node.c] : 0;
    if (node.op == ElemOp::Input) node.input = inputPlace[node.input];
    op.elementwise.nodes.push_back(std::move(node));
    varies.push_back(build.varies[i]);
  }
  for (const std::uint32_t root : build.expression.roots) op.elementwise.roots.push_back(place[root]);
  build.varies = std::move(varies);
}

/// One for each arithmetic node and element; what depends on scalars alone is computed once and not counted.
void Elaborator::countElementwise(const ElemBuild& build, Op& op) {
  std::map<std::string_view, std::int64_t> counts;
  for (std::size_t i = 0; i < op.elementwise.nodes.size(); ++i) {
    if (const char* part = partOf(op.elementwise.nodes[i].op); part != nullptr && build.varies[i]) ++counts[part];
  }
  if (counts.empty()) return;
  const ExprId elements = builder.elementCount(build.shape);
  for (const auto& [part, count] : counts) {
    op.flops.push_back({std::string(part), pool.make(ExprOp::Mul, elements, pool.constant(count))});
  }
}

// ---- Whole tensors ----------------------------------------------------------------------------------------------------

Value Elaborator::runtimeBinary(const ast::Binary& expr, Value left, Value right) {
  if (now.elem != nullptr && frame->elementwise) return elemBinary(expr, left, right);
  return tensorBinary(expr, left, right);
}

Value Elaborator::callNamed(std::string_view name, std::vector<Value> tensors,
                            std::vector<std::pair<std::string_view, Value>> parameters, SrcRange use) {
  const sema::Module* library = program.find("std.nn");
  const sema::Resolved found = library != nullptr ? program.member(*library, name, *library) : sema::Resolved{};
  if (found.decl == nullptr || found.decl->kind != ast::NodeKind::Callable) return fail(diag::not_in_module, use, "std.nn", name);
  ast::Error place;  // a synthetic call: only its range is read
  place.range = use;
  sema::Arguments arguments;
  arguments.use = use;
  for (Value& tensor : tensors) arguments.list.push_back({{}, std::move(tensor), use});
  for (auto& [word, value] : parameters) arguments.list.push_back({word, std::move(value), use});
  return applyCallable(place, Value::declaration(found), std::move(arguments));
}

Value Elaborator::tensorBinary(const ast::Binary& expr, const Value& left, const Value& right) {
  struct Names {
    const char *both, *tensorNumber, *numberTensor;
    bool swap;
  };
  Names names{};
  switch (expr.op) {
    case ast::BinaryOp::Add:
      names = {"add", "add_scalar", "add_scalar", false};
      break;
    case ast::BinaryOp::Sub:
      names = {"sub", "sub_scalar", "scalar_sub", false};
      break;
    case ast::BinaryOp::Mul:
      names = {"mul", "mul_scalar", "mul_scalar", false};
      break;
    case ast::BinaryOp::Divide:
      names = {"divide", "div_scalar", "scalar_div", false};
      break;
    case ast::BinaryOp::Power:
      names = {nullptr, "pow", nullptr, false};
      break;
    case ast::BinaryOp::Less:
      names = {"less", "less_scalar", "greater_scalar", false};
      break;
    case ast::BinaryOp::LessEqual:
      names = {"less_equal", "less_equal_scalar", "greater_equal_scalar", false};
      break;
    case ast::BinaryOp::Greater:
      names = {"less", "greater_scalar", "less_scalar", true};
      break;
    case ast::BinaryOp::GreaterEqual:
      names = {"less_equal", "greater_equal_scalar", "less_equal_scalar", true};
      break;
    case ast::BinaryOp::Equal:
      names = {"equal", "equal_scalar", "equal_scalar", false};
      break;
    case ast::BinaryOp::NotEqual:
      names = {"not_equal", "not_equal_scalar", "not_equal_scalar", false};
      break;
    case ast::BinaryOp::And:
      names = {"logical_and", nullptr, nullptr, false};
      break;
    case ast::BinaryOp::Or:
      names = {"logical_or", nullptr, nullptr, false};
      break;
    default:
      break;
  }
  const bool bothTensors = left.is(ValueKind::Tensor) && right.is(ValueKind::Tensor);
  const Value& other = left.is(ValueKind::Tensor) ? right : left;
  if (!bothTensors && !other.is(ValueKind::Number))
    return wrongKind(expr.range, "arithmetic on tensors", "tensors and numbers", other);
  const char* name = bothTensors ? names.both : left.is(ValueKind::Tensor) ? names.tensorNumber : names.numberTensor;
  if (name == nullptr) return fail(diag::not_there_yet, expr.opRange, "this operator on tensors is");
  if (bothTensors)
    return callNamed(name, names.swap ? std::vector<Value>{right, left} : std::vector<Value>{left, right}, {}, expr.range);
  Value number = other;
  return callNamed(name, {left.is(ValueKind::Tensor) ? left : right},
                   {{expr.op == ast::BinaryOp::Power ? "exponent" : "value", number}}, expr.range);
}

/// The same values in a storage of their own.
Value Elaborator::copyOf(TensorId tensor, SrcRange range) {
  const ScopeId scope = now.current != nullptr ? now.current->scope : static_cast<ScopeId>(0);
  return Value::indexed(ValueKind::Tensor, index(builder.copy(tensor, range, scope)));
}

}  // namespace tbem::graph
