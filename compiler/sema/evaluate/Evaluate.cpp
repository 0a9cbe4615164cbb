// Names, members, indices, conditions: the heart of the evaluator.
#include "compiler/sema/evaluate/Evaluator.h"

#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Suggest.h"
#include "compiler/support/Units.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tbem::sema {

namespace {
constexpr int kMaxDepth = 400;

/// Counts nested evaluations while it lives.
class Nest {
public:
  explicit Nest(int& depth) : depth(depth) { ++depth; }
  ~Nest() { --depth; }
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

private:
  int& depth;
};
}  // namespace

std::uint64_t LocalName::headOf(std::string_view text) {
  static_assert(std::endian::native == std::endian::little);
  const auto read = [&](auto word, std::size_t at) {
    std::memcpy(&word, text.data() + at, sizeof word);
    return std::uint64_t{word};
  };
  const std::size_t size = text.size();
  // Two words that may overlap, of which both hold the same bytes there.
  const auto halves = [&](auto word) {
    const std::size_t second = size - sizeof word;
    return read(word, 0) | read(word, second) << (8 * second);
  };
  if (size >= sizeof(std::uint64_t)) return read(std::uint64_t{}, 0);
  if (size >= sizeof(std::uint32_t)) return halves(std::uint32_t{});
  if (size >= sizeof(std::uint16_t)) return halves(std::uint16_t{});
  return size == 0 ? 0 : static_cast<unsigned char>(text.front());
}

Local* Frame::find(std::string_view name) {
  if (name.empty()) return nullptr;
  const LocalName sought(name);
  const auto found = std::find_if(locals.rbegin(), locals.rend(), [&](const Local& local) { return local.name.is(sought); });
  return found != locals.rend() ? &*found : nullptr;
}

void Frame::define(std::string_view name, Value value, SrcRange range) {
  Local& local = locals.emplace_back();
  local.name = name;
  local.value = std::move(value);
  local.range = range;
}

Value Evaluator::wrongKind(SrcRange range, const std::string& who, const std::string& wants, const Value& found) {
  if (found.isPoison()) return {};
  return fail(diag::wrong_kind, range, who, wants, kindName(found));
}

void Evaluator::addLevels(Diagnostic& diagnostic, ExprId on) {
  for (const SymbolId symbol : pool.symbolsOf(on)) {
    const auto at = static_cast<std::size_t>(symbol);
    if (at < assignment.size() && assignment[at]) diagnostic.level(pool[symbol].name, assignment[at]->str());
  }
}

Diagnostic* Evaluator::told(Diag kind, SrcRange range) const {
  return sink.find([&](const Diagnostic& one) { return one.kind == kind && one.range == range; });
}

Value Evaluator::evaluateIn(const Module& module, const ast::Expr& expr, std::vector<Local> names) {
  Frame fresh;
  fresh.module = &module;
  fresh.locals = std::move(names);
  Frame* const before = frame;
  frame = &fresh;
  Value value = evaluate(expr);
  frame = before;
  return value;
}

