// Methods: what the program says of each, over what it is without that.
#include "compiler/graph/perturb/ReadMethod.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/sema/Suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

// Arguments of methods.
using Words = std::vector<std::string_view>;
const Words kWalk{"steps", "rate", "look", "objective", "temperature", "label"};
const Words kUncertain{"steps", "rate", "look", "label"};
const Words kAdam{"steps", "rate", "look", "distance", "label"};
const Words kClosed{"steps", "rate", "look", "temperature", "power", "distance", "label"};
const Words kAsk{"steps", "share"};
const Words kLearn{"epochs", "examples", "rate", "optimizer", "objective", "temperature", "place"};
const Words kGenerate{"network",   "epochs",      "examples", "rate",          "optimizer",
                      "objective", "temperature", "place",    "discriminator", "adversarial"};

/// What a method is where the program says no more. A new one is a row here, with its operators in stdlib/nn/perturbation.tbem
/// and a line in docs/perturb.md.
struct MethodForm {
  std::string_view word;
  Objective objective;
  std::string_view move;  ///< the operator of std.nn without its norm: "descend" is `descend_linf` or `descend_l2`
  std::string_view generator;
  std::uint32_t states;
  std::int64_t steps, look, epochs;
  Rational rate;  ///< of each step or of the optimiser; 0: a tenth of the radius
  Words parameters;
};

// clang-format off
const std::array<MethodForm, 9> kForms{{
    {"random",    Objective::None,        "random",  "",                0,   1, 0, 0, {0},       {}},
    {"uniform",   Objective::None,        "uniform", "",                0,   1, 0, 0, {0},       {}},
    {"gradient",  Objective::Flops,       "descend", "",                0,  30, 5, 0, {0},       kWalk},
    {"deepsloth", Objective::Uncertainty, "descend", "",                0,  30, 0, 0, {2, 1000}, kUncertain},
    {"ilfo",      Objective::Margins,     "adam",    "",                3, 300, 0, 0, {1, 100},  kAdam},
    {"gradmdm",   Objective::Closed,      "adam",    "",                3, 100, 0, 0, {1, 100},  kClosed},
    {"blackbox",  Objective::None,        "square",  "",                1, 1000, 1, 0, {0},      kAsk},
    {"universal", Objective::Flops,       "placed",  "one_change",      0,   1, 0, 3, {1, 10},   kLearn},
    {"generator", Objective::Flops,       "placed",  "small_generator", 0,   1, 0, 3, {1, 1000}, kGenerate},
}};
// clang-format on

/// Reads the arguments of one method. One class: they are checked against one form, and fill one spec.
class ArgumentReader {
public:
  ArgumentReader(ClauseReader& reader, const MethodForm& form, bool keepLabel, MethodSpec& method)
      : e(reader), form(form), keepLabel(keepLabel), method(method) {}

  bool projects = false;  ///< `place: projected`

  void read(const ast::Argument& given) {
    const bool isNetwork = given.name.empty() && form.word == "generator" && !given.rest;
    const std::string name = isNetwork ? "network" : given.name.text;
    if (std::ranges::find(form.parameters, name) == form.parameters.end() || given.value == nullptr) {
      Diagnostic& d = e.sink.report(diag::unknown_argument, given.range, form.word, name.empty() ? e.text(given.range) : name);
      if (form.parameters.empty())
        d.note("as a method it has no parameters");
      else
        d.note(fmt::format("as a method it has: `{}`", fmt::join(form.parameters, "`, `")));
      return;
    }
    if (const auto [first, fresh] = seen.emplace(name, given.range); !fresh) {
      e.sink.report(diag::argument_twice, given.range, name).label(first->second, "given here first");
      return;
    }
    const ast::Expr& value = *given.value;
    if (name == "steps")
      method.steps = e.whole(name, value, 1).value_or(1);
    else if (name == "look")
      method.look = e.whole(name, value, 0).value_or(0);
    else if (name == "epochs")
      method.epochs = e.whole(name, value, 1).value_or(1);
    else if (name == "examples")
      method.examples = e.whole(name, value, 1);
    else if (name == "network")
      method.search.through = &value;
    else if (name == "discriminator")
      method.search.discriminator = &value;
    else if (name == "optimizer")
      method.optimizer = &value;
    else if (name == "objective")
      readObjective(value);
    else if (name == "place")
      readPlace(value);
    else if (name == "share")
      method.search.covered = readShare(e, name, value, "an image").value_or(method.search.covered);
    else
      readWeight(name, value);
  }

private:
  void readObjective(const ast::Expr& expr) {
    const std::string name = calledWord(&expr).name;
    if (name == "flops")
      method.search.objective = Objective::Flops;
    else if (name == "margins")
      method.search.objective = Objective::Margins;
    else if (name == "closed")
      method.search.objective = Objective::Closed;
    else if (name == "uncertainty")
      method.search.objective = Objective::Uncertainty;
    else if (name == "gates")
      method.search.objective = Objective::Gates;
    else
      e.fail(diag::design_clause_value, expr.range, "objective", "`flops`, `margins`, `closed`, `uncertainty` or `gates`",
             "`" + e.text(expr) + "`");
  }

