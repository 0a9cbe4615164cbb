// A perturbation: its clauses and methods, and the experiments that its graphs are built from.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/perturb/Perturbation.h"
#include "compiler/graph/read/ClauseReader.h"
#include "compiler/graph/read/ReadDataset.h"
#include "compiler/sema/Suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

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
  std::vector<std::string_view> parameters;
};

const std::vector<MethodForm>& methodForms() {
  using enum Objective;
  static const std::vector<MethodForm> list = {
      {"random", None, "random", "", 0, 1, 0, 0, {0}, {}},
      {"uniform", None, "uniform", "", 0, 1, 0, 0, {0}, {}},
      {"gradient", Flops, "descend", "", 0, 30, 5, 0, {0}, {"steps", "rate", "look", "objective", "temperature", "label"}},
      {"deepsloth", Uncertainty, "descend", "", 0, 30, 0, 0, {2, 1000}, {"steps", "rate", "look", "label"}},
      {"ilfo", Margins, "adam", "", 3, 300, 0, 0, {1, 100}, {"steps", "rate", "look", "distance", "label"}},
      {"universal",
       Flops,
       "placed",
       "one_change",
       0,
       1,
       0,
       3,
       {1, 10},
       {"epochs", "examples", "rate", "optimizer", "objective", "temperature"}},
      {"generator",
       Flops,
       "placed",
       "small_generator",
       0,
       1,
       0,
       3,
       {1, 1000},
       {"network", "epochs", "examples", "rate", "optimizer", "objective", "temperature"}},
  };
  return list;
}

/// Reads one `perturb`. One class: clauses are read in order, and methods need what the norm says.
class PerturbationReader {
public:
  PerturbationReader(Session& session, const sema::Program& program, const ast::Perturb& decl, PerturbSpec& spec)
      : e(session, program, program.main(), *spec.pool), decl(decl), spec(spec) {}

  bool run() {
    const std::size_t errors = e.sink.errorCount();
    spec.decl = &decl;
    spec.module = &e.module;
    readDataset(e, *decl.data, spec.data);
    std::map<std::string, SrcRange> seen;
    for (const ast::Clause& clause : decl.clauses) {
      const auto [first, fresh] = seen.emplace(clause.word.text, clause.word.range);
      if (fresh)
        readClause(clause);
      else
        e.sink.report(diag::argument_twice, clause.word.range, clause.word.text).label(first->second, "given here first");
    }
    // Methods take what all the clauses say.
    for (const ast::Clause& clause : decl.clauses) {
      if (clause.word.text == "by") std::ranges::for_each(clause.items, [&](const auto& item) { readMethod(item); });
    }
    if (!seen.contains("by"))
      e.fail(diag::design_clause_value, decl.name.range, "by", "methods: `by random, gradient`", "nothing");
    return e.sink.errorCount() == errors;
  }

private:
  void readClause(const ast::Clause& clause) {
    const std::string& word = clause.word.text;
    if (word == "norm") {
      readNorm(clause);
    } else if (word == "box") {
      readBox(clause);
    } else if (word == "batch") {
      spec.batch = e.whole(clause, 1).value_or(1);
    } else if (word == "seed") {
      if (const auto seed = e.whole(clause, 0)) spec.seed = static_cast<std::uint64_t>(*seed);
    } else if (word == "keep") {
      const ast::Expr* what = e.single(clause, "`label`");
      const auto* name = what != nullptr ? ast::dynCast<ast::NameRef>(what) : nullptr;
      spec.keepLabel = name != nullptr && name->name.text == "label";
      if (what != nullptr && !spec.keepLabel) e.fail(diag::design_clause_value, what->range, word, "`label`", e.text(*what));
    } else if (word == "metric") {
      std::ranges::for_each(clause.items, [&](const ast::Argument& item) { readMetric(item); });
    }
  }