Value Evaluator::evaluate(const ast::Expr& expr) {
  const Nest nest(depth);
  if (depth > kMaxDepth || ++steps > kMaxSteps) {
    if (steps > kMaxSteps + kMaxDepth) return {};  // told once
    const std::string name = frame->decl != nullptr ? frame->decl->name.text : "this";
    const bool deep = steps <= kMaxSteps;
    steps = kMaxSteps + kMaxDepth;
    return deep ? fail(diag::evaluation_too_deep, expr.range, name, kMaxDepth)
                : fail(diag::too_many_steps, expr.range, name, kMaxSteps);
  }
  switch (expr.kind) {
    case ast::NodeKind::Number:
      return evaluateNumber(ast::cast<ast::Number>(expr));
    case ast::NodeKind::Unit:
      return evaluateUnit(ast::cast<ast::Unit>(expr));
    case ast::NodeKind::String:
      return Value::string(ast::cast<ast::String>(expr).value);
    case ast::NodeKind::Enumerator:
      return enumerator(ast::cast<ast::Enumerator>(expr));
    case ast::NodeKind::Bool:
      return truth(ast::cast<ast::Bool>(expr).value);
    case ast::NodeKind::NameRef:
      return evaluateName(ast::cast<ast::NameRef>(expr));
    case ast::NodeKind::Member:
      return evaluateMember(ast::cast<ast::Member>(expr));
    case ast::NodeKind::Index:
      return evaluateIndex(ast::cast<ast::Index>(expr));
    case ast::NodeKind::Call:
      return evaluateCall(ast::cast<ast::Call>(expr), nullptr);
    case ast::NodeKind::Unary:
      return evaluateUnary(ast::cast<ast::Unary>(expr));
    case ast::NodeKind::Binary:
      return evaluateBinary(ast::cast<ast::Binary>(expr));
    case ast::NodeKind::IfExpr:
      return evaluateIf(ast::cast<ast::IfExpr>(expr));
    case ast::NodeKind::List:
      return evaluateItems(expr, ast::cast<ast::List>(expr).items, ValueKind::List);
    case ast::NodeKind::Tuple:
      return evaluateItems(expr, ast::cast<ast::Tuple>(expr).items, ValueKind::Tuple);
    case ast::NodeKind::Set:
      return evaluateItems(expr, ast::cast<ast::Set>(expr).items, ValueKind::Set);
    case ast::NodeKind::Record:
      return evaluateRecord(ast::cast<ast::Record>(expr));
    case ast::NodeKind::Comprehension:
      return evaluateComprehension(ast::cast<ast::Comprehension>(expr));
    case ast::NodeKind::Range:
      return evaluateRange(ast::cast<ast::Range>(expr));
    case ast::NodeKind::Quantifier:
      return evaluateQuantifier(ast::cast<ast::Quantifier>(expr));
    case ast::NodeKind::Pipe:
      return evaluatePipe(ast::cast<ast::Pipe>(expr));
    case ast::NodeKind::Skip:
      return skip(ast::cast<ast::Skip>(expr));
    case ast::NodeKind::Old:
      return oldValue(ast::cast<ast::Old>(expr));
    case ast::NodeKind::Splice:
      return fail(diag::wrong_kind, expr.range, "`..`", "a list or a shape around it", "none");
    default:
      return {};  // ast::Error: told by the parser
  }
}

// ---- Names ------------------------------------------------------------------------------------------------------------

std::vector<std::string> Evaluator::visibleNames() const {
  std::vector<std::string> names = program.names(*frame->module);
  for (const Local& local : frame->locals) names.emplace_back(local.name);
  return names;
}

Resolved Evaluator::resolve(const ast::NameRef& name) {
  KnownName& known = knownNames[&name];
  if (known.module != frame->module) known = {frame->module, program.resolve(*frame->module, name.name.text)};
  return known.meaning;
}

Value Evaluator::evaluateName(const ast::NameRef& expr) {
  const ast::Name& name = expr.name;
  if (const Local* local = frame->find(name.text)) return local->value;
  if (std::optional<Value> special = specialName(name.text)) return std::move(*special);
  return meaningOf(name, resolve(expr));
}

/// A name that no local bears.
Value Evaluator::meaningOf(const ast::Name& name, const Resolved& found) {
  if (found) {
    if (found.decl == nullptr) {
      Value value = Value::named(ValueKind::Module, name.text);
      value.module = found.module;
      return value;
    }
    if (found.decl->kind == ast::NodeKind::Constant) return evaluateConstant(found, name);
    return Value::declaration(found);
  }
  if (const int type = dtypeIndex(name.text); type >= 0)
    return Value::indexed(ValueKind::DType, static_cast<std::uint32_t>(type));
  if (isBuiltin(name.text)) return Value::named(ValueKind::Builtin, name.text);
  if (name.text == "std") return Value::named(ValueKind::Module, name.text);
  std::vector<std::string> own = ownNames(*frame->module);
  for (const Local& local : frame->locals) own.emplace_back(local.name);
  suggest(sink.report(diag::unknown_name, name.range, name.text), name, visibleNames(), own);
  return {};
}

Value Evaluator::evaluateConstant(const Resolved& what, const ast::Name& name) {
  if (const auto it = constants.find(what.decl); it != constants.end()) return it->second;
  for (const ast::Decl* running : active) {
    if (running == what.decl) return fail(diag::recursive, name.range, name.text, name.text + " -> " + name.text);
  }
  active.push_back(what.decl);
  Value value = evaluateIn(*what.module, *static_cast<const ast::Constant*>(what.decl)->value, {});
  active.pop_back();
  constants.emplace(what.decl, value);
  return value;
}

