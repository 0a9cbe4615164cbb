// What the evaluator does where no graph is being built: tensors do not exist there.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

namespace tbem::sema {

Value Evaluator::runtimeBinary(const ast::Binary& expr, const Value&, const Value&) {
  return fail(diag::unknown_at_compile_time, expr.range, "this");
}
Value Evaluator::runtimeUnary(const ast::Unary& expr, const Value&) {
  return fail(diag::unknown_at_compile_time, expr.range, "this");
}
Value Evaluator::runtimeSelect(const ast::IfExpr& expr, const Value&) {
  return fail(diag::unknown_at_compile_time, expr.condition->range, "a condition");
}
std::optional<Value> Evaluator::elementwiseCall(std::string_view, const ast::Call&) { return std::nullopt; }

/// Outside a network a call without tensors is a partial application: a level, a default, a task's optimiser.
Value Evaluator::applyCallable(const ast::Expr& use, const Value& callee, Arguments arguments) {
  const auto* callable = ast::dynCast<ast::Callable>(callee.decl);
  if (callable == nullptr) return fail(diag::not_callable, use.range, kindName(callee));
  Frame scratch;
  scratch.module = callee.module;
  scratch.decl = callable;
  std::vector<Value> tensors;
  // Only the names are checked here; required parameters may still come from factors.
  Value partial = Value::ofKind(ValueKind::Partial);
  partial.decl = callee.decl;
  partial.module = callee.module;
  partial.words = callee.words;
  partial.items = callee.items;
  std::size_t position = 0;
  for (BoundArgument& one : arguments.list) {
    if (one.value.isPoison()) return {};
    std::string name(one.name);
    if (name.empty()) {
      if (position >= callable->parameters.size()) {
        return fail(
            diag::too_many_arguments, one.range, callable->name.text,
            std::to_string(callable->parameters.size()) + (callable->parameters.size() == 1 ? " parameter" : " parameters"));
      }
      name = callable->parameters[position++].name.text;
    }
    const ast::Parameter* declared = nullptr;
    std::vector<std::string> names;
    for (const ast::Parameter& parameter : callable->parameters) {
      names.push_back(parameter.name.text);
      if (parameter.name.text == name) declared = &parameter;
    }
    if (declared == nullptr) {
      Diagnostic& d = sink.report(diag::unknown_argument, one.range, callable->name.text, name);
      if (const std::string near = nearest(name, names); !near.empty()) d.note("did you mean `" + near + "`?");
      return {};
    }
    std::optional<Value> typed = coerce(*declared->type, std::move(one.value), {name, callable->name.text}, one.range);
    if (!typed) return {};
    std::size_t at = 0;
    while (at < partial.words.size() && partial.words[at] != name) ++at;
    if (at == partial.words.size()) {
      partial.words.push_back(name);
      partial.items.push_back({});
    }
    partial.items.own()[at] = std::move(*typed);
  }
  return partial;
}

Value Evaluator::runtimeMember(const ast::Member& expr, const Value& object) {
  return fail(diag::no_member, expr.member.range, kindName(object), expr.member.text);
}
Value Evaluator::skip(const ast::Skip& expr) { return fail(diag::unknown_at_compile_time, expr.range, "a gate"); }
Value Evaluator::oldValue(const ast::Old& expr) {
  return fail(diag::not_there_yet, expr.range, "the value before (`~`) outside a process is");
}
// Those that override these keep what they are given.
// NOLINTBEGIN(performance-unnecessary-value-param)
Value Evaluator::applyProcess(const ast::Expr& use, const Value& callee, Arguments) { return notCallable(use, callee); }
bool Evaluator::assignBuffer(Local&, Value, SrcRange) { return false; }
void Evaluator::naming(const ast::Expr&, std::string) {}
// NOLINTEND(performance-unnecessary-value-param)
Value Evaluator::enumerator(const ast::Enumerator& expr) { return Value::string(expr.name); }
ExprId Evaluator::equalWords(const Value&, const Value&) { return kNoExpr; }
std::optional<Value> Evaluator::specialCall(std::string_view, const ast::Call&) { return std::nullopt; }
bool Evaluator::exitStatement(const ast::Exit& statement) {
  fail(diag::unknown_at_compile_time, statement.range, "an exit");
  return false;
}
bool Evaluator::weightStatement(const ast::WeightStmt& statement) {
  fail(diag::wrong_kind, statement.range, "a weight", "an operator, block or network around it", "none");
  return false;
}
std::size_t Evaluator::enterTurn(const ast::For&, std::size_t) { return 1; }
bool Evaluator::leaveTurn(const ast::For&) { return true; }
std::string Evaluator::givenName(const ast::Expr&) const { return {}; }
std::optional<Value> Evaluator::specialName(std::string_view) { return std::nullopt; }
std::optional<std::vector<Value>> Evaluator::shapeOf(const Value&) { return std::nullopt; }
std::optional<Value> Evaluator::elementAt(const Value&, ExprId) { return std::nullopt; }

bool Evaluator::require(Requirement kind, ExprId condition, const ast::Expr& text, SrcRange use, std::string_view subject,
                        const std::string& message) {
  (void)subject;
  const std::optional<Rational> here = peek(condition);
  if (!here || here->num != 0) return here.has_value();
  if (kind == Requirement::Assert) {
    sink.report(diag::assertion_failed, use, message.empty() ? pool.str(condition) : message).label(text.range, "this is false");
  }
  return false;
}

}  // namespace tbem::sema
