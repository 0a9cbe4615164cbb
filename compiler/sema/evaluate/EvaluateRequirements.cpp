// `requires P(arguments)`: a process as conditions on the arguments of a call.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>

namespace tbem::sema {

/// What `nat`, `nat0` say of a number, or of each element.
bool Evaluator::forEachBound(const ast::Type& type, const Value& value, const std::function<bool(ExprId)>& visit) {
  if (const auto* list = ast::dynCast<ast::ListType>(&type))
    return std::all_of(value.items.begin(), value.items.end(),
                       [&](const Value& item) { return forEachBound(*list->element, item, visit); });
  if (!isNatural(type)) return true;
  const std::int64_t low = ast::cast<ast::NamedType>(type).name.text == "nat" ? 1 : 0;
  return visit(pool.make(ExprOp::LessEqual, pool.constant(low), value.expr));
}

/// A bool output that no argument gives is true; another one must be given.
bool Evaluator::fillOutputs(const ast::Process& process, std::span<const ast::Parameter> outputs, std::size_t inputs,
                            Arguments& arguments) {
  const auto isBool = [](const ast::Parameter& one) {
    const auto* type = ast::dynCast<ast::NamedType>(one.type);
    return type != nullptr && type->name.text == "bool";
  };
  const auto byPosition = static_cast<std::size_t>(
      std::count_if(arguments.list.begin(), arguments.list.end(), [](const BoundArgument& one) { return one.name.empty(); }));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool named = std::any_of(arguments.list.begin(), arguments.list.end(),
                                   [&](const BoundArgument& one) { return one.name == outputs[i].name.text; });
    if (named || inputs + i < byPosition) continue;
    if (!isBool(outputs[i])) {
      fail(diag::wrong_kind, arguments.use, "`requires`", "a value of each output of `" + process.name.text + "` but of a bool",
           "none of `" + outputs[i].name.text + "`");
      return false;
    }
    arguments.list.push_back({outputs[i].name.text, truth(true), arguments.use});
  }
  return true;
}

bool Evaluator::forEachRequired(const ast::Expr& expr, const std::function<bool(ExprId)>& visit) {
  const auto* call = ast::dynCast<ast::Call>(&expr);
  const Value callee = call != nullptr ? evaluate(*call->callee) : evaluate(expr);
  if (callee.isPoison()) return false;
  const auto* process = ast::dynCast<ast::Process>(callee.decl);
  if (process == nullptr || call == nullptr) {
    fail(diag::wrong_kind, expr.range, "`requires`", "a call of a process", kindName(callee));
    return false;
  }
  if (process->inputs.size() > 1 || process->outputs.size() != 1) {
    fail(diag::wrong_kind, expr.range, "`requires`", "a process with one group of inputs and one of outputs",
         "`" + process->name.text + "`");
    return false;
  }
  indexesShapes = true;
  Arguments arguments = evaluateArguments(*call, nullptr);
  indexesShapes = false;
  std::vector<ast::Parameter> all = process->inputs.empty() ? std::vector<ast::Parameter>{} : process->inputs.front();
  const std::size_t inputs = all.size();
  all.insert(all.end(), process->outputs.front().begin(), process->outputs.front().end());
  if (!fillOutputs(*process, std::span(all).subspan(inputs), inputs, arguments)) return false;
  Frame inside;
  inside.module = callee.module;
  inside.decl = process;
  std::vector<Value> none;
  const Signature signature{process->name.text, callee.module, process, {}, all};
  if (!bind(signature, arguments, inside, none)) return false;
  Frame* const before = frame;
  bool good = std::all_of(signature.parameters.begin(), signature.parameters.end(), [&](const ast::Parameter& one) {
    return forEachBound(*one.type, inside.find(one.name.text)->value, visit);
  });
  for (const ast::Expr* condition : {process->pre, process->post}) {
    if (condition == nullptr || !good) continue;
    frame = &inside;
    const Value value = evaluate(*condition);
    frame = before;
    good = value.is(ValueKind::Bool) && visit(value.expr);
  }
  return good;
}

}  // namespace tbem::sema