Value Evaluator::evaluateMember(const ast::Member& expr) {
  const Value object = evaluate(*expr.object);
  const std::string& word = expr.member.text;
  switch (object.kind) {
    case ValueKind::Poison:
      return {};
    case ValueKind::Module: {
      if (object.module == nullptr) {
        const std::string path = object.text() + "." + word;
        Value value = Value::named(ValueKind::Module, path);
        value.module = program.find(path);
        return value.module != nullptr ? value : fail(diag::unknown_module, expr.range, path);
      }
      const Resolved found = program.member(*object.module, word, *frame->module);
      if (!found) return fail(diag::not_in_module, expr.member.range, object.text(), word);
      return found.decl->kind == ast::NodeKind::Constant ? evaluateConstant(found, expr.member) : Value::declaration(found);
    }
    case ValueKind::Record:
      for (std::size_t i = 0; i < object.words.size(); ++i) {
        if (object.words[i] == word) return object.items[i];
      }
      return fail(diag::no_member, expr.member.range, kindName(object), word);
    case ValueKind::Instance:
    case ValueKind::Tensor:
      return runtimeMember(expr, object);
    default:
      return fail(diag::no_member, expr.member.range, kindName(object), word);
  }
}

Value Evaluator::evaluateIndex(const ast::Index& expr) {
  // A list is not copied for one of its elements: a name is looked up again after the position, which may move the locals.
  const Local* const local =
      expr.object->kind == ast::NodeKind::NameRef ? frame->find(ast::cast<ast::NameRef>(*expr.object).name.text) : nullptr;
  const Value made = local == nullptr ? evaluate(*expr.object) : Value{};
  const auto number = local == nullptr ? 0 : static_cast<std::size_t>(local - frame->locals.data());
  const auto object = [&]() -> const Value& { return local == nullptr ? made : frame->locals[number].value; };
  if (object().isPoison()) return {};
  if (object().is(ValueKind::Sequence) && expr.items.size() == 1) {
    const Value position = evaluate(*expr.items.front());
    if (position.is(ValueKind::Number)) return elementOf(object(), position.expr);
    return wrongKind(expr.items.front()->range, "an index", "a number", position);
  }
  if (!object().is(ValueKind::List) && !object().is(ValueKind::Tuple)) {
    if (indexesShapes && object().is(ValueKind::Tensor) && expr.items.size() == 1) {
      const auto shape = shapeOf(object());
      const std::optional<std::int64_t> at = forceInt(evaluate(*expr.items.front()), "an index", expr.items.front()->range);
      if (!shape || !at) return {};
      if (*at >= 0 && *at < static_cast<std::int64_t>(shape->size())) return (*shape)[static_cast<std::size_t>(*at)];
      return fail(diag::index_out_of_range, expr.items.front()->range, *at, "shape", shape->size());
    }
    if (!object().is(ValueKind::Tensor)) return wrongKind(expr.object->range, "an index", "a list or a tuple", object());
    sink.report(diag::wrong_kind, expr.object->range, "an index", "a list or a tuple", kindName(object()))
        .note("`slice`, `split` and `gather` take parts of a tensor");
    return {};
  }
  if (expr.items.size() != 1) return fail(diag::wrong_kind, expr.range, "an index of a list", "one number", "several");
  const Value position = evaluate(*expr.items.front());
  if (object().is(ValueKind::List) && position.is(ValueKind::Number) && !pool.constantValue(position.expr)) {
    if (std::optional<Value> element = elementAt(object(), position.expr)) return *element;
  }
  const std::optional<std::int64_t> at = forceInt(position, "an index", expr.items.front()->range);
  if (!at) return {};
  const auto length = static_cast<std::int64_t>(object().items.size());
  if (*at < 0 || *at >= length) {
    return failAt(position.expr, diag::index_out_of_range, expr.items.front()->range, *at,
                  object().is(ValueKind::List) ? "list" : "tuple", length);
  }
  return object().items[static_cast<std::size_t>(*at)];
}

