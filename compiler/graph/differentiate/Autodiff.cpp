// Reverse mode by declared gradients: operators in reverse order, gradients summed where a tensor has several uses, nothing
// built that leads to no weight. The optimiser's update of each weight follows at the end.
#include "compiler/graph/differentiate/Differentiation.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/sema/Walk.h"

#include <algorithm>
#include <set>

namespace tbem::graph {

/// Which tensors need a gradient: floating ones from which a weight can be reached through operators that have gradients.
void Elaborator::markNeeded(Differentiation& d) {
  d.needed.assign(graph.tensors.size(), false);
  d.gradient.assign(graph.tensors.size(), kNoTensor);
  d.uses.assign(graph.weights.size(), 0);
  for (std::size_t w = 0; w < graph.weights.size(); ++w) {
    const TensorId value = graph.weights[w].value;
    d.needed[index(value)] = true;
    d.weightOf.emplace(index(value), w);
  }
  for (std::size_t i = 0; i < d.forwardOps; ++i) {
    const Op& op = graph.ops[i];
    std::set<std::size_t> read;
    bool leads = false;
    for (const TensorId input : op.inputs) {
      if (input == kNoTensor) continue;
      leads = leads || d.needed[index(input)];
      if (const auto weight = d.weightOf.find(index(input)); weight != d.weightOf.end()) read.insert(weight->second);
    }
    for (const std::size_t weight : read) ++d.uses[weight];
    for (const TensorId result : op.outputs) {
      if (leads && tbem_is_floating(graph[result].dtype)) d.needed[index(result)] = true;
    }
    for (const OwnGradient& own : ownGradients) {  // what is said counts, not what is inside
      if (own.last != i) continue;
      const bool said = std::any_of(own.inputs.begin(), own.inputs.end(), [&](TensorId t) { return d.needed[index(t)]; });
      for (const TensorId result : own.outputs) d.needed[index(result)] = said && tbem_is_floating(graph[result].dtype);
    }
  }
}

bool Elaborator::differentiate(TensorId loss, const Value& optimizer, SrcRange use) {
  Differentiation d;
  d.forwardOps = graph.ops.size();
  for (std::size_t i = 0; i < d.forwardOps; ++i) {
    const OpKind kind = graph.ops[i].kind;
    if (kind == OpKind::Skip || kind == OpKind::Exit) {
      fail(diag::gates_not_trained, graph.ops[i].range, kind == OpKind::Skip ? "skip" : "exit");
      return false;
    }
  }
  markNeeded(d);
  if (!bindOptimizer(d, optimizer, use)) return false;
  if (!d.needed[index(loss)]) return true;  // no weight: nothing to learn
  phase = Phase::Backward;
  places.emplace_back();
  // The loss of a step is the mean of its micro-batches'.
  const TensorId seed =
      constantTensor("d" + graph[loss].name, graph[loss].dtype, graph[loss].shape, {1, graph.microBatches}, graph[loss].range);
  d.gradient[index(loss)] = seed;
  bool good = true;
  for (std::size_t end = d.forwardOps; good && end > 0;) {
    const auto id = static_cast<OpId>(end - 1);
    Op op = graph[id];
    OpContext context = std::move(contexts[index(id)]);
    std::size_t first = end - 1;
    if (const OwnGradient* own = ownGradientAt(end - 1)) {
      first = own->first;
      op.inputs = own->inputs;
      op.outputs = own->outputs;
      context = own->context;
    }
    good = backwardOf(d, op, context, id);
    while (good && end > first) good = releaseWeights(d, Op(graph.ops[--end]));
  }
  for (std::size_t i = 0; good && i < d.finished.size(); ++i) good = updateWeight(d, d.finished[i]);
  forwardOp = kNoOp;
  phase = Phase::Forward;
  places.pop_back();
  return good;
}

const OwnGradient* Elaborator::ownGradientAt(std::size_t last) const {
  const auto own =
      std::find_if(ownGradients.rbegin(), ownGradients.rend(), [&](const OwnGradient& one) { return one.last == last; });
  return own != ownGradients.rend() ? &*own : nullptr;
}

/// Counts a reader of weights as differentiated; the last one of a weight completes its gradient.
bool Elaborator::releaseWeights(Differentiation& d, const Op& op) {
  std::set<std::size_t> read;
  for (const TensorId input : op.inputs) {
    if (input == kNoTensor) continue;
    if (const auto weight = d.weightOf.find(index(input)); weight != d.weightOf.end()) read.insert(weight->second);
  }
  bool good = true;
  for (const std::size_t weight : read) {
    if (good && --d.uses[weight] == 0) good = finishWeight(d, weight);
  }
  return good;
}

TensorId Elaborator::constantTensor(const std::string& name, tbem_dtype dtype, const std::vector<ExprId>& shape, Rational value,
                                    SrcRange range) {
  const TensorId id = addTensor(name, dtype, shape, range);
  Op op;
  op.kind = OpKind::Elementwise;
  op.declaration = "fill";
  op.outputs = {id};
  op.range = range;
  ElemNode node;
  node.op = ElemOp::Constant;
  node.value = value;
  op.elementwise.nodes.push_back(node);
  op.elementwise.roots.push_back(0);
  addOp(std::move(op), nullptr);
  return id;
}

/// The tensors that a part of a `backward` clause is for: one, or the elements of a list; kNoTensor for one that needs none.
/// Empty where no gradient is needed at all, as for an absent weight.
std::vector<TensorId> Elaborator::neededBy(const Differentiation& d, const OpContext& context, const ast::Part& part) const {
  std::vector<TensorId> inputs;
  const auto local =
      std::find_if(context.locals.rbegin(), context.locals.rend(), [&](const Local& one) { return one.name == part.name.text; });
  if (local == context.locals.rend()) return inputs;
  const bool isList = local->value.is(ValueKind::List);
  for (const Value& one : isList ? local->value.items : std::vector<Value>{local->value}) {
    const auto input = static_cast<TensorId>(one.id);
    const bool needed = one.is(ValueKind::Tensor) && index(input) < d.needed.size() && d.needed[index(input)] &&
                        tbem_is_floating(graph[input].dtype);
    inputs.push_back(needed ? input : kNoTensor);
  }
  const bool any = std::any_of(inputs.begin(), inputs.end(), [](TensorId input) { return input != kNoTensor; });
  return any ? inputs : std::vector<TensorId>{};
}

/// The gradients that one forward operator, or one body with a gradient of its own, passes on.
bool Elaborator::backwardOf(Differentiation& d, const Op& op, const OpContext& context, OpId id) {
  const bool reached =
      std::any_of(op.outputs.begin(), op.outputs.end(), [&](TensorId t) { return d.gradient[index(t)] != kNoTensor; });
  if (!reached) return true;
  const bool leads =
      std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId t) { return t != kNoTensor && d.needed[index(t)]; });
  if (!leads) return true;
  if (context.decl == nullptr) {  // a copy: its gradient is that of its source
    return accumulate(d, op.inputs.front(), d.gradient[index(op.outputs.front())]);
  }
  if (context.decl->backward.empty()) {
    sink.report(diag::no_gradient, op.range, context.decl->name.text, context.decl->tensors.front().name.text)
        .label(context.decl->name.range, "declared here without `backward`");
    return false;
  }
  Activation a;
  a.frame.module = context.module;
  a.frame.decl = context.decl;
  a.frame.locals = context.locals;
  a.decl = context.decl;
  a.labels = context.labels;
  a.path = context.path;
  a.scope = op.scope;
  a.use = a.range = op.range;
  a.rank = 3;  // every operator made here bears the forward operator's range
  a.gradient = true;
  a.dtype = graph[op.outputs.front()].dtype;
  Frame* const outerFrame = frame;
  Activation* const outer = current;
  frame = &a.frame;
  current = &a;
  forwardOp = id;
  std::unordered_map<std::string, Value> made;
  memo = &made;
  bool good = true;
  for (const ast::Part& part : context.decl->backward) {
    const std::vector<TensorId> inputs = neededBy(d, context, part);
    if (inputs.empty()) continue;
    good = defineGradients(d, a, *part.value, op);
    if (!good) break;
    const Labels* labels = a.labelsOf(part.name.text);
    const bool isList = a.frame.find(part.name.text)->value.is(ValueKind::List);
    const std::vector<TensorId> made =
        isList ? gradientParts(a, part, inputs) : gradientPart(a, part, inputs.front(), labels != nullptr ? *labels : Labels{});
    good = !made.empty();
    for (std::size_t i = 0; good && i < inputs.size(); ++i) good = inputs[i] == kNoTensor || accumulate(d, inputs[i], made[i]);
    if (!good) break;
  }
  memo = nullptr;
  forwardOp = kNoOp;
  current = outer;
  frame = outerFrame;
  return good;
}

