#include "compiler/graph/differentiate/Differentiator.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/graph/differentiate/LossScale.h"
#include "compiler/graph/ir/Opaque.h"
#include "compiler/graph/ir/Views.h"
#include "compiler/graph/ir/Walk.h"
#include "compiler/sema/Walk.h"

#include <algorithm>
#include <utility>

namespace tbem::graph {

Differentiator::Differentiator(Elaborator& elaborator, Graph& graph)
    : elaborator(elaborator), graph(graph), builder(elaborator.builder), forwardOps(graph.ops.size()) {}

bool Differentiator::differentiate(TensorId loss, const Updating& updating, const std::vector<TensorId>& wanted) {
  markNeeded(wanted, updating.of);
  std::vector<UpdateRule> rules;
  for (const auto& [optimizer, use] : updating.optimizers) {
    std::optional<UpdateRule> rule = elaborator.updateRule(optimizer, use);
    if (!rule) return false;
    rules.push_back(std::move(*rule));
  }
  return addGradients(loss, wanted) && addUpdates(rules, updating.of);
}

bool Differentiator::differentiateInputs(TensorId loss, const std::vector<TensorId>& wanted) {
  markNeeded(wanted, std::vector<std::uint32_t>(graph.weights.size(), kStays));
  return addGradients(loss, wanted);
}

bool Differentiator::addGradients(TensorId loss, const std::vector<TensorId>& wanted) {
  if (!needed[index(loss)]) return true;  // nothing to learn
  const Elaborator::Detour detour(elaborator, Phase::Backward);
  // The loss of a step is the mean of its micro-batches'.
  if (elaborator.options.scalesLoss && !weightOf.empty()) {
    const std::size_t first = std::ranges::min_element(weightOf, {}, [](const auto& entry) { return entry.second; })->second;
    elaborator.tape.lossScale = addLossScale(elaborator, graph[graph[graph.weights[first].value].storage].path);
    gradient[index(loss)] = scaledSeed(elaborator, *elaborator.tape.lossScale, graph[loss].range);
    if (gradient[index(loss)] == kNoTensor) return false;
  } else {
    gradient[index(loss)] =
        builder.fill("d" + graph[loss].name, graph[loss].dtype, graph[loss].shape, {1, graph.microBatches}, graph[loss].range);
  }
  if (!passBack()) return false;
  for (const TensorId tensor : wanted) graph.wanted.push_back({tensor, finished(tensor)});
  return true;
}

bool Differentiator::addUpdates(std::vector<UpdateRule>& rules, const std::vector<std::uint32_t>& ruleOf) {
  const Elaborator::Detour detour(elaborator, Phase::Backward);
  for (const std::size_t weight : complete) {
    const Graph::Weight& entry = graph.weights[weight];
    const std::optional<TensorId> after = elaborator.update(rules[ruleOf[weight]], entry.value, entry.gradient);
    if (!after) return false;
    graph.weights[weight].after = *after;
    graph.weights[weight].optimizer = ruleOf[weight];
  }
  if (!elaborator.tape.lossScale || complete.empty()) return true;
  const SrcRange use = rules.front().use;
  return moveLossScale(elaborator, *elaborator.tape.lossScale, elaborator.gradientNorm(use), use);
}

/// Which tensors need a gradient: floating ones from which a weight that does not stay, or a tensor whose gradient is wanted, can
/// be reached through operators that have gradients.
void Differentiator::markNeeded(const std::vector<TensorId>& wanted, const std::vector<std::uint32_t>& optimizerOf) {
  needed.assign(graph.tensors.size(), false);
  gradient.assign(graph.tensors.size(), kNoTensor);
  uses.assign(graph.weights.size(), 0);
  for (const TensorId tensor : wanted) needed[index(tensor)] = true;
  for (std::size_t w = 0; w < graph.weights.size(); ++w) {
    if (optimizerOf[w] == kStays) continue;
    const TensorId value = graph.weights[w].value;
    needed[index(value)] = true;
    weightOf.emplace(index(value), w);
  }
  for (std::size_t i = 0; i < forwardOps; ++i) {
    for (const std::size_t weight : weightsReadBy(graph.ops[i])) ++uses[weight];
    markResults(i);
  }
}

void Differentiator::markResults(std::size_t position) {
  const Op& op = graph.ops[position];
  const auto isNeeded = [&](TensorId tensor) { return tensor != kNoTensor && needed[index(tensor)]; };
  const OpContext* context = elaborator.tape.contextOf(static_cast<OpId>(position));
  const bool stops = context != nullptr && stopsGradient(*context->decl);
  const bool leads = !stops && std::any_of(op.inputs.begin(), op.inputs.end(), isNeeded);
  for (const TensorId result : op.outputs) {
    if (leads && tbem_is_floating(graph[result].dtype)) needed[index(result)] = true;
  }
  for (const OwnGradient& own : elaborator.tape.ownGradients) {  // what is said counts, not what is inside
    if (own.last != position) continue;
    const bool said = std::any_of(own.inputs.begin(), own.inputs.end(), isNeeded);
    for (const TensorId result : own.outputs) needed[index(result)] = said && tbem_is_floating(graph[result].dtype);
  }
}

/// The forward pass from its last operator to its first.
bool Differentiator::passBack() {
  Tape& tape = elaborator.tape;
  for (std::size_t end = forwardOps; end > 0;) {
    const auto id = static_cast<OpId>(end - 1);
    Passage through{graph[id].inputs, graph[id].outputs, graph[id].scope, graph[id].range};
    OpContext* context = tape.contextOf(id);
    std::size_t first = end - 1;
    if (OwnGradient* own = tape.endingAt(end - 1)) {
      first = own->first;
      through.inputs = own->inputs;
      through.outputs = own->outputs;
      context = &own->context;
    }
    if (!differentiateOp(through, context, id)) return false;
    while (end > first) releaseWeights(weightsReadBy(graph.ops[--end]));
  }
  return true;
}

/// The gradients that one forward operator, or one body with a gradient of its own, passes on.
bool Differentiator::differentiateOp(const Passage& through, OpContext* context, OpId id) {
  const bool reached =
      std::ranges::any_of(through.outputs, [&](TensorId tensor) { return gradient[index(tensor)] != kNoTensor; });
  if (!reached) return true;
  const bool leads =
      std::ranges::any_of(through.inputs, [&](TensorId tensor) { return tensor != kNoTensor && needed[index(tensor)]; });
  if (!leads) return true;
  if (context == nullptr) {  // a copy: its gradient is that of its source
    accumulate(through.inputs.front(), gradient[index(through.outputs.front())]);
    return true;
  }
  const ast::Callable& decl = *context->decl;
  if (decl.backward.empty() && isOpaque(decl)) {
    differentiateOpaque(through, id);
    return true;
  }
  if (decl.backward.empty()) {
    elaborator.sink.report(diag::no_gradient, through.range, decl.name.text, decl.tensors.front().name.text)
        .label(decl.name.range, "declared here without `backward`");
    return false;
  }
  std::vector<std::vector<TensorId>> inputs;
  for (const ast::Part& part : decl.backward) inputs.push_back(neededBy(*context, part));
  BackwardClause clause(elaborator, std::move(*context), through, id);
  for (std::size_t p = 0; p < inputs.size(); ++p) {
    if (inputs[p].empty()) continue;
    const ast::Part& part = decl.backward[p];
    defineGradients(clause, decl, *part.value, through);
    const std::vector<TensorId> parts = clause.evaluate(part, inputs[p]);
    if (parts.empty()) return false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (inputs[p][i] != kNoTensor) accumulate(inputs[p][i], parts[i]);
    }
  }
  return true;
}

