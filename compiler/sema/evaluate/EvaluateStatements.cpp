// Statements of functions and bodies. `false` ends a body: a `return`, or a mistake that was reported.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

namespace tbem::sema {

bool Evaluator::executeBlock(const ast::Block& block) {
  const std::size_t mark = frame->locals.size();
  bool goOn = true;
  for (const ast::Stmt* statement : block) {
    goOn = execute(*statement);
    if (!goOn) break;
  }
  frame->locals.resize(mark);
  return goOn;
}

namespace {
/// How many values a tuple of names takes from it.
std::size_t partsOf(const Value& value) {
  return value.is(ValueKind::Tuple) || value.is(ValueKind::List) ? value.items.size() : 1;
}
}  // namespace

bool Evaluator::execute(const ast::Stmt& statement) {
  switch (statement.kind) {
    case ast::NodeKind::Let: {
      const auto& let = ast::cast<ast::Let>(statement);
      if (!let.pattern.isTuple) naming(*let.value, let.pattern.names.front().text);
      Value value = evaluate(*let.value);
      if (value.isPoison()) return false;
      const auto define = [&](const ast::Name& name, Value one) {
        frame->define(name.text, std::move(one), name.range);
        frame->locals.back().isVar = let.isVar;
      };
      if (!let.pattern.isTuple) {
        define(let.pattern.names.front(), std::move(value));
        return true;
      }
      if (value.items.size() != let.pattern.names.size()) {
        fail(diag::parts_differ, let.pattern.range, let.pattern.names.size(), partsOf(value));
        return false;
      }
      for (std::size_t i = 0; i < value.items.size(); ++i) define(let.pattern.names[i], value.items[i]);
      return true;
    }
    case ast::NodeKind::Assign:
      return executeAssign(ast::cast<ast::Assign>(statement));
    case ast::NodeKind::For:
      return executeFor(ast::cast<ast::For>(statement));
    case ast::NodeKind::IfStmt: {
      const auto& branch = ast::cast<ast::IfStmt>(statement);
      const Value condition = evaluate(*branch.condition);
      const std::optional<bool> known = forceBool(condition, "a condition", branch.condition->range);
      if (!known) return false;
      return executeBlock(*known ? branch.then : branch.otherwise);
    }
    case ast::NodeKind::Return: {
      const auto& done = ast::cast<ast::Return>(statement);
      frame->result = done.value != nullptr ? evaluate(*done.value) : Value::none();
      frame->returnedText = done.value;
      frame->returned = true;
      return false;
    }
    case ast::NodeKind::Assert: {
      const auto& claim = ast::cast<ast::Assert>(statement);
      const Value condition = evaluate(*claim.condition);
      if (condition.isPoison()) return false;
      if (!condition.is(ValueKind::Bool)) {
        wrongKind(claim.condition->range, "an assertion", "a bool", condition);
        return false;
      }
      std::string message;
      if (claim.message != nullptr) {
        const Value text = evaluate(*claim.message);
        if (!text.is(ValueKind::String)) {
          wrongKind(claim.message->range, "an assertion's message", "a string", text);
          return false;
        }
        message = text.text();
      }
      return require(Requirement::Assert, condition.expr, *claim.condition, claim.range,
                     frame->decl != nullptr ? frame->decl->name.text : "", message);
    }
    case ast::NodeKind::Exit:
      return exitStatement(ast::cast<ast::Exit>(statement));
    case ast::NodeKind::WeightStmt:
      return weightStatement(ast::cast<ast::WeightStmt>(statement));
    default:
      return false;
  }
}

bool Evaluator::executeFor(const ast::For& loop) {
  const std::optional<SharedVector<Value>> items = elements(evaluate(*loop.domain), loop.domain->range);
  if (!items) return false;
  for (std::size_t turn = 0; turn < items->size(); ++turn) {
    const std::size_t mark = frame->locals.size();
    frame->define(loop.variable.text, (*items)[turn], loop.variable.range);
    bool goOn = true;
    for (std::size_t times = enterTurn(loop, turn); times > 0 && goOn; --times) goOn = executeBlock(loop.body);
    goOn = leaveTurn(loop) && goOn;
    frame->locals.resize(mark);
    if (!goOn) return false;
  }
  return true;
}

bool Evaluator::assignOne(const ast::Name& name, Value value) {
  Local* local = frame->find(name.text);
  if (local == nullptr) {
    // A name of the top level is no variable.
    const Resolved other = program.resolve(*frame->module, name.text);
    (void)meaningOf(name, other);  // says where it is unknown
    if (other) fail(diag::assign_to_let, name.range, name.text);
    return false;
  }
  if (local->isBuffer) return assignBuffer(*local, std::move(value), name.range);
  if (!local->isVar) {
    Diagnostic& d = sink.report(diag::assign_to_let, name.range, name.text);
    if (local->range.valid()) d.label(local->range, "bound here");
    return false;
  }
  local->value = std::move(value);
  return true;
}

bool Evaluator::executeAssign(const ast::Assign& statement) {
  Value value = evaluate(*statement.value);
  if (value.isPoison()) return false;
  if (!statement.pattern.isTuple) return assignOne(statement.pattern.names.front(), std::move(value));
  if (value.items.size() != statement.pattern.names.size()) {
    fail(diag::parts_differ, statement.pattern.range, statement.pattern.names.size(), partsOf(value));
    return false;
  }
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (!assignOne(statement.pattern.names[i], value.items[i])) return false;
  }
  return true;
}

}  // namespace tbem::sema
