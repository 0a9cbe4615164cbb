// How arguments meet parameters.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace tbem::sema {

namespace {
bool isTensorLike(const Value& value, const ast::Parameter* wanted) {
  if (value.isRuntime() || value.is(ValueKind::None)) return true;
  if (wanted == nullptr || wanted->type->kind != ast::NodeKind::ListType || !value.is(ValueKind::List)) return false;
  return std::all_of(value.items.begin(), value.items.end(), [](const Value& one) { return one.isRuntime(); });
}

bool wantsList(std::span<const ast::Parameter> tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const ast::Parameter& p) { return p.type->kind == ast::NodeKind::ListType; });
}

/// What is no tensor in a list that has some; null where all are or none is.
const Value* strayAmongTensors(const Value& value) {
  if (!value.is(ValueKind::List)) return nullptr;
  const auto isTensor = [](const Value& one) { return one.isRuntime(); };
  const auto stray = std::find_if_not(value.items.begin(), value.items.end(), isTensor);
  return stray != value.items.end() && std::any_of(value.items.begin(), value.items.end(), isTensor) ? &*stray : nullptr;
}

std::span<const ast::Parameter> parametersOf(const ast::Decl* decl) {
  if (const auto* callable = ast::dynCast<ast::Callable>(decl)) return callable->parameters;
  if (const auto* function = ast::dynCast<ast::Function>(decl)) return function->parameters;
  return {};
}

std::string countText(std::size_t count, const char* word) {
  return count == 0 ? std::string("no ") + word + "s" : std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}
}  // namespace

/// `...`: the enclosing declaration's parameters of the same name, where they are not given.
bool Evaluator::passRest(const Signature& signature, Arguments& arguments) {
  std::size_t byPosition = 0;
  for (std::size_t i = 0; i < arguments.list.size(); ++i) {
    const bool inTensors = arguments.separator ? i < *arguments.separator : isTensorLike(arguments.list[i].value, nullptr);
    if (arguments.list[i].name.empty() && !inTensors) ++byPosition;
  }
  const std::span<const ast::Parameter> own = parametersOf(frame->decl);
  for (std::size_t p = byPosition; p < signature.parameters.size(); ++p) {
    const std::string& name = signature.parameters[p].name.text;
    const bool declared = std::any_of(own.begin(), own.end(), [&](const ast::Parameter& one) { return one.name.text == name; });
    const bool given =
        std::any_of(arguments.list.begin(), arguments.list.end(), [&](const BoundArgument& one) { return one.name == name; });
    const Local* local = frame->find(name);
    if (declared && !given && local != nullptr && local->isParameter) {
      arguments.list.push_back({signature.parameters[p].name.text, local->value, arguments.use});
    }
  }
  return true;
}

/// What stands at a place where only a tensor is left to be given. False.
bool Evaluator::notATensor(const Signature& signature, const ast::Parameter& wanted, const BoundArgument& found) {
  const std::string who = "`" + wanted.name.text + "` of `" + std::string(signature.name) + "`";
  wrongKind(found.range, who, "a tensor", found.value);
  Diagnostic* const d = told(diag::wrong_kind, found.range);
  if (d == nullptr || !d->notes.empty()) return false;
  const bool callable = (found.value.is(ValueKind::Declaration) || found.value.is(ValueKind::Partial)) &&
                        found.value.decl->kind == ast::NodeKind::Callable;
  if (callable)
    d->note("an operator is applied to a tensor: `x |> " + found.value.decl->name.text + "`");
  else if (found.value.is(ValueKind::Number))
    d->note("a number becomes a tensor by `constant([" + print(pool, found.value) +
            "])`, which is stretched where shapes are broadcast");
  return false;
}

/// Which argument goes to which tensor and parameter.
class Evaluator::Binding {
public:
  Binding(Evaluator& on, const Signature& what, const Arguments& with, std::vector<Value>& to)
      : evaluator(on), signature(what), arguments(with), tensors(to) {
    if (what.parameters.size() > usual.size()) many.resize(what.parameters.size(), nullptr);
    given = std::span(many.empty() ? usual.data() : many.data(), what.parameters.size());
  }

  /// False after a report.
  bool run() {
    bool good = true;
    for (std::size_t i = 0; i < arguments.list.size(); ++i) {
      const BoundArgument& one = arguments.list[i];
      if (!one.name.empty())
        good = byName(one) && good;
      else if (!byPosition(one, i))
        return false;
    }
    return good;
  }

