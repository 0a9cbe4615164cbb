// Rows of a design: structures elaborated once each, values per row, conditions checked per row.
#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/Repeats.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/clauses/Places.h"
#include "compiler/graph/differentiate/Differentiator.h"
#include "compiler/graph/ir/Walk.h"
#include "compiler/graph/pass/Checkpoint.h"
#include "compiler/graph/pass/Mixed.h"
#include "compiler/graph/perturb/BuildSearch.h"
#include "compiler/graph/perturb/FirstLayer.h"
#include "compiler/graph/read/ExperimentInputs.h"
#include "compiler/graph/read/Losses.h"
#include "compiler/graph/read/MicroBatches.h"

#include <algorithm>

namespace tbem::graph {

std::vector<std::int64_t> Row::shape(TensorId id) const {
  std::vector<std::int64_t> result;
  for (const ExprId dim : graph()[id].shape) result.push_back(integer(dim));
  return result;
}

namespace {

/// Gives an optimiser this learning rate in place of its own.
void setRate(Value& optimizer, const Value& rate) {
  const auto given = std::find(optimizer.words.begin(), optimizer.words.end(), "lr");
  const auto at = static_cast<std::size_t>(given - optimizer.words.begin());
  if (given == optimizer.words.end()) {
    optimizer.kind = ValueKind::Partial;
    optimizer.words.push_back("lr");
    optimizer.items.push_back({});
  }
  optimizer.items.own()[at] = rate;
}

}  // namespace

struct Experiment::Impl {
  Session& session;
  const sema::Program& program;
  const ExperimentSpec& spec;
  ExperimentOptions options;
  std::vector<std::unique_ptr<Structure>> structures;
  std::size_t lossBegin = 0;                            ///< of the structure that is being built: the first operator of its loss
  std::unordered_map<std::uint32_t, TensorId> valueOf;  ///< of the structure that is being built: Differentiator::valueOf

  using Levels = std::span<const std::uint32_t>;
  using NamedLevels = std::vector<std::pair<std::string, std::string>>;  ///< a training's learning rate is none

  std::vector<std::pair<std::string, std::string>> levelTexts(Levels levels) const {
    std::vector<std::pair<std::string, std::string>> texts;
    for (std::size_t f = 0; f < spec.factors.size(); ++f) {
      if (spec.active(static_cast<std::uint32_t>(f), levels))
        texts.emplace_back(spec.factors[f].name, spec.factors[f].levels[levels[f]].text);
    }
    return texts;
  }

  /// Levels that matter to an expression: of its symbols, and those that steer the structure.
  std::vector<std::pair<std::string, std::string>> levelsFor(const Structure& structure, ExprId expr, Levels levels) const {
    std::vector<bool> matters(spec.factors.size(), false);
    for (const auto& [factor, level] : structure.guards) matters[factor] = true;
    for (const sema::SymbolId symbol : structure.pool.symbolsOf(expr))
      matters[structure.symbolFactor[static_cast<std::uint32_t>(symbol)]] = true;
    std::vector<std::pair<std::string, std::string>> texts;
    for (std::size_t f = 0; f < spec.factors.size(); ++f) {
      if (matters[f] && spec.active(static_cast<std::uint32_t>(f), levels))
        texts.emplace_back(spec.factors[f].name, spec.factors[f].levels[levels[f]].text);
    }
    return texts;
  }

  const Structure* find(Levels levels) const {
    for (const auto& structure : structures) {
      const bool fits = std::all_of(structure->guards.begin(), structure->guards.end(),
                                    [&](const auto& guard) { return levels[guard.first] == guard.second; });
      if (fits) return structure.get();
    }
    return nullptr;
  }

  std::vector<std::optional<Rational>> assign(const Structure& structure, Levels levels) const {
    std::vector<std::optional<Rational>> assignment;
    for (const std::uint32_t factor : structure.symbolFactor)
      assignment.push_back(spec.factors[factor].levels[levels[factor]].number);
    return assignment;
  }

