#include "compiler/lower/Attention.h"

#include "compiler/count/Flops.h"
#include "compiler/count/Layout.h"
#include "compiler/graph/ir/Attributes.h"
#include "compiler/lower/Scaling.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tbem::estimate {

using graph::index;
using graph::Op;
using graph::OpId;
using graph::TensorId;

namespace {

/// The operators that an attention and its gradient are in a graph.
struct Parts {
  OpId softmax{}, weighted{}, products{};
  // Of its gradient: kNoOp where there is none.
  OpId softmaxGradient = graph::kNoOp, dvalue = graph::kNoOp, dquery = graph::kNoOp, dkey = graph::kNoOp;
  TensorId dy = graph::kNoTensor;
  bool causal = false;
  sema::ExprId isCausal = sema::kNoExpr;  ///< 1 or 0 as `causal` says
  std::vector<OpId> forward, backward;    ///< all of them

  bool hasGradient() const { return softmaxGradient != graph::kNoOp; }
};

/// Finds attention by the softmax in it.
class Finder {
public:
  Finder(const graph::Graph& graph, const sema::Values& values, const std::vector<TensorId>& kept)
      : graph(graph), values(values), readers(graph.tensors.size()), kept(kept.begin(), kept.end()) {
    for (const OpId id : graph[graph::kMainRegion].ops) {
      for (const TensorId input : graph[id].inputs) {
        if (input != graph::kNoTensor) readers[index(input)].push_back(id);
      }
      if (graph[id].repeats) repeated.insert(graph[id].forward);
    }
  }

  /// The attention whose softmax this operator is.
  std::optional<Parts> around(OpId id) const {
    const Op& softmax = graph[id];
    if (softmax.primitive != TBEM_PRIMITIVE_softmax || softmax.phase != graph::Phase::Forward) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(graph[softmax.inputs[0]].shape.size());
    if (rank < 2 || attributesOf(softmax) != std::vector{rank - 1}) return std::nullopt;
    Parts parts;
    parts.softmax = id;
    parts.forward.push_back(id);
    return readForward(parts) && readBackward(parts) && isWhole(parts) ? std::optional(std::move(parts)) : std::nullopt;
  }

private:
  const Op& op(OpId id) const { return graph[id]; }

  /// None where one has no number in this row.
  std::vector<std::int64_t> attributesOf(const Op& op) const {
    std::string wrong;  // lowering says it
    return graph::flattenAttributes(op, values, graph[op.inputs[0]].shape.size(), graph[op.outputs[0]].shape.size(), wrong);
  }

  bool isProduct(OpId id, bool transposedA, bool transposedB) const {
    const std::vector<std::int64_t> transposed{transposedA ? 1 : 0, transposedB ? 1 : 0};
    return id != graph::kNoOp && op(id).primitive == TBEM_PRIMITIVE_matmul && attributesOf(op(id)) == transposed;
  }

  bool isCast(OpId id) const {
    const auto scaling = scalingOf(graph, values, id);
    return scaling && scaling->isNothing();
  }

  /// From a tensor back through scalings to what they read.
  TensorId scaledFrom(TensorId tensor, Scaling& scaling, std::vector<OpId>& passed) const {
    while (const auto first = scalingOf(graph, values, graph[tensor].producer)) {
      const auto both = joined(*first, scaling);
      if (!both) break;
      scaling = *both;
      passed.push_back(graph[tensor].producer);
      tensor = op(passed.back()).inputs[0];
    }
    return tensor;
  }

  /// An operator that reads a tensor, perhaps a cast of it, which is `as`.
  struct Reader {
    OpId id;
    TensorId as;
  };
  void readersOf(TensorId tensor, std::vector<Reader>& found, std::vector<OpId>& casts) const {
    for (const OpId id : readers[index(tensor)]) {
      if (isCast(id)) {
        casts.push_back(id);
        readersOf(op(id).outputs[0], found, casts);
      } else {
        found.push_back({id, tensor});
      }
    }
  }