  /// How what a network gives becomes a point: brought to the radius, or added and projected.
  void readPlace(const ast::Expr& expr) {
    const std::string name = calledWord(&expr).name;
    if (name == "projected")
      projects = true;
    else if (name != "scaled")
      e.fail(diag::design_clause_value, expr.range, "place", "`scaled` or `projected`", "`" + e.text(expr) + "`");
  }

  /// A real parameter: above 0 where it divides or moves, else from 0.
  void readWeight(const std::string& name, const ast::Expr& expr) {
    const Value given = e.value(expr);
    const auto number = e.numberOf(given);
    const bool positive = name == "rate" || name == "temperature" || name == "power";
    if (!number || number->num < 0 || (positive && number->num == 0)) {
      if (!given.isPoison())
        e.fail(diag::design_clause_value, expr.range, name, positive ? "a number above 0" : "a number from 0", e.text(expr));
      return;
    }
    if (name == "label" && !keepLabel) {
      e.fail(diag::design_clause_value, expr.range, name, "a weight where there is a clause `keep label`", e.text(expr));
      return;
    }
    SearchSpec& search = method.search;
    (name == "rate"          ? search.rate
     : name == "temperature" ? search.temperature
     : name == "power"       ? search.power
     : name == "adversarial" ? search.adversarial
     : name == "distance"    ? search.distance
                             : search.keep) = *number;
  }

  ClauseReader& e;
  const MethodForm& form;
  bool keepLabel;
  MethodSpec& method;
  std::map<std::string, SrcRange> seen;
};

/// As `calledWord`; a factor whose level is a text stands for that word.
CalledWord wordIn(const ClauseReader& e, const ast::Expr* expr) {
  CalledWord word = calledWord(expr);
  const auto factor = std::ranges::find_if(e.names, [&](const sema::Local& local) { return local.name == word.name; });
  if (factor != e.names.end() && factor->value.is(ValueKind::String)) word.name = factor->value.text();
  return word;
}

void unknownMethod(ClauseReader& e, const ast::Argument& item, const std::string& name) {
  std::vector<std::string> names;
  names.reserve(std::size(kForms));
  for (const MethodForm& known : kForms) names.emplace_back(known.word);
  Diagnostic& d = e.sink.report(diag::unknown_method, item.range, name.empty() ? e.text(item.range) : name);
  const std::string near = nearest(name, names);
  if (!near.empty())
    d.note("did you mean `" + near + "`?");
  else
    d.note(fmt::format("there are {}", fmt::join(names, ", ")));
}

}  // namespace

CalledWord calledWord(const ast::Expr* expr) {
  const auto* call = expr != nullptr ? ast::dynCast<ast::Call>(expr) : nullptr;
  const auto* name = expr != nullptr ? ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : expr) : nullptr;
  return {name != nullptr ? name->name.text : "", call};
}

void readNorm(ClauseReader& e, const ast::Expr& expr, Ball& into) {
  const auto [name, call] = wordIn(e, &expr);
  const bool one = call != nullptr && call->arguments.size() == 1 && call->arguments.front().value != nullptr &&
                   (call->arguments.front().name.empty() || call->arguments.front().name.text == "radius");
  const Value given = one ? e.value(*call->arguments.front().value) : Value{};
  const auto radius = e.numberOf(given);
  if ((name == "linf" || name == "l2") && radius && radius->num > 0) {
    into.norm = name == "l2" ? Norm::L2 : Norm::Linf;
    into.radius = *radius;
  } else if (!one || !given.isPoison()) {
    e.fail(diag::design_clause_value, expr.range, "norm", "`linf(0.03)` or `l2(1)`, with a radius above 0",
           "`" + e.text(expr) + "`");
  }
}

void readBox(ClauseReader& e, const ast::Expr& expr, Ball& into) {
  const Value list = e.value(expr);
  if (list.isPoison()) return;
  const bool two = list.is(ValueKind::List) && list.items.size() == 2;
  const auto low = two ? e.numberOf(list.items[0]) : std::nullopt;
  const auto high = two ? e.numberOf(list.items[1]) : std::nullopt;
  if (low && high && compare(*low, *high) < 0) {
    into.low = *low;
    into.high = *high;
  } else {
    e.fail(diag::design_clause_value, expr.range, "box", "the least and the largest number of a valid input, such as `[0, 1]`",
           "`" + e.text(expr) + "`");
  }
}

