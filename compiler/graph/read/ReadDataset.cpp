#include "compiler/graph/read/ReadDataset.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/sema/Trainings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

const ast::Dataset* findDataset(ClauseReader& e, const ast::Name& name) {
  std::vector<std::string> names;
  for (const auto& file : e.program.main().files) {
    for (const ast::Decl* one : file->declarations) {
      const auto* dataset = ast::dynCast<ast::Dataset>(one);
      if (dataset == nullptr) continue;
      if (dataset->name.text == name.text) return dataset;
      names.push_back(dataset->name.text);
    }
  }
  Diagnostic& d = e.sink.report(diag::unknown_dataset, name.range, name.text);
  if (const std::string near = nearest(name.text, names); !near.empty())
    d.note("did you mean `" + near + "`?").fix(name.range, near);
  else
    d.note("declare it: `dataset " + name.text + " = fashion_mnist()`");
  return nullptr;
}

void readCount(ClauseReader& e, DataSpec& data, const ast::Call& call) {
  for (const ast::Argument& argument : call.arguments) {
    if (argument.rest || argument.name.text != "count") {
      e.fail(diag::unknown_argument, argument.range, data.test ? "test" : "train",
             argument.name.empty() ? e.text(*argument.value) : argument.name.text);
      continue;
    }
    data.count = e.whole("count", *argument.value, 1);
  }
}

/// What the declaration calls, with all of its parameters.
void readReader(ClauseReader& e, DataSpec& data, const ast::Dataset& dataset) {
  data.callRange = dataset.value->range;
  const Value found = e.value(*dataset.value);
  if (found.isPoison()) return;
  const auto* callable =
      found.is(ValueKind::Declaration) || found.is(ValueKind::Partial) ? ast::dynCast<ast::Callable>(found.decl) : nullptr;
  if (callable == nullptr || callable->callable != ast::CallableKind::Dataset) {
    e.fail(diag::wrong_kind, dataset.value->range, "a dataset", "one of the library's, such as fashion_mnist()", kindName(found));
    return;
  }
  data.declaration = callable;
  const auto* native = callable->native != nullptr ? ast::dynCast<ast::NameRef>(callable->native->callee) : nullptr;
  if (native != nullptr) data.reader = native->name.text;
  sema::Arguments arguments;
  arguments.use = dataset.value->range;
  for (std::size_t i = 0; i < found.items.size(); ++i)
    arguments.list.push_back({found.words[i], found.items[i], dataset.value->range});
  sema::Frame scratch;
  scratch.module = found.module;
  scratch.decl = callable;
  std::vector<Value> none;
  const sema::Signature signature{callable->name.text, found.module, callable, {}, callable->parameters};
  sema::Frame* const before = e.frame;
  e.frame = &scratch;
  if (e.bind(signature, arguments, scratch, none)) {
    for (const ast::Expr* condition : callable->pre) {
      const auto holds = e.forceBool(e.evaluate(*condition), "`pre`", condition->range);
      if (holds && !*holds)
        e.sink.report(diag::pre_violated, dataset.value->range, callable->name.text, e.text(*condition))
            .label(condition->range, "declared here");
    }
  }
  e.frame = before;
  for (const sema::Local& local : scratch.locals) data.settings.emplace_back(local.name, local.value);
}

}  // namespace

void readDataset(ClauseReader& e, const ast::Expr& expr, DataSpec& data) {
  data.name = e.text(expr);
  data.range = expr.range;
  const auto* call = ast::dynCast<ast::Call>(&expr);
  const auto* member = ast::dynCast<ast::Member>(call != nullptr ? call->callee : &expr);
  const auto* name = ast::dynCast<ast::NameRef>(member != nullptr ? member->object : &expr);
  const ast::Dataset* dataset = name != nullptr ? findDataset(e, name->name) : nullptr;
  if (name != nullptr && dataset == nullptr) return;
  if (dataset == nullptr || member == nullptr) {
    Diagnostic& d = e.sink.report(diag::bad_split, expr.range, data.name);
    if (dataset != nullptr) d.note("did you mean `" + data.name + ".train`?").fix(expr.range, data.name + ".train");
    return;
  }
  if (member->member.text != "train" && member->member.text != "test") {
    e.sink.report(diag::bad_split, member->member.range, member->member.text);
    return;
  }
  data.test = member->member.text == "test";
  if (call != nullptr) readCount(e, data, *call);
  readReader(e, data, *dataset);
}

namespace {

/// `weights` of clause `examples`: a training; a factor whose levels are names of trainings, as texts, where no training has its
/// name; or a list of trainings, one for each level of the factor that the design's network is.
class ExampleWeights {
public:
  ExampleWeights(ClauseReader& reader, const DesignSpec& design, ExamplesSpec& spec) : e(reader), design(design), spec(spec) {}