  const Structure* elaborate(Levels levels);
  std::vector<Local> factorNames(Elaborator& e, Structure& s, Levels levels);
  bool build(Elaborator& e, Structure& s, const std::vector<Local>& factors, Levels levels);
  bool mix(Structure& s, tbem_dtype narrow);
  void reportDimension(const Structure& structure, const Tensor& tensor, ExprId dim, const sema::Values& values, Levels levels);
  bool check(const Structure& structure, const sema::Values& values, Levels levels);
  bool isCallable(const Value& value, SrcRange at, const char* what);
  bool addLoss(Elaborator& e, Structure& s, const std::vector<Local>& factors, const AppliedNetwork& network);
  bool addUpdates(Elaborator& e, Structure& s, const std::vector<Local>& factors);
};

/// The factors of this row as names: numbers are symbols, everything else its level's value.
std::vector<Local> Experiment::Impl::factorNames(Elaborator& e, Structure& s, Levels levels) {
  std::vector<Local> names;
  for (std::size_t f = 0; f < spec.factors.size(); ++f) {
    const FactorSpec& factor = spec.factors[f];
    const auto id = static_cast<std::uint32_t>(f);
    // Whether it exists steers the structure.
    for (std::optional<std::uint32_t> above = factor.parent; above; above = spec.factors[*above].parent)
      s.guards.emplace_back(*above, levels[*above]);
    if (!spec.active(id, levels)) continue;
    Local local;
    local.name = factor.name;
    local.range = factor.range;
    const Level& level = factor.levels[levels[f]];
    if (factor.numeric()) {
      const sema::SymbolId symbol = s.pool.symbol(factor.name, factor.range, factor.isReal);
      s.symbolFactor.push_back(id);
      e.assignment.push_back(level.number);
      local.value = Value::number(s.pool.symbolRef(symbol), factor.isReal);
    } else {
      s.guards.emplace_back(id, levels[f]);
      local.value = level.expr != nullptr ? e.evaluateIn(*level.module, *level.expr, names) : level.value;
    }
    names.push_back(std::move(local));
  }
  return names;
}

bool Experiment::Impl::build(Elaborator& e, Structure& s, const std::vector<Local>& factors, Levels levels) {
  if (spec.task == Task::Train) {
    if (options.microBatches)
      s.graph.microBatches = *options.microBatches;
    else if (spec.accumulate != nullptr && !splitBatch(e, *spec.accumulate, *spec.module, factors))
      return false;
  }
  const Value callee = e.evaluateIn(*spec.module, *spec.of, factors);
  if (callee.isPoison()) return false;
  const bool callable =
      (callee.is(ValueKind::Declaration) || callee.is(ValueKind::Partial)) && callee.decl->kind == ast::NodeKind::Callable;
  if (!callable) {
    session.sink.report(diag::unknown_network, spec.of->range, kindName(callee));
    return false;
  }
  const auto& network = *static_cast<const ast::Callable*>(callee.decl);
  for (const InputSpec& input : spec.inputs) {
    for (std::optional<std::uint32_t> above = input.parent; above; above = spec.factors[*above].parent)
      s.guards.emplace_back(*above, levels[*above]);  // which shape it is steers the structure
    if (!input.counts(levels)) continue;
    const bool known = std::any_of(network.tensors.begin(), network.tensors.end(),
                                   [&](const ast::Parameter& t) { return t.name.text == input.name; });
    if (known) continue;
    std::vector<std::string> names;
    for (const ast::Parameter& tensor : network.tensors) names.push_back(tensor.name.text);
    Diagnostic& d = session.sink.report(diag::unknown_input, input.range, network.name.text, input.name);
    if (names.size() == 1) d.note("its input is called `" + names.front() + "`").fix(input.range, names.front());
    const auto* factor = ast::dynCast<ast::NameRef>(spec.of);
    if (factor != nullptr && spec.find(factor->name.text))
      d.note("an input that one network alone has stands `under " + factor->name.text + " = ...`");
    return false;
  }
  std::optional<std::vector<Local>> parameters = e.networkParameters(callee, factors, spec.of->range);
  if (!parameters) return false;
  if (spec.search) return buildSearch(e, spec, {callee, std::move(*parameters), {factors, levels}});
  std::vector<Value> tensors;
  for (const ast::Parameter& tensor : network.tensors) {
    std::optional<Value> input = addInputs(e, session, spec, network, tensor, {factors, levels});
    if (!input) return false;
    tensors.push_back(std::move(*input));
  }
  const AppliedNetwork applied{callee, std::move(*parameters), std::move(tensors), spec.of->range};
  const Value result = e.applyRoot(callee, applied.parameters, applied.inputs, "", applied.use);
  if (result.isPoison()) return false;
  for (const Value& output : result.is(ValueKind::Tensor) ? sema::SharedVector<Value>{result} : result.items) {
    if (!output.is(ValueKind::Tensor)) {
      session.sink.report(diag::wrong_tensor, network.name.range, "the result of `" + network.name.text + "`", "tensors");
      return false;
    }
    s.graph.outputs.push_back(static_cast<TensorId>(output.id));
  }
  if (spec.keepsFirstLayer && !keepFirstLayer(session.sink, s.graph, spec.range, network)) return false;
  lossBegin = s.graph.ops.size();
  if (spec.task == Task::Infer) return groupOfEach(session.sink, s.graph, spec.groups).has_value();
  return addLoss(e, s, factors, applied) && (spec.task == Task::Evaluate || addUpdates(e, s, factors));
}

/// Whether the value is an operator or block; reports what it is else.
bool Experiment::Impl::isCallable(const Value& value, SrcRange at, const char* what) {
  const bool good =
      (value.is(ValueKind::Declaration) || value.is(ValueKind::Partial)) && value.decl->kind == ast::NodeKind::Callable;
  if (!good && !value.isPoison()) session.sink.report(diag::wrong_kind, at, what, "an operator or block", kindName(value));
  return good;
}

bool Experiment::Impl::addLoss(Elaborator& e, Structure& s, const std::vector<Local>& factors, const AppliedNetwork& network) {
  const SrcRange range = spec.loss != nullptr ? spec.loss->range : spec.range;
  const Value loss = spec.loss != nullptr ? e.evaluateIn(*spec.module, *spec.loss, factors)
                                          : Value::declaration(program.resolve(*program.find("std.nn"), spec.standardLoss));
  if (!isCallable(loss, range, "a loss")) return false;
  const std::vector<TensorId>& outputs = s.graph.outputs;
  if (std::ranges::none_of(outputs, [&](TensorId output) { return tbem_is_floating(s.graph[output].dtype); })) {
    session.sink.report(diag::wrong_tensor, range, "a loss", "a network with a result of a floating type")
        .note("whole numbers and truth values have no gradient; `cast` makes numbers of them where they are only measured");
    return false;
  }
  const std::optional<LossTensors> tensors = addTargets(e, loss, range, outputs);
  if (!tensors) return false;
  Value number = sumOfLosses(e, spec.gates, loss, *tensors, range);
  if (number.isPoison()) return false;
  const std::string& name = static_cast<const ast::Callable*>(loss.decl)->name.text;
  if (!number.is(ValueKind::Tensor) || !s.graph.tensors[number.id].shape.empty()) {
    session.sink.report(
        diag::loss_not_scalar, range, name,
        number.is(ValueKind::Tensor) ? shapeText(s.pool, s.graph, static_cast<TensorId>(number.id)) : kindName(number));
    return false;
  }
  if (spec.gates.reward != nullptr && spec.task == Task::Train) {
    const Value reward = e.evaluateIn(*spec.module, *spec.gates.reward, factors);
    if (!isCallable(reward, spec.gates.reward->range, "a reward")) return false;
    const Value policy = policyLoss(e, spec.gates, reward, *tensors, network);
    if (!policy.isPoison()) number = e.callNamed("add", {number, policy}, {}, spec.gates.reward->range);
    if (policy.isPoison() || number.isPoison()) return false;
  }
  s.graph.loss = static_cast<TensorId>(number.id);
  return true;
}

/// The gradients of the loss, and the optimisers' updates.
bool Experiment::Impl::addUpdates(Elaborator& e, Structure& s, const std::vector<Local>& factors) {
  Updating updating;
  const auto add = [&](const ast::Expr& expr, std::optional<std::uint32_t> rateFactor) {
    Value optimizer = e.evaluateIn(*spec.module, expr, factors);
    if (!isCallable(optimizer, expr.range, "an optimiser")) return false;
    if (rateFactor) setRate(optimizer, factors[*rateFactor].value);
    updating.optimizers.push_back({std::move(optimizer), expr.range});
    return true;
  };
  if (!add(*spec.optimizer, spec.rateFactor)) return false;
  for (const ParameterGroup& group : spec.groups.groups) {
    if (!group.elsewhere && !add(*group.optimizer, group.rateFactor)) return false;
  }
  std::optional<std::vector<std::uint32_t>> groups = groupOfEach(session.sink, s.graph, spec.groups);
  if (!groups) return false;
  updating.of = std::move(*groups);
  for (std::size_t w = 0; w < updating.of.size(); ++w) s.graph.weights[w].frozen = updating.of[w] == kStays;
  const TensorId loss = s.graph.loss;
  const std::optional<std::vector<TensorId>> wanted = wantedInputs(session, spec, options, s.graph);
  if (!wanted) return false;
  if (s.graph.microBatches > 1) s.graph.loss = e.builder.addUp(loss, s.graph.microBatches);
  Differentiator differentiator(e, s.graph);
  if (!differentiator.differentiate(loss, updating, *wanted)) return false;
  valueOf = std::move(differentiator.valueOf);
  const auto& weights = s.graph.weights;
  if (!weights.empty() &&
      std::all_of(weights.begin(), weights.end(), [](const auto& one) { return one.gradient == kNoTensor; })) {
    const bool frozen = std::ranges::all_of(weights, &Graph::Weight::frozen);
    const bool hasTurns = std::ranges::any_of(spec.groups.groups, &ParameterGroup::elsewhere);
    session.sink.report(diag::nothing_learns, spec.optimizer->range)
        .note(!frozen    ? "no gradient goes through whole numbers and comparisons, such as those of `argmax`"
              : hasTurns ? "all of them are frozen, or moved by a clause `turn`"
                         : "all of them are frozen");
  }
  return true;
}

/// Clause `mixed`, of a graph that may have it. False after a report.
bool Experiment::Impl::mix(Structure& s, tbem_dtype narrow) {
  if (firstGate(s.graph) != nullptr) {
    session.sink.report(diag::backend_mode_not_there, spec.mixedRange, "mixed").note("networks with gates compute in one type");
    return false;
  }
  mixPrecision(s.graph, {narrow, options.rules, lossBegin, std::move(valueOf)});
  return true;
}

const Structure* Experiment::Impl::elaborate(Levels levels) {
  auto made = std::make_unique<Structure>();
  ElaborateOptions settings;
  settings.training = spec.task == Task::Train || spec.task == Task::Learn || spec.task == Task::Discriminate;
  settings.differentiates = settings.training || spec.task == Task::Move;
  settings.search = spec.search ? &*spec.search : nullptr;
  settings.updates = options.updates;
  settings.recordCalls = options.recordCalls;
  settings.gates = spec.gates;
  settings.dtype = options.dtype ? *options.dtype : spec.dtype ? *spec.dtype : TBEM_F32;
  if (!options.dtype && spec.dtypeFactor) {
    const Value& level = spec.factors[*spec.dtypeFactor].levels[levels[*spec.dtypeFactor]].value;
    if (level.is(ValueKind::DType)) settings.dtype = static_cast<tbem_dtype>(level.id);
  }
  const bool isMixed = (options.mixed || spec.mixed) && settings.dtype == TBEM_F32 && !options.recordCalls;
  const tbem_dtype narrow = options.mixed.value_or(spec.mixed.value_or(settings.dtype));  // where it is mixed
  settings.scalesLoss = isMixed && narrow == TBEM_F16 && settings.training && options.rules == MixedRules::Own;
  const std::size_t errors = session.sink.errorCount();
  Elaborator elaborator(session, program, *made, settings);
  elaborator.levels = levelTexts(levels);
  const std::vector<Local> factors = factorNames(elaborator, *made, levels);
  for (const auto& [factor, level] : made->guards) elaborator.steering.push_back(spec.factors[factor].name);
  if (!build(elaborator, *made, factors, levels) || session.sink.errorCount() != errors) return nullptr;
  made->graph.tf32 = spec.tf32;
  if (isMixed && !mix(*made, narrow)) return nullptr;
  elaborator.builder.dropUnusedStorages();
  if (settings.training && spec.checkpoint && !placesAreThere(session.sink, made->graph, *spec.checkpoint)) return nullptr;
  for (const sema::SymbolId symbol : elaborator.forced) {
    const std::uint32_t factor = made->symbolFactor[static_cast<std::uint32_t>(symbol)];
    made->guards.emplace_back(factor, levels[factor]);
  }
  std::sort(made->guards.begin(), made->guards.end());
  made->guards.erase(std::unique(made->guards.begin(), made->guards.end()), made->guards.end());
  structures.push_back(std::move(made));
  return structures.back().get();
}

/// A dimension that is no positive whole number; rows after the first add their levels to what was reported.
void Experiment::Impl::reportDimension(const Structure& structure, const Tensor& tensor, ExprId dim, const sema::Values& values,
                                       Levels levels) {
  DiagnosticSink here;
  const std::string text = structure.pool.str(dim);
  const sema::EvalError error = values.errorOf(dim);
  if (error == sema::EvalError::DivisionByZero)
    here.report(diag::division_by_zero, tensor.range, text);
  else if (error != sema::EvalError::None || values[dim].isBeyondWhole())
    here.report(diag::number_overflow, tensor.range, text, sema::kWholeRange);
  else if (!values[dim].isInt())
    here.report(diag::dimension_fractional, tensor.range, tensor.name, text, values[dim].str());
  else
    here.report(diag::dimension_not_positive, tensor.range, tensor.name, values[dim].num, text);
  Diagnostic made = here.all().front();
  made.levels = levelsFor(structure, dim, levels);
  Diagnostic* const told =
      session.sink.find([&](const Diagnostic& one) { return one.kind == made.kind && one.range == made.range; });
  if (told != nullptr)
    told->alsoAt(made.levels);
  else
    session.sink.append(std::move(made));
}

/// Obligations and shapes of a row that reuses a structure.
bool Experiment::Impl::check(const Structure& structure, const sema::Values& values, Levels levels) {
  const std::int64_t parts = structure.graph.microBatches;
  if (parts > 1 && !splitsEvenly(session.sink, spec.accumulateRange(), samplesOf(structure.graph, values), parts,
                                 spec.rateFactor ? NamedLevels{} : levelTexts(levels)))
    return false;
  bool good = true;
  for (const Obligation& obligation : structure.graph.obligations) {
    if (values.errorOf(obligation.condition) == sema::EvalError::None && values[obligation.condition].num != 0) continue;
    reportViolation(session, structure, obligation, values, levelsFor(structure, obligation.condition, levels));
    good = false;
    break;
  }
  for (std::size_t t = 0; good && t < structure.graph.tensors.size(); ++t) {
    const Tensor& tensor = structure.graph.tensors[t];
    good = std::all_of(tensor.shape.begin(), tensor.shape.end(), [&](ExprId dim) {
      const bool fits = values.errorOf(dim) == sema::EvalError::None && values[dim].isInt() && values[dim].num >= 1;
      if (!fits) reportDimension(structure, tensor, dim, values, levels);
      return fits;
    });
  }
  return good;
}

Experiment::Experiment(Session& session, const sema::Program& program, const ExperimentSpec& spec, ExperimentOptions options)
    : impl(new Impl{session, program, spec, std::move(options), {}}) {}
Experiment::~Experiment() = default;

std::size_t Experiment::structureCount() const { return impl->structures.size(); }

const Structure* Experiment::known(std::span<const std::uint32_t> levels) const { return impl->find(levels); }

const Structure* Experiment::structureAt(std::span<const std::uint32_t> levels) {
  if (!impl->spec.hasNetwork()) return nullptr;
  if (const Structure* known = impl->find(levels)) return known;
  const Structure* made = nullptr;
  reportsOf(impl->session.sink, [&] { made = impl->elaborate(levels); });
  return made;
}

std::optional<Row> Experiment::row(std::span<const std::uint32_t> levels) {
  if (!impl->spec.hasNetwork()) return std::nullopt;  // an array for any experiment has no graphs
  const Structure* structure = impl->find(levels);
  if (structure == nullptr) {
    const std::size_t told = impl->session.sink.all().size();
    structure = impl->elaborate(levels);
    mergeRepeats(impl->session.sink, told);  // what other structures said already
  }
  if (structure == nullptr) return std::nullopt;
  Row row;
  row.structure = structure;
  row.levels.assign(levels.begin(), levels.end());
  row.values = structure->pool.evaluate(impl->assign(*structure, levels));
  if (!impl->check(*structure, row.values, levels)) return std::nullopt;
  return row;
}

}  // namespace tbem::graph
