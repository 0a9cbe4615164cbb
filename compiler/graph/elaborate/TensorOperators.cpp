// Infix operators on whole tensors are operators of the standard library.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"

namespace tbem::graph {

Value Elaborator::runtimeBinary(const ast::Binary& expr, const Value& left, const Value& right) {
  if (now.elem != nullptr && frame->elementwise) return elemBinary(expr, left, right);
  return tensorBinary(expr, left, right);
}

Value Elaborator::libraryOperator(std::string_view name, SrcRange use) {
  const sema::Module* library = program.find("std.nn");
  const sema::Resolved found = library != nullptr ? program.member(*library, name, *library) : sema::Resolved{};
  const bool callable = found.decl != nullptr && found.decl->kind == ast::NodeKind::Callable;
  return callable ? Value::declaration(found) : fail(diag::not_in_module, use, "std.nn", name);
}

Value Elaborator::callNamed(std::string_view name, std::vector<Value> tensors,
                            std::vector<std::pair<std::string_view, Value>> parameters, SrcRange use) {
  const Value callee = libraryOperator(name, use);
  if (callee.isPoison()) return {};
  ast::Error place;  // a synthetic call: only its range is read
  place.range = use;
  sema::Arguments arguments;
  arguments.use = use;
  for (Value& tensor : tensors) arguments.list.push_back({{}, std::move(tensor), use});
  for (auto& [word, value] : parameters) arguments.list.push_back({word, std::move(value), use});
  return applyCallable(place, callee, std::move(arguments));
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

}  // namespace tbem::graph