  void read(const ast::Expr& expr) {
    spec.weightsRange = expr.range;
    if (const auto* list = ast::dynCast<ast::List>(&expr)) return readList(*list);
    const auto* name = ast::dynCast<ast::NameRef>(&expr);
    if (name == nullptr) return fail(expr);
    spec.weightsText = name->name.text;
    const ast::Name* other = sema::factorOfWeights(e.program, name);
    const std::optional<std::uint32_t> factor = other != nullptr ? design.find(other->text) : std::nullopt;
    if (factor) return readFactor(*factor, expr);
    spec.weights = {name->name};
  }

private:
  static bool isOfTexts(const FactorSpec& factor) {
    return std::ranges::all_of(factor.values(), [](const Level& level) { return level.value.is(sema::ValueKind::String); });
  }

  void readFactor(std::uint32_t factor, const ast::Expr& expr) {
    if (!isOfTexts(design.factors[factor])) return fail(expr, "a factor whose levels are names of trainings, as texts");
    if (!takeFactor(factor)) return;
    for (const Level& level : design.factors[factor].values()) spec.weights.push_back({level.value.text(), level.range});
  }

  void readList(const ast::List& list) {
    const auto* network = design.of != nullptr ? ast::dynCast<ast::NameRef>(design.of) : nullptr;
    const auto factor = network != nullptr ? design.find(network->name.text) : std::nullopt;
    if (!factor) return fail(list, "one training, as the design's network is no factor");
    const std::size_t levels = design.factors[*factor].values().size();
    if (list.items.size() != levels)
      return fail(list, fmt::format("a training for each of the {} levels of `{}`", levels, network->name.text));
    if (!takeFactor(*factor)) return;
    for (const ast::Expr* item : list.items) {
      const auto* name = ast::dynCast<ast::NameRef>(item);
      if (name == nullptr) return fail(*item);
      spec.weights.push_back(name->name);
      spec.weightsText += (spec.weightsText.empty() ? "[" : ", ") + name->name.text;
    }
    spec.weightsText += "]";
  }

  /// False after a report: there are rows without the factor.
  bool takeFactor(std::uint32_t factor) {
    const FactorSpec& choosing = design.factors[factor];
    spec.chosenBy = factor;
    if (!choosing.parent) return true;
    e.sink
        .report(diag::design_clause_value, spec.weightsRange, "weights", "a factor that every row has",
                fmt::format("`{}`", choosing.name))
        .label(choosing.range, "it is nested");
    return false;
  }

  void fail(const ast::Expr& expr,
            const std::string& wanted = "the name of a training, a factor of such names, or a list of them") {
    e.fail(diag::design_clause_value, expr.range, "weights", wanted, "`" + e.text(expr) + "`");
  }

  ClauseReader& e;
  const DesignSpec& design;
  ExamplesSpec& spec;
};

}  // namespace

std::optional<ExamplesSpec> readExamples(Session& session, const sema::Program& program, const ast::Clause& clause,
                                         const DesignSpec& design) {
  ExamplesSpec spec;
  spec.pool = std::make_unique<sema::ExprPool>();
  spec.range = clause.range;
  ClauseReader e(session, program, program.main(), *spec.pool);
  const std::size_t errors = e.sink.errorCount();
  bool anyData = false, anyWeights = false, anyRepeats = false, anyEnergy = false;
  for (const ast::Argument& item : clause.items) {
    if (item.name.empty() && !item.rest && !anyData) {
      anyData = true;
      readDataset(e, *item.value, spec.data);
    } else if (item.name.text == "weights" && !std::exchange(anyWeights, true)) {
      ExampleWeights(e, design, spec).read(*item.value);
    } else if (item.name.text == "repeats" && !std::exchange(anyRepeats, true)) {
      spec.repeats = e.whole("repeats", *item.value, 0).value_or(0);
      if (spec.repeats > kMostRepeats)
        e.fail(diag::design_clause_value, item.range, "repeats", fmt::format("a number from 0 to {}", kMostRepeats),
               fmt::format("{}", spec.repeats));
    } else if (item.name.text == "energy" && !std::exchange(anyEnergy, true)) {
      spec.energySeconds = e.countedSeconds("energy", *item.value).value_or(0);
    } else {
      e.fail(diag::design_clause_value, item.range, "examples",
             "a split of a dataset, `weights: t`, `repeats: 10` and `energy: 0.2`", "`" + e.text(item.range) + "`");
    }
  }
  if (!anyData || (!anyWeights && e.sink.errorCount() == errors))
    e.fail(diag::design_clause_value, clause.range, "examples", "a split of a dataset and the training that made the weights",
           "`" + e.text(clause.range) + "`");
  return e.sink.errorCount() == errors ? std::optional<ExamplesSpec>(std::move(spec)) : std::nullopt;
}

}  // namespace tbem::graph
