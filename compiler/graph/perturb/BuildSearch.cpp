#include "compiler/graph/perturb/BuildSearch.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/differentiate/Differentiator.h"
#include "compiler/graph/elaborate/Elaborator.h"

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
    if (spec.task == Task::Move) return move();
    return spec.task == Task::Learn ? learn() : discriminate();
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
    parameters.reserve(numbers.size());
    for (const auto& [word, number] : numbers) parameters.emplace_back(word, Value::number(e.pool.constant(number), true));
    return e.callNamed(name, std::move(tensors), std::move(parameters), search.range);
  }

  // ---- What the network says of a point --------------------------------------------------------------------------------

  /// The network's results of every sample that predict: those of its exits, and the last one; of several results the first.
  /// Empty after a report.
  std::vector<TensorId> look(TensorId point) {
    e.inTraining = false;
    const Value result = e.applyRoot(network.callee, network.parameters, {tensorValue(point)}, "", spec.of->range);
    if (result.isPoison()) return {};
    const Value* first = &result;
    while (first->is(ValueKind::Tuple) || first->is(ValueKind::List)) first = &first->items.front();
    std::vector<TensorId> results = e.trainedResults();
    if (results.empty()) results.push_back(static_cast<TensorId>(first->id));
    return results;
  }

  /// Adds a term. False after a report.
  bool add(Value term) {
    if (term.isPoison()) return false;
    sum = sum.isPoison() ? std::move(term) : e.callNamed("add", {sum, term}, {}, search.range);
    return !sum.isPoison();
  }

  /// What methods ask for that follow gradients.
  static constexpr const char* kFollows =
      "it follows gradients of gates that compare one number with a threshold, as `score >= 0.5` does, where a gradient leads "
      "from the input to the score; `random`, `uniform` and `blackbox` need none";
  /// False, having reported what the method lacks.
  bool lacksGates(const char* what) {
    e.fail(diag::nothing_to_slow, search.range, declaration.name.text);
    if (Diagnostic* const told = e.told(diag::nothing_to_slow, search.range); told != nullptr && told->notes.empty())
      told->note(what);
    return false;
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
    return any || lacksGates(kFollows);
  }

  /// How many decisions of a gate are about an example: more than one of a gate at the places of an image.
  std::int64_t decisionsOf(TensorId ofGate) const {
    const std::optional<Rational> rows = e.pool.constantValue(e.graph[ofGate].shape.front());
    return rows ? rows->num / spec.inputs.front().dims.front() : 1;
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
      const std::vector<std::pair<std::string_view, Value>> parameters = {
          {"samples", Value::number(shape.front())},
          {"temperature", Value::number(e.pool.constant(search.temperature), true)},
          {"power", Value::number(e.pool.constant(search.power), true)}};
      if (!add(e.callNamed("closed", {std::move(margin)}, parameters, search.range))) return false;
    }
    if (sum.isPoison()) return lacksGates(kFollows);
    sum = call("of_power", {sum}, {{"power", search.power}});
    return !sum.isPoison();
  }

  /// The cross entropy between what gates give and 1, in the mean over all gates and what one decides about; those that compare
  /// nothing have none.
  bool addSurprise() {
    const std::vector<Margin>& margins = e.margins();
    for (const Margin& gate : margins) {
      if (gate.surprise == kNoTensor) continue;
      const Rational share{-1, static_cast<std::int64_t>(margins.size()) * decisionsOf(gate.surprise)};
      if (!add(call("worth", {tensorValue(gate.surprise)}, {{"share", share}}))) return false;
    }
    return !sum.isPoison() || lacksGates(kFollows);
  }

  bool addGates(const std::vector<TensorId>& results) {
    switch (search.objective) {
      case Objective::Uncertainty:
        return addUncertainty(results);
      case Objective::Closed:
        return addClosed();
      case Objective::Gates:
        return addSurprise();
      default:
        return addMargins();
    }
  }

  bool addUncertainty(const std::vector<TensorId>& results) {
    if (results.size() < 2) return lacksGates("it asks how uncertain exits are, and there is none");
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

  // ---- The graphs -------------------------------------------------------------------------------------------------------

  /// What a network of the method makes of this tensor. Poison after a report.
  Value apply(const Value& callee, TensorId to, const std::string& path, SrcRange use) {
    if (callee.isPoison()) return {};
    const bool callable =
        (callee.is(ValueKind::Declaration) || callee.is(ValueKind::Partial)) && callee.decl->kind == ast::NodeKind::Callable;
    if (!callable) return e.fail(diag::unknown_network, use, kindName(callee));
    std::optional<std::vector<Local>> parameters = e.networkParameters(callee, {}, use);
    if (!parameters) return {};
    return e.applyRoot(callee, std::move(*parameters), {tensorValue(to)}, path, use);
  }

  /// Points that a network makes of the seeds. Poison after a report.
  Value generate() {
    const SrcRange use = search.through != nullptr ? search.through->range : search.range;
    const Value callee =
        search.through != nullptr ? e.evaluateIn(*spec.module, *search.through, {}) : e.libraryOperator(search.generator, use);
    const Value raw = apply(callee, seed, search.path, use);
    if (raw.isPoison() || !isLikeSeed(raw, *static_cast<const ast::Callable*>(callee.decl), use)) return {};
    return call(search.move, {raw, tensorValue(seed)}, search.parameters);
  }

  /// What the discriminator says of these samples: numbers for each, which are to be 1 for seeds. Poison after a report.
  Value judge(TensorId samples) {
    const SrcRange use = search.discriminator->range;
    const Value callee = e.evaluateIn(*spec.module, *search.discriminator, {});
    Value answers = apply(callee, samples, search.path + ".discriminator", use);
    if (answers.isPoison()) return {};
    const bool isOfSamples =
        answers.is(ValueKind::Tensor) && !e.graph.tensors[answers.id].shape.empty() && e.graph.tensors[answers.id].dtype == dtype;
    if (isOfSamples) return answers;
    return e.fail(diag::wrong_tensor, use, "the result of a discriminator", "numbers for each example, such as [n, 1]");
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
    const sema::SharedVector<Value> results = next.is(ValueKind::Tensor) ? sema::SharedVector<Value>{next} : next.items;
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
    if (!reached) {
      lacksGates(kFollows);
      return Value{};
    }
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
    if (!objectiveOf(static_cast<TensorId>(point.id)) || !addJudgement(static_cast<TensorId>(point.id))) return false;
    return update(static_cast<TensorId>(sum.id), 0, learned);
  }

  /// How much points are told from seeds (Mao et al. 2017, equation 9, with 1 for what is to be taken for a seed). False after a
  /// report.
  bool addJudgement(TensorId point) {
    if (search.discriminator == nullptr) return true;
    e.inTraining = true;
    const Value answers = judge(point);
    return !answers.isPoison() && add(call("taken_for_seeds", {answers}, {{"share", search.adversarial}}));
  }

  /// One step of the discriminator, which sees seeds and points together, so that both have the moments of one batch.
  bool discriminate() {
    e.inTraining = true;
    const Value point = generate();
    if (point.isPoison()) return false;
    const std::size_t made = e.graph.weights.size();
    Value both = Value::ofKind(ValueKind::List);
    both.items = {tensorValue(seed), point};
    const Value samples = e.callNamed("concat", {both}, {{"axis", Value::number(e.pool.constant(0))}}, search.range);
    if (samples.isPoison()) return false;
    const Value answers = judge(static_cast<TensorId>(samples.id));
    if (answers.isPoison()) return false;
    const Value loss = e.callNamed("told_apart", {answers}, {{"seeds", Value::number(shape.front())}}, search.range);
    return !loss.isPoison() && update(static_cast<TensorId>(loss.id), made, e.graph.weights.size());
  }

  /// Gradients and updates of the weights from `first` to before `end`; the others stay. False after a report.
  bool update(TensorId loss, std::size_t first, std::size_t end) {
    e.graph.loss = loss;
    const Value optimizer = spec.optimizer != nullptr ? e.evaluateIn(*spec.module, *spec.optimizer, {}) : adam();
    const SrcRange use = spec.optimizer != nullptr ? spec.optimizer->range : search.range;
    if (optimizer.isPoison()) return false;
    Updating updating{{{optimizer, use}}, std::vector<std::uint32_t>(e.graph.weights.size(), kStays)};
    std::fill_n(updating.of.begin() + static_cast<std::ptrdiff_t>(first), end - first, 0);
    return Differentiator(e, e.graph).differentiate(loss, updating);
  }

  Value adam() {
    Value optimizer = e.libraryOperator("adam", search.range);
    if (optimizer.isPoison()) return optimizer;
    optimizer.kind = ValueKind::Partial;
    optimizer.words.push_back("lr");
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