  std::span<const BoundArgument*> given;  ///< by parameter; null: none
  std::size_t nextTensor = 0, nextParameter = 0;

private:
  bool byName(const BoundArgument& one) {
    const auto named = [&](const ast::Parameter& p) { return p.name.text == one.name; };
    const auto parameter = std::find_if(signature.parameters.begin(), signature.parameters.end(), named);
    const auto tensor = std::find_if(signature.tensors.begin(), signature.tensors.end(), named);
    if (parameter != signature.parameters.end()) {
      const BoundArgument*& place = given[static_cast<std::size_t>(parameter - signature.parameters.begin())];
      const bool twice = place != nullptr;
      if (twice) evaluator.fail(diag::argument_twice, one.range, one.name);
      place = &one;
      return !twice;
    }
    if (tensor != signature.tensors.end()) {
      tensors[static_cast<std::size_t>(tensor - signature.tensors.begin())] = one.value;
      return true;
    }
    Diagnostic& d = evaluator.sink.report(diag::unknown_argument, one.range, signature.name, one.name);
    std::vector<std::string> names;
    for (const ast::Parameter& p : signature.parameters) names.push_back(p.name.text);
    if (const std::string near = nearest(one.name, names); !near.empty()) d.note("did you mean `" + near + "`?");
    return false;
  }

  bool byPosition(const BoundArgument& one, std::size_t i) {
    const ast::Parameter* wanted = nextTensor < signature.tensors.size() ? &signature.tensors[nextTensor] : nullptr;
    if (const Value* stray = strayAmongTensors(one.value); wanted != nullptr && stray != nullptr) {
      evaluator.fail(diag::wrong_kind, one.range, "`" + wanted->name.text + "` of `" + std::string(signature.name) + "`",
                     "tensors", "a list with `" + print(evaluator.pool, *stray) + "` in it");
      return false;
    }
    const bool asTensor = arguments.separator ? i < *arguments.separator : isTensorLike(one.value, wanted);
    if (asTensor && nextParameter != 0) {
      evaluator.fail(diag::tensor_after_parameter, one.range, signature.name);
      return false;
    }
    return asTensor ? toTensor(one) : toParameter(one, wanted);
  }

  bool toTensor(const BoundArgument& one) {
    while (nextTensor < tensors.size() && !tensors[nextTensor].isPoison()) ++nextTensor;
    if (nextTensor == tensors.size()) {
      Diagnostic& d =
          evaluator.sink.report(diag::too_many_arguments, one.range, signature.name, countText(tensors.size(), "tensor"));
      if (wantsList(signature.tensors))
        d.note("tensors of a list stand in brackets: `" + std::string(signature.name) + "([x, y])`");
      return false;
    }
    tensors[nextTensor++] = one.value;
    return true;
  }

  bool toParameter(const BoundArgument& one, const ast::Parameter* wanted) {
    while (nextParameter < given.size() && given[nextParameter] != nullptr) ++nextParameter;
    if (nextParameter == given.size() && wanted != nullptr && !arguments.separator)
      return evaluator.notATensor(signature, *wanted, one);
    if (nextParameter == given.size()) {
      evaluator.fail(diag::too_many_arguments, one.range, signature.name, countText(given.size(), "parameter"));
      return false;
    }
    given[nextParameter++] = &one;
    return true;
  }

  std::array<const BoundArgument*, 16> usual = {};  ///< where `given` lies, unless there are more
  std::vector<const BoundArgument*> many;
  Evaluator& evaluator;
  const Signature& signature;
  const Arguments& arguments;
  std::vector<Value>& tensors;
};