/// Sums gradients where a tensor has several uses.
bool Elaborator::accumulate(Differentiation& d, TensorId tensor, TensorId gradient) {
  valueOf.emplace(index(gradient), tensor);
  TensorId& known = d.gradient[index(tensor)];
  if (known == kNoTensor) {
    known = gradient;
    return true;
  }
  const TensorId sum = addTensor("d" + graph[tensor].name, graph[tensor].dtype, graph[tensor].shape, graph[tensor].range);
  Op op;
  op.kind = OpKind::Elementwise;
  op.declaration = "add";
  op.inputs = {known, gradient};
  op.outputs = {sum};
  const OpId producer = graph[tensor].producer;
  op.range = producer != kNoOp ? graph[producer].range : graph[tensor].range;
  if (forwardOp != kNoOp) op.scope = graph[forwardOp].scope;
  for (std::uint32_t i = 0; i < 2; ++i) {
    ElemNode node;
    node.op = ElemOp::Input;
    node.input = i;
    op.elementwise.nodes.push_back(node);
    ElemOperand operand;
    for (std::size_t k = 0; k < graph[tensor].shape.size(); ++k) operand.axes.push_back(static_cast<std::int32_t>(k));
    op.elementwise.operands.push_back(std::move(operand));
  }
  ElemNode total;
  total.op = ElemOp::Add;
  total.b = 1;
  op.elementwise.nodes.push_back(total);
  op.elementwise.roots.push_back(2);
  op.flops.push_back({"add", elementCount(graph[tensor].shape)});
  addOp(std::move(op), nullptr);
  valueOf.emplace(index(sum), tensor);
  known = sum;
  return true;
}