  struct Word {
    std::string name;
    const ast::Call* call = nullptr;
  };
  /// A word, or a word with arguments; "" where it is neither.
  static Word wordOf(const ast::Expr* expr) {
    const auto* call = expr != nullptr ? ast::dynCast<ast::Call>(expr) : nullptr;
    const auto* name = expr != nullptr ? ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : expr) : nullptr;
    return {name != nullptr ? name->name.text : "", call};
  }

  void readNorm(const ast::Clause& clause) {
    constexpr const char* kWanted = "`linf(0.03)` or `l2(1)`, with a radius above 0";
    const ast::Expr* expr = e.single(clause, kWanted);
    if (expr == nullptr) return;
    const auto [name, call] = wordOf(expr);
    const bool one = call != nullptr && call->arguments.size() == 1 && call->arguments.front().value != nullptr &&
                     (call->arguments.front().name.empty() || call->arguments.front().name.text == "radius");
    const Value given = one ? e.value(*call->arguments.front().value) : Value{};
    const auto radius = e.numberOf(given);
    if ((name == "linf" || name == "l2") && radius && radius->num > 0) {
      spec.norm = name == "l2" ? Norm::L2 : Norm::Linf;
      spec.radius = *radius;
    } else if (!one || !given.isPoison()) {
      e.fail(diag::design_clause_value, expr->range, "norm", kWanted, "`" + e.text(*expr) + "`");
    }
  }

  void readBox(const ast::Clause& clause) {
    constexpr const char* kWanted = "the least and the largest number of a valid input, such as `[0, 1]`";
    const ast::Expr* expr = e.single(clause, kWanted);
    if (expr == nullptr) return;
    const Value list = e.value(*expr);
    if (list.isPoison()) return;
    const bool two = list.is(ValueKind::List) && list.items.size() == 2;
    const auto low = two ? e.numberOf(list.items[0]) : std::nullopt;
    const auto high = two ? e.numberOf(list.items[1]) : std::nullopt;
    if (low && high && compare(*low, *high) < 0) {
      spec.low = *low;
      spec.high = *high;
    } else {
      e.fail(diag::design_clause_value, expr->range, "box", kWanted, "`" + e.text(*expr) + "`");
    }
  }

  void readMetric(const ast::Argument& item) {
    const auto [name, call] = wordOf(item.value);
    if (name == "flops" && call == nullptr) return;  // always
    const bool plain = call == nullptr || call->arguments.empty();
    const bool repeated = !plain && call->arguments.size() == 1 && call->arguments.front().name.text == "repeats";
    if (name == "latency" && (plain || repeated))
      spec.repeats = plain ? 10 : e.whole("repeats", *call->arguments.front().value, 1).value_or(1);
    else
      e.fail(diag::design_clause_value, item.range, "metric", "`flops` and `latency(repeats: 10)`",
             "`" + e.text(item.range) + "`");
  }

  // ---- Methods ---------------------------------------------------------------------------------------------------------

  void readMethod(const ast::Argument& item) {
    const auto [name, call] = wordOf(item.name.empty() ? item.value : nullptr);
    const auto& forms = methodForms();
    const auto form = std::ranges::find_if(forms, [&](const MethodForm& known) { return known.word == name; });
    if (form == forms.end()) {
      unknownMethod(item, name);
      return;
    }
    MethodSpec method;
    method.word = name;
    method.text = e.text(item.range);
    method.range = item.range;
    method.steps = form->steps;
    method.look = form->look;
    method.epochs = form->epochs;
    SearchSpec& search = method.search;
    search.range = item.range;
    search.objective = form->objective;
    search.generator = form->generator;
    search.path = fmt::format("{}_{}", name, spec.methods.size() + 1);
    search.states = form->states;
    search.move = fmt::format("{}_{}", form->move, spec.norm == Norm::L2 ? "l2" : "linf");
    search.distance = name == "ilfo" ? Rational{1, 100} : Rational{0};
    const bool walks = form->generator.empty() && form->objective != Objective::None;
    if (spec.keepLabel && walks) search.keep = {1};
    search.rate = form->rate.num != 0 ? form->rate : mul(spec.radius, {1, 10}).value_or(spec.radius);
    std::map<std::string, SrcRange> seen;
    for (const ast::Argument& given : call != nullptr ? call->arguments : std::vector<ast::Argument>{})
      readParameter(*form, given, method, seen);
    search.parameters = {{"radius", spec.radius}, {"low", spec.low}, {"high", spec.high}};
    if (walks) search.parameters.emplace_back("rate", search.rate);
    spec.methods.push_back(std::move(method));
  }

  void unknownMethod(const ast::Argument& item, const std::string& name) {
    std::vector<std::string> names;
    for (const MethodForm& known : methodForms()) names.emplace_back(known.word);
    Diagnostic& d = e.sink.report(diag::unknown_method, item.range, name.empty() ? e.text(item.range) : name);
    const std::string near = nearest(name, names);
    if (!near.empty())
      d.note("did you mean `" + near + "`?");
    else
      d.note(fmt::format("there are {}", fmt::join(names, ", ")));
  }

  void readParameter(const MethodForm& form, const ast::Argument& given, MethodSpec& method,
                     std::map<std::string, SrcRange>& seen) {
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
    else if (name == "optimizer")
      method.optimizer = &value;
    else if (name == "objective")
      readObjective(value, method.search);
    else
      readWeight(name, value, method.search);
  }

  void readObjective(const ast::Expr& expr, SearchSpec& search) {
    const std::string name = wordOf(&expr).name;
    if (name == "flops")
      search.objective = Objective::Flops;
    else if (name == "margins")
      search.objective = Objective::Margins;
    else if (name == "uncertainty")
      search.objective = Objective::Uncertainty;
    else
      e.fail(diag::design_clause_value, expr.range, "objective", "`flops`, `margins` or `uncertainty`", "`" + e.text(expr) + "`");
  }

  /// A real parameter: above 0 where it divides or moves, else from 0.
  void readWeight(const std::string& name, const ast::Expr& expr, SearchSpec& search) {
    const Value given = e.value(expr);
    const auto number = e.numberOf(given);
    const bool positive = name == "rate" || name == "temperature";
    if (!number || number->num < 0 || (positive && number->num == 0)) {
      if (!given.isPoison())
        e.fail(diag::design_clause_value, expr.range, name, positive ? "a number above 0" : "a number from 0", e.text(expr));
      return;
    }
    if (name == "label" && !spec.keepLabel) {
      e.fail(diag::design_clause_value, expr.range, name, "a weight where there is a clause `keep label`", e.text(expr));
      return;
    }
    (name == "rate"          ? search.rate
     : name == "temperature" ? search.temperature
     : name == "distance"    ? search.distance
                             : search.keep) = *number;
  }

  ClauseReader e;
  const ast::Perturb& decl;
  PerturbSpec& spec;
};

}  // namespace

