#include "compiler/graph/perturb/BuildSearch.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/differentiate/Differentiator.h"
#include "compiler/graph/elaborate/Detour.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tbem::graph {

namespace {

Value tensorValue(TensorId id) { return Value::indexed(ValueKind::Tensor, index(id)); }

/// Builds one graph. One class: all parts name the input, the method and the elaboration.
class SearchBuilder {
public:
  SearchBuilder(Elaborator& e, const ExperimentSpec& spec, SearchedNetwork network)
      : e(e),
        spec(spec),
        search(*spec.search),
        network(std::move(network)),
        declaration(*static_cast<const ast::Callable*>(this->network.callee.decl)) {}

  bool run() {
    if (!readInput()) return false;
    seed = addInput("seed");
    return spec.task == Task::Learn ? learn() : move();
  }

private:
  /// The network's one input, whose shape the data give.
  bool readInput() {
    const ast::Parameter& tensor = declaration.tensors.front();
    const std::optional<tbem_dtype> type = e.inputType(tensor);
    if (!type) return false;
    dtype = *type;
    for (const std::int64_t dim : spec.inputs.front().dims) shape.push_back(e.pool.constant(dim));
    return true;
  }

  TensorId addInput(const std::string& name) {
    return e.builder.addInput(fmt::format("{}.{}", declaration.tensors.front().name.text, name), dtype, shape, search.range);
  }

  Value call(std::string_view name, std::vector<Value> tensors, const std::vector<std::pair<std::string, Rational>>& numbers) {
    std::vector<std::pair<std::string_view, Value>> parameters;
    for (const auto& [word, number] : numbers) parameters.emplace_back(word, Value::number(e.pool.constant(number), true));
    return e.callNamed(name, std::move(tensors), std::move(parameters), search.range);
  }

  // ---- What the network says of a point --------------------------------------------------------------------------------

  /// The network's results of every sample: those of its exits, and the last one. Empty after a report.
  std::vector<TensorId> look(TensorId point) {
    e.inTraining = false;
    const Value result = e.applyRoot(network.callee, network.parameters, {tensorValue(point)}, "", spec.of->range);
    if (result.isPoison()) return {};
    if (!result.is(ValueKind::Tensor)) {
      e.fail(diag::wrong_tensor, search.range, "a search for slow inputs", "a network with one result");
      return {};
    }
    std::vector<TensorId> results = e.trainedResults();
    if (results.empty()) results.push_back(static_cast<TensorId>(result.id));
    return results;
  }

  /// Adds a term. False after a report.
  bool add(Value term) {
    if (term.isPoison()) return false;
    sum = sum.isPoison() ? std::move(term) : e.callNamed("add", {sum, term}, {}, search.range);
    return !sum.isPoison();
  }

  bool addMargins() {
    const std::vector<Margin>& margins = e.margins();
    bool any = false;
    for (std::size_t gate = 0; gate < margins.size(); ++gate) {
      const TensorId term = search.objective == Objective::Flops ? margins[gate].reach : margins[gate].margin;
      const Rational share = shareOf(gate);
      if (term == kNoTensor || share.num == 0) continue;
      any = true;
      if (!add(call("worth", {tensorValue(term)}, {{"share", share}}))) return false;
    }
    if (!any) e.fail(diag::nothing_to_slow, search.range, declaration.name.text);
    return any;
  }

  Rational shareOf(std::size_t gate) const { return gate < search.shares.size() ? search.shares[gate] : Rational{1}; }

  /// Whatever a gate decides about weighs the same: FLOPs say only which of its sides costs more.
  bool addClosed() {
    const std::vector<Margin>& margins = e.margins();
    for (std::size_t gate = 0; gate < margins.size(); ++gate) {
      const Rational share = shareOf(gate);
      if (margins[gate].margin == kNoTensor || share.num == 0) continue;
      Value margin = tensorValue(margins[gate].margin);
      if (share.num < 0) margin = e.callNamed("neg", {margin}, {}, search.range);
      if (!add(call("closed", {margin}, {{"temperature", search.temperature}, {"power", search.power}}))) return false;
    }
    if (sum.isPoison()) {
      e.fail(diag::nothing_to_slow, search.range, declaration.name.text);
      return false;
    }
    sum = call("of_power", {sum}, {{"power", search.power}});
    return !sum.isPoison();
  }

