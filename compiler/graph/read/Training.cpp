// A training's network held against its data.
#include "compiler/graph/read/Training.h"

#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/ir/Attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

namespace tbem::graph {

namespace {

std::string shapeWords(const std::vector<std::int64_t>& shape) {
  std::string out = "[";
  for (const std::int64_t dim : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(dim);
  return out + "]";
}

/// The dimensions that are not 1: what decides in which order numbers lie.
std::vector<std::int64_t> extents(std::vector<std::int64_t> shape) {
  std::erase(shape, 1);
  return shape;
}

/// Whether numbers of these shapes lie in the same order: the one is the other but for dimensions of 1, or is flat.
bool lieAlike(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  const std::vector<std::int64_t> first = extents(a), second = extents(b);
  const auto count = [](const std::vector<std::int64_t>& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  };
  return first == second || ((first.size() <= 1 || second.size() <= 1) && count(first) == count(second));
}

/// Where cross_entropy and nll (stdlib/nn/loss.tbem) have the classes.
std::size_t standardClassAxis(std::size_t rank) { return rank == 3 ? 2 : 1; }

/// cross_entropy or nll of stdlib/nn/loss.tbem.
bool hasLibraryLoss(const TrainingSpec& spec) {
  return spec.loss == nullptr || spec.lossText.starts_with("cross_entropy") || spec.lossText.starts_with("nll");
}

/// A factor of one level: its symbol makes the rate a scalar that no other number shares.
std::uint32_t addRate(ExperimentSpec& experiment, std::string name, const Rational& rate) {
  FactorSpec factor;
  factor.name = std::move(name);
  factor.isReal = true;
  Level level;
  level.value = sema::Value::number(experiment.pool->constant(rate), true);
  level.text = rate.str();
  level.number = rate;
  factor.levels.push_back(std::move(level));
  experiment.factors.push_back(std::move(factor));
  return static_cast<std::uint32_t>(experiment.factors.size() - 1);
}

/// The step of a training as that of one of its turns.
ExperimentSpec takeTurn(ExperimentSpec experiment, const TrainingSpec& spec, const TurnSpec& turn) {
  if (turn.loss != nullptr) experiment.loss = turn.loss;
  if (turn.optimizer != nullptr) experiment.optimizer = turn.optimizer;
  experiment.groups.frozen = spec.groups.frozen;
  experiment.groups.only = turn.places;
  const std::optional<Rational>& rate = turn.optimizer != nullptr ? turn.rate : spec.rate;
  if (rate) experiment.rateFactor = addRate(experiment, "optimizer.lr", *rate);
  return experiment;
}

/// The fewest classes among which a loss looks up a target's; nothing where none does.
std::optional<std::int64_t> fewestClasses(const Row& row, TensorId target) {
  std::optional<std::int64_t> fewest;
  const Graph& graph = row.graph();
  const auto isTarget = [&](TensorId tensor) {  // or a micro-batch's part of it, or the same numbers in another shape
    while (tensor != kNoTensor && graph[tensor].producer != kNoOp && graph[graph[tensor].producer].kind == OpKind::View)
      tensor = graph[graph[tensor].producer].inputs[0];
    return tensor == target;
  };
  for (const Op& op : graph.ops) {
    const bool looksUp = op.primitive == TBEM_PRIMITIVE_cross_entropy || op.primitive == TBEM_PRIMITIVE_gather;
    const bool isLookedUp = looksUp && isTarget(op.inputs[1]);
    if (!isLookedUp) continue;
    const std::vector<std::int64_t> shape = row.shape(op.inputs[0]);
    std::string wrong;
    const std::vector<std::int64_t> axis =
        flattenAttributes(op, row.values, shape.size(), row.shape(op.outputs[0]).size(), wrong);
    if (!wrong.empty()) continue;  // lowering says what
    const std::int64_t classes = shape[static_cast<std::size_t>(axis[0])];
    fewest = fewest ? std::min(*fewest, classes) : classes;
  }
  return fewest;
}

}  // namespace

std::optional<ExperimentSpec> experimentOf(Session& session, const TrainingSpec& spec, Task task, const DataShape& data,
                                           std::int64_t batch, const TurnSpec* turn) {
  const auto& tensors = spec.network->tensors;
  if (tensors.size() != data.inputs.size()) {
    session.sink
        .report(diag::inputs_differ, spec.data.range, spec.network->name.text, tensors.size(), spec.data.name, data.inputs.size())
        .label(spec.network->name.range, "declared here");
    return std::nullopt;
  }
  ExperimentSpec experiment;
  experiment.name = spec.decl->name.text;
  experiment.range = spec.decl->name.range;
  experiment.module = spec.module;
  experiment.of = spec.decl->network;
  experiment.task = task;
  experiment.loss = spec.loss;
  experiment.standardLoss = data.classes > 0 ? "cross_entropy" : "mse";
  experiment.optimizer = spec.optimizer;
  experiment.dtype = spec.dtype;
  experiment.mixed = spec.mixed;
  experiment.tf32 = spec.tf32;
  if (spec.mixed) experiment.mixedRange = spec.mixedText->range;
  if (task == Task::Train) {
    experiment.checkpoint = spec.recompute;
    experiment.accumulate = spec.accumulate;
    experiment.gates = spec.gates;
  }
  experiment.pool = std::make_unique<sema::ExprPool>();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::vector<std::int64_t> dims{batch};
    dims.insert(dims.end(), data.inputs[i].begin(), data.inputs[i].end());
    experiment.inputs.push_back({tensors[i].name.text, spec.data.range, nullptr, std::move(dims)});
  }
  if (task != Task::Train) return experiment;
  if (turn != nullptr) return takeTurn(std::move(experiment), spec, *turn);
  experiment.groups = spec.groups;
  if (spec.rate) experiment.rateFactor = addRate(experiment, "optimizer.lr", *spec.rate);
  for (std::size_t g = 0; g < spec.groups.groups.size(); ++g) {
    ParameterGroup& group = experiment.groups.groups[g];
    if (group.rate) group.rateFactor = addRate(experiment, fmt::format("optimizer[{}].lr", g + 1), *group.rate);
  }
  for (const TurnSpec& other : spec.turns) {
    ParameterGroup& group = experiment.groups.groups.emplace_back();
    group.places = other.places;
    group.elsewhere = true;
  }
  return experiment;
}

bool checkTarget(Session& session, const TrainingSpec& spec, const Row& row, const DataShape& data, const TurnSpec* turn) {
  const Graph& graph = row.graph();
  const bool isOwn = turn != nullptr && turn->loss != nullptr;
  const ast::Expr* const loss = isOwn ? turn->loss : spec.loss;
  const SrcRange at = loss != nullptr ? loss->range : spec.data.range;
  const std::string text = loss == nullptr ? data.classes > 0 ? "cross_entropy" : "mse" : isOwn ? turn->lossText : spec.lossText;
  const std::span<const TensorId> targets = graph.targetInputs();
  if (targets.size() != 1) {
    session.sink.report(diag::targets_differ, at, text, fmt::format("{} targets", targets.size()), spec.data.name, "one");
    return false;
  }
  const bool classes = graph[targets.front()].dtype == TBEM_I64;
  std::vector<std::int64_t> shape = row.shape(targets.front());
  if (!shape.empty()) shape.erase(shape.begin());
  if (classes != (data.classes > 0) || !lieAlike(shape, data.target)) {
    session.sink.report(diag::targets_differ, at, text,
                        (classes ? "class numbers of shape " : "numbers of shape ") + shapeWords(shape), spec.data.name,
                        (data.classes > 0 ? "class numbers of shape " : "numbers of shape ") + shapeWords(data.target));
    return false;
  }
  if (data.classes == 0) return true;
  if (const std::int64_t fewest = fewestClasses(row, targets.front()).value_or(data.classes); fewest < data.classes) {
    const bool isStandard = !isOwn && graph.outputs.size() == 1 && hasLibraryLoss(spec);
    if (!isStandard) {
      session.sink.report(diag::loss_classes_differ, at, text, fewest, spec.data.name, data.classes)
          .label(spec.data.callRange, std::to_string(data.classes) + " classes");
      return false;
    }
  }
  // What several results are, and what a turn makes of them, is known to the loss alone.
  if (isOwn || graph.outputs.size() > 1) return true;
  const std::vector<std::int64_t> output = row.shape(graph.outputs.front());
  const std::size_t standard = standardClassAxis(output.size());
  const std::int64_t found = standard < output.size() ? output[standard] : 1;
  const bool fits = hasLibraryLoss(spec) ? found == data.classes
                                         : std::ranges::count(std::span(output).subspan(std::min<std::size_t>(1, output.size())),
                                                              data.classes) > 0;
  if (fits) return true;
  session.sink
      .report(diag::classes_differ, spec.decl->network->range, spec.network->name.text, found, spec.data.name, data.classes)
      .label(spec.data.callRange, std::to_string(data.classes) + " classes");
  return false;
}

bool isMeanOfLabels(const TrainingSpec& spec, const DataShape& data) { return data.classes > 0 && hasLibraryLoss(spec); }

std::optional<std::size_t> classAxis(const TrainingSpec& spec, const Row& row, const DataShape& data) {
  const std::vector<std::int64_t> output = row.shape(row.graph().outputs.front());
  const std::vector<std::int64_t> labels = extents(data.target);
  std::vector<std::size_t> could;
  for (std::size_t axis = 1; axis < output.size() && data.classes > 0; ++axis) {
    if (output[axis] != data.classes) continue;
    std::vector<std::int64_t> ofOne(output.begin() + 1, output.end());
    ofOne.erase(ofOne.begin() + static_cast<std::ptrdiff_t>(axis) - 1);
    if (extents(std::move(ofOne)) == labels) could.push_back(axis);
  }
  if (could.size() == 1) return could.front();
  const std::size_t standard = standardClassAxis(output.size());
  const bool known = hasLibraryLoss(spec) && std::ranges::count(could, standard) > 0;
  return known ? std::optional<std::size_t>(standard) : std::nullopt;
}

}  // namespace tbem::graph