  /// softmax(query key^T scaled) value.
  bool readForward(Parts& parts) const {
    Scaling scaling;
    const TensorId scores = scaledFrom(op(parts.softmax).inputs[0], scaling, parts.forward);
    parts.products = graph[scores].producer;
    if (!isProduct(parts.products, false, true)) return false;
    parts.forward.push_back(parts.products);
    parts.causal = scaling.causal;
    // The graph's own 0 and 1: whether the factors of query key^T are transposed.
    parts.isCausal = op(parts.products).attributes[scaling.causal ? 1 : 0].values[0];
    constexpr double kHidden = -1e9;
    if (scaling.causal && !(scaling.hidden <= kHidden)) return false;
    if (!isScaleOf(scaling.factor, op(parts.products).inputs[0])) return false;
    std::vector<Reader> found;
    readersOf(op(parts.softmax).outputs[0], found, parts.forward);
    int forward = 0;
    for (const Reader& reader : found) {
      const bool isLeft = op(reader.id).inputs[0] == reader.as && op(reader.id).inputs.back() != reader.as;
      if (isLeft && isProduct(reader.id, false, false) && op(reader.id).phase == graph::Phase::Forward) {
        parts.weighted = reader.id;
        ++forward;
      } else if (op(reader.id).primitive == TBEM_PRIMITIVE_softmax_gradient && op(reader.id).inputs[1] == reader.as) {
        parts.softmaxGradient = reader.id;
      } else if (isLeft && isProduct(reader.id, true, false)) {
        parts.dvalue = reader.id;
      } else {
        return false;
      }
    }
    if (forward != 1 || found.size() != (parts.hasGradient() ? 3U : 1U)) return false;
    parts.forward.push_back(parts.weighted);
    return true;
  }

  /// 1 / sqrt(d) of a query [.., l, d].
  bool isScaleOf(double factor, TensorId query) const {
    const sema::ExprId width = graph[query].shape.back();
    if (values.errorOf(width) != sema::EvalError::None) return false;
    return std::abs(factor * std::sqrt(values[width].toDouble()) - 1) < 1e-9;
  }

  bool readBackward(Parts& parts) const {
    if (!parts.hasGradient()) return parts.dvalue == graph::kNoOp;
    if (parts.dvalue == graph::kNoOp) return false;
    const Op &products = op(parts.products), &weighted = op(parts.weighted), &gradient = op(parts.softmaxGradient);
    parts.backward = {parts.softmaxGradient, parts.dvalue};
    Scaling none;
    const OpId dweights = graph[scaledFrom(gradient.inputs[0], none, parts.backward)].producer;
    if (!none.isNothing() || !isProduct(dweights, false, true)) return false;
    parts.backward.push_back(dweights);
    parts.dy = op(dweights).inputs[0];
    if (op(dweights).inputs[1] != weighted.inputs[1] || op(parts.dvalue).inputs[1] != parts.dy) return false;
    // Down to the two products of the scores' gradient.
    Scaling scaling;
    TensorId dscores = gradient.outputs[0];
    while (readers[index(dscores)].size() == 1) {
      const OpId next = readers[index(dscores)].front();
      const auto then = scalingOf(graph, values, next), both = then ? joined(scaling, *then) : std::nullopt;
      if (!both) return false;
      scaling = *both;
      parts.backward.push_back(next);
      dscores = op(next).outputs[0];
    }
    if (scaling.causal != parts.causal || scaling.hidden != 0 || !isScaleOf(scaling.factor, products.inputs[0])) return false;
    std::vector<Reader> found;
    readersOf(dscores, found, parts.backward);
    for (const Reader& reader : found) {
      if (op(reader.id).inputs[0] != reader.as) return false;
      if (isProduct(reader.id, false, false) && op(reader.id).inputs[1] == products.inputs[1]) parts.dquery = reader.id;
      if (isProduct(reader.id, true, false) && op(reader.id).inputs[1] == products.inputs[0]) parts.dkey = reader.id;
    }
    if (found.size() != 2 || parts.dquery == graph::kNoOp || parts.dkey == graph::kNoOp) return false;
    parts.backward.insert(parts.backward.end(), {parts.dquery, parts.dkey});
    return true;
  }

  /// Whether nobody else reads what is made on the way, and nothing of it is computed twice.
  bool isWhole(const Parts& parts) const {
    std::set<OpId> members(parts.forward.begin(), parts.forward.end());
    members.insert(parts.backward.begin(), parts.backward.end());
    const std::set<OpId> results{parts.weighted, parts.dvalue, parts.dquery, parts.dkey};
    return std::all_of(members.begin(), members.end(), [&](OpId id) {
      if (op(id).repeats || repeated.contains(id)) return false;
      if (results.contains(id)) return true;
      const TensorId made = op(id).outputs[0];
      const std::vector<OpId>& read = readers[index(made)];
      return !kept.contains(made) && std::all_of(read.begin(), read.end(), [&](OpId by) { return members.contains(by); });
    });
  }