/// What the gradient of an opaque operator computes is not known either, but its shapes are those of the operands. It is taken to
/// read the operands and the gradients of the results.
void Differentiator::differentiateOpaque(const Passage& through, OpId id) {
  Op op;
  op.kind = OpKind::Native;
  op.own = graph[id].own;
  op.declaration = graph[id].declaration;
  op.range = through.range;
  op.use = graph[id].use;
  op.scope = through.scope;
  for (const TensorId result : through.outputs) {
    if (gradient[index(result)] != kNoTensor) op.inputs.push_back(gradient[index(result)]);
  }
  std::vector<TensorId> of;
  for (const TensorId input : through.inputs) {
    op.inputs.push_back(input);
    const bool isNeeded = input != kNoTensor && needed[index(input)] && tbem_is_floating(graph[input].dtype);
    if (!isNeeded || std::ranges::find(of, input) != of.end()) continue;
    of.push_back(input);
    op.outputs.push_back(builder.addTensor("d" + graph[input].name, graph[input].dtype, graph[input].shape, through.range));
  }
  const std::vector<TensorId> made = op.outputs;
  const OpId before = std::exchange(builder.stamp.forward, id);
  builder.addOp(std::move(op));
  builder.stamp.forward = before;
  for (std::size_t i = 0; i < of.size(); ++i) accumulate(of[i], made[i]);
}

/// The tensors that a part of a `backward` clause is for: one, or the elements of a list; kNoTensor for one that needs none.
/// Empty where no gradient is needed at all, as for an absent weight.
std::vector<TensorId> Differentiator::neededBy(const OpContext& context, const ast::Part& part) const {
  std::vector<TensorId> inputs;
  const auto local = std::find_if(context.locals.rbegin(), context.locals.rend(),
                                  [&](const Local& known) { return known.name == part.name.text; });
  if (local == context.locals.rend()) return inputs;
  const auto add = [&](const Value& value) {
    const auto input = static_cast<TensorId>(value.id);
    const bool isNeeded = value.is(ValueKind::Tensor) && index(input) < needed.size() && needed[index(input)] &&
                          tbem_is_floating(graph[input].dtype);
    inputs.push_back(isNeeded ? input : kNoTensor);
  };
  if (local->value.is(ValueKind::List))
    std::ranges::for_each(local->value.items, add);
  else
    add(local->value);
  const bool any = std::any_of(inputs.begin(), inputs.end(), [](TensorId input) { return input != kNoTensor; });
  return any ? inputs : std::vector<TensorId>{};
}