Value Evaluator::evaluateIf(const ast::IfExpr& expr) {
  const std::string name = givenName(expr);
  const Value condition = evaluate(*expr.condition);
  if (condition.isPoison()) return {};
  if (condition.isRuntime()) return runtimeSelect(expr, condition);
  if (keepsArms() && condition.is(ValueKind::Bool) && !pool.constantValue(condition.expr))
    return evaluateArms(expr, condition.expr);
  const std::optional<bool> known = forceBool(condition, "a condition", expr.condition->range);
  if (!known) return {};
  const ast::Expr* const arm = *known ? expr.then : expr.otherwise;
  if (arm == nullptr) return integerValue(0);
  if (!name.empty()) naming(*arm, name);
  return evaluate(*arm);
}

/// Both arms, of which the condition picks one where its unknowns have values.
Value Evaluator::evaluateArms(const ast::IfExpr& expr, ExprId condition) {
  const Value then = evaluate(*expr.then);
  const Value otherwise = expr.otherwise != nullptr ? evaluate(*expr.otherwise) : integerValue(0);
  if (then.isPoison() || otherwise.isPoison()) return {};
  if (!then.is(ValueKind::Number) && !then.is(ValueKind::Bool) && !then.is(ValueKind::Word))
    return wrongKind(expr.then->range, "an arm", "a number or a bool", then);
  if (otherwise.kind != then.kind) return wrongKind(expr.otherwise->range, "the other arm", kindName(then), otherwise);
  if (otherwise.unit != then.unit) return wrongKind(expr.otherwise->range, "the other arm", "the same unit", otherwise);
  Value made = then;
  made.expr = pool.make(ExprOp::Select, condition, then.expr, otherwise.expr);
  made.isReal = then.isReal || otherwise.isReal;
  madeArms(made.expr);
  return made;
}

// ---- The row at hand --------------------------------------------------------------------------------------------------

std::optional<Rational> Evaluator::peek(ExprId expr) {
  if (peekError(expr) != EvalError::None) return std::nullopt;
  return shadow[expr];
}

EvalError Evaluator::peekError(ExprId expr) {
  if (shadow.value.size() < pool.size()) pool.extend(shadow, assignment);
  return shadow.errorOf(expr);
}

std::optional<Rational> Evaluator::force(const Value& value, SrcRange range) {
  if (value.isPoison()) return std::nullopt;
  if (!value.is(ValueKind::Number) && !value.is(ValueKind::Bool)) {
    if (value.isRuntime())
      fail(diag::unknown_at_compile_time, range, "this");
    else
      wrongKind(range, "this", "a number", value);
    return std::nullopt;
  }
  if (const auto constant = pool.constantValue(value.expr)) return constant;
  for (const SymbolId symbol : pool.symbolsOf(value.expr)) {
    bool known = false;
    for (const SymbolId other : forced) known = known || other == symbol;
    if (!known) forced.push_back(symbol);
  }
  const std::optional<Rational> found = peek(value.expr);
  if (!found) {
    if (peekError(value.expr) == EvalError::Unassigned)
      fail(diag::unknown_at_compile_time, range, "this");
    else
      reportArithmetic(value.expr, range, range, value.expr);
  }
  return found;
}

std::optional<std::int64_t> Evaluator::forceInt(const Value& value, const std::string& what, SrcRange range) {
  const std::optional<Rational> found = force(value, range);
  if (!found) return std::nullopt;
  if (found->isInt()) return found->num;
  notWhole(value.expr, what, *found, range);
  return std::nullopt;
}

void Evaluator::notWhole(ExprId expr, const std::string& what, const Rational& found, SrcRange range) {
  if (found.isBeyondWhole())
    failAt(expr, diag::number_overflow, range, found.str(), kWholeRange);
  else
    failAt(expr, diag::not_whole, range, what, found.str());
}

std::optional<bool> Evaluator::forceBool(const Value& value, const std::string& what, SrcRange range) {
  if (value.isPoison()) return std::nullopt;
  if (!value.is(ValueKind::Bool)) {
    if (value.isRuntime())
      fail(diag::unknown_at_compile_time, range, what);
    else
      wrongKind(range, what, "a bool", value);
    return std::nullopt;
  }
  const std::optional<Rational> found = force(value, range);
  return found ? std::optional<bool>(found->num != 0) : std::nullopt;
}

}  // namespace tbem::sema