  bool addGates(const std::vector<TensorId>& results) {
    if (search.objective == Objective::Uncertainty) return addUncertainty(results);
    return search.objective == Objective::Closed ? addClosed() : addMargins();
  }

  bool addUncertainty(const std::vector<TensorId>& results) {
    if (results.size() < 2) {
      e.fail(diag::nothing_to_slow, search.range, declaration.name.text);
      return false;
    }
    return std::all_of(results.begin(), std::prev(results.end()),
                       [&](TensorId result) { return add(call("uncertainty", {tensorValue(result)}, {})); });
  }

  /// The class that the network gave the seed: every result is to stay with it.
  bool addKeeping(const std::vector<TensorId>& results) {
    const Tensor& model = e.graph[results.front()];
    if (model.shape.size() != 2) {
      e.fail(diag::wrong_tensor, search.range, "`keep label`", "a network whose result is a number for each class, [n, k]");
      return false;
    }
    const TensorId label = e.builder.addInput(fmt::format("{}.label", declaration.tensors.front().name.text), TBEM_I64,
                                              {model.shape.front()}, search.range);
    return std::all_of(results.begin(), results.end(), [&](TensorId result) {
      return add(call("staying", {tensorValue(result), tensorValue(label)}, {{"share", search.keep}}));
    });
  }

  /// The objective of these points, a scalar. Nothing after a report.
  std::optional<TensorId> objectiveOf(TensorId point) {
    const std::vector<TensorId> results = look(point);
    if (results.empty()) return std::nullopt;
    if (!addGates(results)) return std::nullopt;
    if (search.distance.num != 0 && !add(call("distance", {tensorValue(point), tensorValue(seed)}, {{"share", search.distance}})))
      return std::nullopt;
    if (search.keep.num != 0 && !addKeeping(results)) return std::nullopt;
    return static_cast<TensorId>(sum.id);
  }

  // ---- The two graphs ---------------------------------------------------------------------------------------------------

  /// Points that a network makes of the seeds. Poison after a report.
  Value generate() {
    const SrcRange use = search.through != nullptr ? search.through->range : search.range;
    const Value callee =
        search.through != nullptr ? e.evaluateIn(*spec.module, *search.through, {}) : e.libraryOperator(search.generator, use);
    if (callee.isPoison()) return {};
    const bool callable =
        (callee.is(ValueKind::Declaration) || callee.is(ValueKind::Partial)) && callee.decl->kind == ast::NodeKind::Callable;
    if (!callable) return e.fail(diag::unknown_network, use, kindName(callee));
    std::optional<std::vector<Local>> parameters = e.networkParameters(callee, {}, use);
    if (!parameters) return {};
    const Value raw = e.applyRoot(callee, std::move(*parameters), {tensorValue(seed)}, search.path, use);
    if (raw.isPoison() || !isLikeSeed(raw, *static_cast<const ast::Callable*>(callee.decl), use)) return {};
    return call(search.move, {raw, tensorValue(seed)}, search.parameters);
  }

  /// Whether what a network made of the seeds has their type and shape; reports what it is else.
  bool isLikeSeed(const Value& raw, const ast::Callable& generator, SrcRange use) {
    const Tensor* tensor = raw.is(ValueKind::Tensor) ? &e.graph.tensors[raw.id] : nullptr;
    bool same = tensor != nullptr && tensor->dtype == dtype && tensor->shape.size() == shape.size();
    for (std::size_t k = 0; same && k < shape.size(); ++k) {
      const auto equal = e.peek(e.pool.make(ExprOp::Equal, tensor->shape[k], shape[k]));
      same = equal && equal->num != 0;
    }
    if (same) return true;
    e.fail(diag::wrong_tensor, use, "the result of `" + generator.name.text + "`",
           "a tensor like the input that it moves, " + dtypeName(dtype) + shapeText(e.pool, e.graph, seed) + ", found " +
               (tensor != nullptr ? dtypeName(tensor->dtype) + shapeText(e.pool, e.graph, static_cast<TensorId>(raw.id))
                                  : kindName(raw)));
    return false;
  }