  const graph::Graph& graph;
  const sema::Values& values;
  std::vector<std::vector<OpId>> readers;  ///< by tensor
  std::set<TensorId> kept;
  std::set<OpId> repeated;  ///< whose results are computed once more
};

/// Writes attention in the place of its parts.
class Rewriter {
public:
  Rewriter(const graph::Graph& graph, const sema::Values& values, const tbem_backend& backend, QueryCache& cache)
      : graph(graph), values(values), backend(backend), cache(cache) {}

  void take(const Parts& parts, std::optional<WithAttention>& result) const {
    const Op &products = graph[parts.products], &weighted = graph[parts.weighted];
    const TensorId logSums = graph[parts.softmax].outputs[0];
    Op forward = weighted;
    forward.primitive = TBEM_PRIMITIVE_attention;
    forward.declaration = "attention";
    forward.inputs = {products.inputs[0], products.inputs[1], weighted.inputs[1]};
    forward.outputs = {weighted.outputs[0], logSums};
    forward.attributes = {{"causal", {parts.isCausal}}};
    std::optional<Op> backward;
    if (parts.hasGradient()) {
      backward = graph[parts.softmaxGradient];
      backward->primitive = TBEM_PRIMITIVE_attention_gradient;
      backward->declaration = "attention_gradient";
      backward->inputs = {parts.dy};
      backward->inputs.insert(backward->inputs.end(), forward.inputs.begin(), forward.inputs.end());
      backward->inputs.insert(backward->inputs.end(), forward.outputs.begin(), forward.outputs.end());
      backward->outputs = {graph[parts.dquery].outputs[0], graph[parts.dkey].outputs[0], graph[parts.dvalue].outputs[0]};
      backward->attributes = forward.attributes;
      backward->forward = parts.weighted;
    }
    if (!isThere(forward, logSums, parts.causal) || (backward && !isThere(*backward, logSums, parts.causal))) return;
    if (!result) result = WithAttention{graph, {}};
    graph::Tensor& sums = result->graph[logSums];
    sums.name = "log_sums";
    sums.dtype = TBEM_F32;
    sums.shape.pop_back();
    place(*result, parts.weighted, std::move(forward), parts.forward);
    if (backward) place(*result, parts.softmaxGradient, std::move(*backward), parts.backward);
  }

private:
  /// Whether the backend computes it in this row.
  bool isThere(const Op& op, TensorId logSums, bool causal) const {
    std::vector<tbem_operand> operands;
    for (const std::vector<TensorId>* list : {&op.inputs, &op.outputs}) {
      for (const TensorId tensor : *list) {
        auto dims = dimsOf(graph, values, tensor);
        if (!dims) return false;
        if (tensor == logSums) dims->pop_back();
        operands.push_back(plainOperand(tensor == logSums ? TBEM_F32 : graph[tensor].dtype, *dims));
      }
    }
    const std::vector<std::int64_t> attributes{causal ? 1 : 0};
    return cache.impl().ask(backend, {op.primitive, operands, op.inputs.size(), attributes}).status == TBEM_OK;
  }

  static void place(WithAttention& result, OpId id, Op made, const std::vector<OpId>& parts) {
    for (const TensorId output : made.outputs) result.graph[output].producer = id;
    result.graph[id] = std::move(made);
    std::erase_if(result.graph[graph::kMainRegion].ops,
                  [&](OpId other) { return other != id && std::find(parts.begin(), parts.end(), other) != parts.end(); });
    std::vector<OpId>& stands = result.standsFor[id];
    stands = parts;
    std::sort(stands.begin(), stands.end());
    std::iter_swap(stands.begin(), std::find(stands.begin(), stands.end(), id));  // what a reader is shown first
  }

  const graph::Graph& graph;
  const sema::Values& values;
  const tbem_backend& backend;
  QueryCache& cache;
};

}  // namespace

std::optional<WithAttention> withAttention(const graph::Graph& graph, const sema::Values& values, const tbem_backend& backend,
                                           const std::vector<TensorId>& kept, QueryCache& cache) {
  if (graph.regions.size() > 1) return std::nullopt;  // gates
  const Finder finder(graph, values, kept);
  const Rewriter rewriter(graph, values, backend, cache);
  std::optional<WithAttention> result;
  for (const OpId id : graph[graph::kMainRegion].ops) {
    if (const auto parts = finder.around(id)) rewriter.take(*parts, result);
  }
  return result;
}

}  // namespace tbem::estimate