std::optional<MethodSpec> readMethod(ClauseReader& e, const ast::Argument& item, const MethodPlace& place) {
  const auto [name, call] = wordIn(e, item.name.empty() ? item.value : nullptr);
  const auto form = std::ranges::find(kForms, std::string_view(name), &MethodForm::word);
  if (form == kForms.end()) {
    unknownMethod(e, item, name);
    return std::nullopt;
  }
  const std::size_t errors = e.sink.errorCount();
  MethodSpec method;
  method.word = name;
  method.text = e.text(item.range);
  method.range = item.range;
  method.steps = form->steps;
  method.look = form->look;
  method.epochs = form->epochs;
  SearchSpec& search = method.search;
  const Ball& ball = place.ball;
  const bool walks = form->generator.empty() && form->objective != Objective::None;
  search.range = item.range;
  search.objective = form->objective;
  search.generator = form->generator;
  search.path = fmt::format("{}_{}", name, place.number);
  search.states = form->states;
  search.proposes = name == "blackbox";
  // Of GradMDM's program: 100 of the distance to 150 000 of the gates.
  search.distance = name == "ilfo" ? Rational{1, 100} : name == "gradmdm" ? Rational{1, 1500} : Rational{0};
  search.covered = ball.norm == Norm::L2 ? Rational{1, 10} : Rational{1, 20};  // as its authors have them
  // A weight of 1 makes every exit surer of the prediction, and points cheaper than their examples.
  if (place.keepLabel && walks) search.keep = {3, 100};
  search.rate = form->rate.num != 0 ? form->rate : mul(ball.radius, {1, 10}).value_or(ball.radius);
  ArgumentReader arguments(e, *form, place.keepLabel, method);
  if (call != nullptr) {
    for (const ast::Argument& given : call->arguments) arguments.read(given);
  }
  search.move = fmt::format("{}_{}", arguments.projects ? "projected" : form->move, ball.norm == Norm::L2 ? "l2" : "linf");
  if (compare(search.adversarial, {1}) != 0 && search.discriminator == nullptr)
    e.fail(diag::design_clause_value, item.range, "adversarial", "a `discriminator` beside it", "none");
  search.parameters = {{"radius", ball.radius}, {"low", ball.low}, {"high", ball.high}};
  if (walks) search.parameters.emplace_back("rate", search.rate);
  if (search.proposes) {
    search.parameters.emplace_back("steps", Rational::of(method.steps));
    search.parameters.emplace_back("share", search.covered);
  }
  return e.sink.errorCount() == errors ? std::optional<MethodSpec>(std::move(method)) : std::nullopt;
}

std::optional<Rational> readShare(ClauseReader& e, const std::string& name, const ast::Expr& expr, const char* of) {
  const Value given = e.value(expr);
  const auto share = e.numberOf(given);
  if (share && share->num > 0 && compare(*share, {1}) <= 0) return share;
  if (!given.isPoison())
    e.fail(diag::design_clause_value, expr.range, name, fmt::format("a share of {}, above 0 and at most 1", of), e.text(expr));
  return std::nullopt;
}

const ast::Argument* readMoving(ClauseReader& e, const ast::Clause& clause, Ball& ball, const char* items, const OwnItem& own) {
  const std::string& word = clause.word.text;
  const ast::Argument* method = nullptr;
  std::map<std::string, SrcRange> seen;
  for (const ast::Argument& item : clause.items) {
    const std::string& name = item.name.text;
    const auto [first, fresh] = seen.emplace(name, item.range);
    if (!fresh && !name.empty()) {
      e.sink.report(diag::argument_twice, item.range, name).label(first->second, "given here first");
    } else if (name == "norm" && item.value != nullptr) {
      readNorm(e, *item.value, ball);
    } else if (name == "box" && item.value != nullptr) {
      readBox(e, *item.value, ball);
    } else if (name.empty() && method == nullptr) {
      method = &item;
    } else if (name.empty() || item.value == nullptr || !own(item)) {
      e.fail(diag::design_clause_value, item.range, word, items, e.text(item.range));
    }
  }
  if (method == nullptr)
    e.fail(diag::design_clause_value, clause.range, word, fmt::format("a method: `{} gradient(steps: 5)`", word), "none");
  return method;
}

std::optional<Hardening> readHardening(ClauseReader& e, const ast::Clause& clause) {
  const std::size_t errors = e.sink.errorCount();
  Hardening hardening;
  const auto readOwn = [&](const ast::Argument& item) {
    if (item.name.text != "share") return false;
    hardening.share = readShare(e, "share", *item.value, "the batch").value_or(hardening.share);
    return true;
  };
  const ast::Argument* method = readMoving(e, clause, hardening.ball, "one method, `norm:`, `box:` and `share:`", readOwn);
  std::optional<MethodSpec> read;
  if (method != nullptr) read = readMethod(e, *method, {.ball = hardening.ball});
  if (read && (read->epochs > 0 || read->search.proposes))
    e.fail(diag::design_clause_value, method->range, "harden",
           "a method that moves points without learning and without questions, such as `gradient`", "`" + read->word + "`");
  if (!read || e.sink.errorCount() != errors) return std::nullopt;
  hardening.method = std::move(*read);
  for (const ast::Argument& item : clause.items) hardening.text += (hardening.text.empty() ? "" : ", ") + e.text(item.range);
  return hardening;
}

}  // namespace tbem::graph