  bool move() {
    Value next;
    if (search.generates()) {
      next = generate();
    } else if (search.proposes) {
      next = propose();
    } else if (search.objective == Objective::None) {
      next = call(search.move, {tensorValue(seed)}, search.parameters);
    } else {
      next = step();
    }
    if (next.isPoison()) return false;
    const std::vector<Value> results = next.is(ValueKind::Tensor) ? std::vector<Value>{next} : next.items;
    for (const Value& result : results) e.graph.outputs.push_back(static_cast<TensorId>(result.id));
    return true;
  }

  std::vector<Value> states() {
    std::vector<Value> inputs;
    for (std::uint32_t state = 0; state < search.states; ++state)
      inputs.push_back(tensorValue(addInput(fmt::format("state[{}]", state))));
    return inputs;
  }

  TensorId addPoint() { return e.builder.addInput(declaration.tensors.front().name.text, dtype, shape, search.range); }

  /// A point to be asked about, near the best one. Poison after a report.
  Value propose() {
    if (shape.size() != 4)
      return e.fail(diag::wrong_tensor, search.range, "`blackbox`",
                    "a network of images, [n, channels, height, width], found " + shapeText(e.pool, e.graph, seed));
    std::vector<Value> tensors{tensorValue(addPoint()), tensorValue(seed)};
    for (Value& state : states()) tensors.push_back(std::move(state));
    return call(search.move, std::move(tensors), search.parameters);
  }

  /// One step along the gradient of the objective. Poison after a report.
  Value step() {
    const TensorId point = addPoint();
    const std::optional<TensorId> objective = objectiveOf(point);
    if (!objective) return {};
    Differentiator differentiator(e, e.graph);
    if (!differentiator.differentiateInputs(*objective, {point})) return {};
    const bool reached = !e.graph.wanted.empty() && e.graph.wanted.front().gradient != kNoTensor;
    if (!reached) return e.fail(diag::nothing_to_slow, search.range, declaration.name.text);
    std::vector<Value> tensors{tensorValue(point), tensorValue(seed), tensorValue(e.graph.wanted.front().gradient)};
    for (Value& state : states()) tensors.push_back(std::move(state));
    const Elaborator::Detour detour(e, Phase::Optimizer);
    return call(search.move, std::move(tensors), search.parameters);
  }

  bool learn() {
    e.inTraining = true;
    const Value point = generate();
    if (point.isPoison()) return false;
    const std::size_t learned = e.graph.weights.size();
    const std::optional<TensorId> objective = objectiveOf(static_cast<TensorId>(point.id));
    if (!objective) return false;
    e.graph.loss = *objective;
    const Value optimizer = spec.optimizer != nullptr ? e.evaluateIn(*spec.module, *spec.optimizer, {}) : adam();
    const SrcRange use = spec.optimizer != nullptr ? spec.optimizer->range : search.range;
    if (optimizer.isPoison()) return false;
    Updating updating{{{optimizer, use}}, std::vector<std::uint32_t>(e.graph.weights.size(), kStays)};
    std::fill_n(updating.of.begin(), learned, 0);
    return Differentiator(e, e.graph).differentiate(*objective, updating);
  }

  Value adam() {
    Value optimizer = e.libraryOperator("adam", search.range);
    if (optimizer.isPoison()) return optimizer;
    optimizer.kind = ValueKind::Partial;
    optimizer.words.emplace_back("lr");
    optimizer.items.push_back(Value::number(e.pool.constant(search.rate), true));
    return optimizer;
  }

  Elaborator& e;
  const ExperimentSpec& spec;
  const SearchSpec& search;
  SearchedNetwork network;
  const ast::Callable& declaration;
  tbem_dtype dtype = TBEM_F32;
  std::vector<ExprId> shape;
  TensorId seed = kNoTensor;
  Value sum;  ///< of the objective so far
};

}  // namespace

bool buildSearch(Elaborator& e, const ExperimentSpec& spec, SearchedNetwork network) {
  return SearchBuilder(e, spec, std::move(network)).run();
}

}  // namespace tbem::graph