/// A weight whose gradient is complete: the gradient gets a storage of its own. Optimisers come last in the program, since they
/// may want the norm of all gradients; those that do not are run by the schedule as soon as nothing reads the weight any more.
bool Elaborator::finishWeight(Differentiation& d, std::size_t weight) {
  Graph::Weight& entry = graph.weights[weight];
  TensorId gradient = d.gradient[index(entry.value)];
  if (gradient == kNoTensor) return true;  // the loss does not depend on it
  const std::string path = graph[graph[entry.value].storage].path;
  const auto exclusive = [&](TensorId t) {
    const OpId producer = graph[t].producer;
    return producer != kNoOp && graph[producer].kind != OpKind::View && graph[producer].phase == Phase::Backward &&
           graph[graph[t].storage].kind == StorageClass::Activation;
  };
  if (!exclusive(gradient)) {
    const Value copy = copyOf(gradient, graph[entry.value].range);
    gradient = static_cast<TensorId>(copy.id);
  }
  graph[graph[gradient].storage].kind = StorageClass::Gradient;
  graph[graph[gradient].storage].path = path;
  entry.gradient = graph.microBatches > 1 ? addUp(gradient, 1) : gradient;
  d.finished.push_back(weight);
  return true;
}

}  // namespace tbem::graph