std::optional<PerturbSpec> readPerturbation(Session& session, const sema::Program& program, const ast::Perturb& decl) {
  PerturbSpec spec;
  spec.pool = std::make_unique<sema::ExprPool>();
  return PerturbationReader(session, program, decl, spec).run() ? std::optional<PerturbSpec>(std::move(spec)) : std::nullopt;
}

std::optional<ExperimentSpec> searchOf(Session& session, const PerturbSpec& spec, const TrainingSpec& training,
                                       const DataShape& data, const SearchGraph& graph) {
  const auto& tensors = training.network->tensors;
  if (tensors.size() != 1 || data.inputs.size() != 1) {
    session.sink
        .report(diag::inputs_differ, spec.data.range, training.network->name.text, tensors.size(), spec.data.name,
                data.inputs.size())
        .note("inputs are searched for networks of one input");
    return std::nullopt;
  }
  ExperimentSpec experiment;
  experiment.name = spec.decl->name.text;
  experiment.range = spec.decl->name.range;
  experiment.module = training.module;
  experiment.of = training.decl->network;
  experiment.task = graph.task;
  experiment.dtype = training.dtype;
  experiment.pool = std::make_unique<sema::ExprPool>();
  std::vector<std::int64_t> dims{graph.batch};
  dims.insert(dims.end(), data.inputs[0].begin(), data.inputs[0].end());
  experiment.inputs.push_back({tensors[0].name.text, spec.data.range, nullptr, std::move(dims)});
  if (graph.method != nullptr) {
    experiment.search = graph.method->search;
    experiment.optimizer = graph.method->optimizer;
  }
  return experiment;
}

}  // namespace tbem::graph