/// Names `d<result>` for every result that the part mentions. A result whose gradient nobody supplies is zero: a number in an
/// element-wise expression, a tensor of zeros where an operator wants one.
void Differentiator::defineGradients(BackwardClause& clause, const ast::Callable& decl, const ast::Expr& expr,
                                     const Passage& through) {
  const bool elementwise = clause.isElementwise(expr);
  for (std::size_t r = 0; r < through.outputs.size() && r < decl.results.size(); ++r) {
    const ast::Result& result = decl.results[r];
    const std::string name = "d" + result.name.text;
    const ast::Name* word = nullptr;
    sema::forEachInside(expr, [&](const ast::Expr& inner) {
      const auto* reference = ast::dynCast<ast::NameRef>(&inner);
      if (reference != nullptr && reference->name.text == name) word = &reference->name;
    });
    if (word == nullptr) continue;
    Value value;
    if (result.type->kind == ast::NodeKind::ListType) {  // the only result
      std::vector<Value> all;
      for (const TensorId output : through.outputs) all.push_back(gradientOf(output, name, through.range));
      value = Value::list(std::move(all));
    } else if (gradient[index(through.outputs[r])] == kNoTensor && elementwise) {
      value = Value::number(elaborator.pool.constant(0));
    } else {
      value = gradientOf(through.outputs[r], name, through.range);
    }
    clause.define(*word, std::move(value), result);
  }
}

/// The gradient of a tensor so far; zeros where there is none.
Value Differentiator::gradientOf(TensorId tensor, const std::string& name, SrcRange range) {
  TensorId& known = gradient[index(tensor)];
  if (known == kNoTensor) known = builder.fill(name, graph[tensor].dtype, graph[tensor].shape, Rational::of(0), range);
  return Value::indexed(ValueKind::Tensor, index(known));
}

/// Sums gradients where a tensor has several uses.
void Differentiator::accumulate(TensorId tensor, TensorId part) {
  valueOf.emplace(index(part), tensor);
  TensorId& known = gradient[index(tensor)];
  if (known != kNoTensor) {
    part = builder.add(known, part, tensor);
    valueOf.emplace(index(part), tensor);
  }
  known = part;
}

// ---- Weights ----------------------------------------------------------------------------------------------------------

/// Each once, in order.
std::vector<std::size_t> Differentiator::weightsReadBy(const Op& op) const {
  std::vector<std::size_t> read;
  for (const TensorId input : op.inputs) {
    if (input == kNoTensor) continue;
    if (const auto weight = weightOf.find(index(input)); weight != weightOf.end()) read.push_back(weight->second);
  }
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return read;
}

/// Counts a reader of weights as differentiated; the last one of a weight completes its gradient.
void Differentiator::releaseWeights(const std::vector<std::size_t>& read) {
  for (const std::size_t weight : read) {
    if (--uses[weight] == 0) finishWeight(weight);
  }
}

/// A weight whose gradient is complete: the gradient gets a storage of its own. Optimisers come last in the program, since they
/// may want the norm of all gradients; those that do not are run by the schedule as soon as nothing reads the weight any more.
void Differentiator::finishWeight(std::size_t weight) {
  const TensorId own = finished(graph.weights[weight].value);
  if (own == kNoTensor) return;
  graph.weights[weight].gradient = graph.microBatches > 1 ? builder.addUp(own, 1) : own;
  complete.push_back(weight);
}

TensorId Differentiator::finished(TensorId tensor) {
  TensorId own = gradient[index(tensor)];
  if (own == kNoTensor) return kNoTensor;
  if (elaborator.tape.lossScale) own = unscaled(elaborator, *elaborator.tape.lossScale, own, graph[tensor].range);
  if (own == kNoTensor) return kNoTensor;
  const OpId producer = graph[own].producer;
  const bool exclusive = producer != kNoOp && graph[producer].kind != OpKind::View && graph[producer].phase == Phase::Backward &&
                         graph[graph[own].storage].kind == StorageClass::Activation;
  if (!exclusive) own = builder.copy(own, graph[tensor].range, static_cast<ScopeId>(0));
  Storage& storage = graph[graph[own].storage];
  storage.kind = StorageClass::Gradient;
  storage.path = graph[graph[tensor].storage].path;
  return own;
}

}  // namespace tbem::graph