bool Evaluator::bind(const Signature& signature, Arguments& arguments, Frame& callee, std::vector<Value>& tensors) {
  if (arguments.rest) passRest(signature, arguments);
  tensors.assign(signature.tensors.size(), Value{});
  Binding binding(*this, signature, arguments, tensors);
  bool good = binding.run();
  if (!good) return false;
  const std::span<const BoundArgument*> given = binding.given;
  constexpr std::size_t kUsual = 8;  // names of dimensions and results, which come later
  if (callee.locals.capacity() == 0 && !spareLocals.empty()) {
    callee.locals = std::move(spareLocals.back());
    spareLocals.pop_back();
  }
  callee.locals.reserve(callee.locals.size() + given.size() + tensors.size() + kUsual);
  for (std::size_t p = 0; p < given.size(); ++p) {
    // A default may read a parameter that has no value.
    if (!good && given[p] == nullptr && signature.parameters[p].defaultValue != nullptr) continue;
    if (bindOne(signature, signature.parameters[p], given[p], callee, arguments.use)) continue;
    good = false;
    const auto missing = static_cast<std::size_t>(std::ranges::find_if(tensors, &Value::isPoison) - tensors.begin());
    if (given[p] == nullptr || !given[p]->name.empty() || binding.nextTensor == 0 || missing == tensors.size()) continue;
    if (Diagnostic* const d = told(diag::wrong_kind, given[p]->range))
      d->note("`" + signature.tensors[missing].name.text + "`, a tensor, is missing before it");
  }
  return good;
}

bool Evaluator::bindOne(const Signature& signature, const ast::Parameter& parameter, const BoundArgument* given, Frame& callee,
                        SrcRange use) {
  const auto define = [&](Value typed) {
    callee.define(parameter.name.text, std::move(typed), parameter.name.range);
    callee.locals.back().isParameter = true;
  };
  // A number or a truth value means the same in every call, and is brought into its declared form once.
  const bool isFixed =
      given == nullptr && parameter.defaultValue != nullptr &&
      (parameter.defaultValue->kind == ast::NodeKind::Number || parameter.defaultValue->kind == ast::NodeKind::Bool);
  if (const auto fixed = isFixed ? knownDefaults.find(parameter.defaultValue) : knownDefaults.end();
      fixed != knownDefaults.end()) {
    define(fixed->second);
    return true;
  }
  Value value;
  SrcRange range = use;
  const Module* const home = program.homeOf(signature.decl, signature.module, parameter.name.text);
  const auto evaluateAtHome = [&](const ast::Expr& expr) {
    Frame* const before = std::exchange(frame, &callee);
    const Module* const own = std::exchange(callee.module, home);
    Value result = evaluate(expr);
    callee.module = own;
    frame = before;
    return result;
  };
  if (given != nullptr) {
    value = given->value;
    range = given->range;
  } else if (parameter.defaultValue != nullptr) {
    value = evaluateAtHome(*parameter.defaultValue);
  } else {
    Diagnostic& d = sink.report(diag::missing_argument, use, signature.name, parameter.name.text);
    d.label(parameter.range, "declared here without a default");
    return false;
  }
  if (value.isPoison()) return false;
  std::optional<Value> typed = coerce(*parameter.type, std::move(value), {parameter.name.text, signature.name}, range);
  if (!typed) {
    Diagnostic* const d = given != nullptr && given->name.empty() ? told(diag::wrong_kind, range) : nullptr;
    if (d != nullptr && d->labels.empty()) d->label(parameter.range, "this is the next parameter");
    return false;
  }
  if (isFixed) knownDefaults.emplace(parameter.defaultValue, *typed);
  define(std::move(*typed));
  if (parameter.domain == nullptr || given == nullptr) return true;
  const Value domain = evaluateAtHome(*parameter.domain);
  return checkDomain(signature, parameter, domain, callee.locals.back().value, range);
}

bool Evaluator::checkDomain(const Signature& signature, const ast::Parameter& parameter, const Value& domain, const Value& value,
                            SrcRange range) {
  if (domain.isPoison()) return false;
  ExprId inside = pool.constant(0);
  if (domain.is(ValueKind::Range) && value.is(ValueKind::Number)) {
    inside = insideRange(domain, value.expr);
  } else {
    for (const Value& one : domain.items) {
      const ExprId same = equal(value, one);
      if (same != kNoExpr) inside = pool.make(ExprOp::Or, inside, same);
    }
  }
  const std::optional<Rational> here = peek(inside);
  if (here && here->num == 0) {
    std::string found = print(pool, value);
    if (const auto number = value.is(ValueKind::Number) ? peek(value.expr) : std::nullopt) found = number->str();
    Diagnostic& d = sink.report(diag::outside_domain, range, parameter.name.text, print(pool, domain), found);
    d.label(parameter.range, "declared here");
    addLevels(d, inside);
    return false;
  }
  return require(Requirement::Domain, inside, *parameter.domain, range, signature.name, "");
}

}  // namespace tbem::sema
