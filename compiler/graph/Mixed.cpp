#include "compiler/graph/Mixed.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace tbem::graph {

namespace {

/// What an operator does with narrow operands.
enum class Use : std::uint8_t {
  Narrow,  ///< reads them narrow, whatever they were
  Follow,  ///< computes in the type of the values that it reads
  Wide     ///< reads f32
};

struct NativeRule {
  tbem_primitive primitive;
  Use use;
  std::size_t values;  ///< how many inputs, from the first, are tensors as large as images or matrices; 0: all. Others stay f32
  std::size_t model;   ///< Follow: the input whose type decides
  bool wideResults;    ///< its results are f32: sums, statistics, gradients of weights
};

/// All other primitives are Wide.
constexpr NativeRule kRules[] = {
    {TBEM_PRIMITIVE_conv2d, Use::Narrow, 2, 0, false},
    {TBEM_PRIMITIVE_conv2d_input_gradient, Use::Narrow, 2, 0, false},
    {TBEM_PRIMITIVE_conv2d_weight_gradient, Use::Narrow, 2, 0, true},
    {TBEM_PRIMITIVE_dense, Use::Narrow, 2, 0, false},
    {TBEM_PRIMITIVE_dense_input_gradient, Use::Narrow, 2, 0, false},
    {TBEM_PRIMITIVE_dense_weight_gradient, Use::Narrow, 2, 0, true},
    {TBEM_PRIMITIVE_matmul, Use::Narrow, 2, 0, false},
    {TBEM_PRIMITIVE_reduce_sum, Use::Follow, 1, 0, true},
    {TBEM_PRIMITIVE_channel_moments, Use::Follow, 1, 0, true},
    {TBEM_PRIMITIVE_channel_gradient_sums, Use::Follow, 2, 1, true},
    {TBEM_PRIMITIVE_max_pool2d, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_max_pool2d_gradient, Use::Follow, 2, 1, false},
    {TBEM_PRIMITIVE_avg_pool2d, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_avg_pool2d_gradient, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_adaptive_avg_pool2d, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_permute, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_pad, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_slice, Use::Follow, 1, 0, false},
    {TBEM_PRIMITIVE_concat, Use::Follow, 0, 0, false},
    {TBEM_PRIMITIVE_gather, Use::Follow, 1, 0, false},
};

NativeRule ruleOf(const Op& op) {
  const auto found = std::find_if(std::begin(kRules), std::end(kRules), [&](const NativeRule& rule) {
    return op.own.symbol.empty() && rule.primitive == op.primitive;
  });
  return found != std::end(kRules) ? *found : NativeRule{op.primitive, Use::Wide, 0, 0, true};
}

/// Functions whose results grow or change faster than bf16 can say.
bool isSteep(ElemOp op) {
  return op == ElemOp::Exp || op == ElemOp::Log || op == ElemOp::Pow || op == ElemOp::Sqrt || op == ElemOp::Rsqrt;
}

/// Arithmetic that a program writes down: a parameter in it makes the result f32, as PyTorch's type promotion does. (Those of a
/// normalisation or an activation are read as they are.)
bool promotes(const Op& op) {
  constexpr std::array<std::string_view, 6> kArithmetic{"add", "sub", "mul", "divide", "maximum", "minimum"};
  return std::find(kArithmetic.begin(), kArithmetic.end(), op.declaration) != kArithmetic.end();
}

class Mixer {
public:
  Mixer(Graph& g, const MixedOptions& o) : graph(g), options(o) {}

  void run() {
    const std::vector<OpId> program = std::exchange(graph[kMainRegion].ops, {});
    for (const OpId id : program) {
      switch (graph[id].kind) {
        case OpKind::Native:
          native(id);
          break;
        case OpKind::Elementwise:
          elementwise(id);
          break;
        default:
          graph[graph[id].outputs.front()].dtype = graph[graph[id].inputs.front()].dtype;  // a view
          break;
      }
      graph[kMainRegion].ops.push_back(id);
    }
  }

private:
  bool isMixed(TensorId tensor) const {
    return tensor != kNoTensor && (graph[tensor].dtype == TBEM_F32 || graph[tensor].dtype == options.narrow);
  }
  bool isNarrow(TensorId tensor) const { return tensor != kNoTensor && graph[tensor].dtype == options.narrow; }
  /// Activations and their gradients may be narrow; what outlives a step, and gradients of weights, are not.
  bool mayBeNarrow(TensorId tensor) const {
    return graph[tensor].dtype == TBEM_F32 && graph[graph[tensor].storage].kind == StorageClass::Activation &&
           graph[tensor].shape.size() >= 2;
  }
  bool isParameter(TensorId tensor) const {
    return tensor != kNoTensor && !graph[tensor].shape.empty() && graph[graph[tensor].storage].kind == StorageClass::Weight;
  }
  bool isOfLoss(OpId id) const { return graph[id].phase == Phase::Forward && index(id) >= options.lossBegin; }

  void native(OpId id) {
    NativeRule rule = ruleOf(graph[id]);
    if (isOfLoss(id)) rule = {rule.primitive, Use::Wide, 0, 0, true};
    const std::size_t count = graph[id].inputs.size();
    const bool kept = std::any_of(graph[id].outputs.begin(), graph[id].outputs.end(), [this](TensorId result) {
      return graph[graph[result].storage].kind != StorageClass::Activation;
    });
    bool narrow = rule.use == Use::Narrow || (rule.use == Use::Follow && isNarrow(graph[id].inputs[rule.model]));
    if (rule.primitive == TBEM_PRIMITIVE_concat) {
      const std::vector<TensorId>& inputs = graph[id].inputs;
      narrow = rule.use == Use::Follow && std::all_of(inputs.begin(), inputs.end(), [this](TensorId t) { return isNarrow(t); });
    }
    if (kept && !rule.wideResults) narrow = false;  // moved or multiplied straight into a gradient of a weight
    for (std::size_t i = 0; i < count; ++i) {
      const bool value = rule.values == 0 || i < rule.values;
      if (isMixed(graph[id].inputs[i])) convert(id, i, narrow && value ? options.narrow : TBEM_F32);
    }
    for (const TensorId result : graph[id].outputs) {
      if (narrow && !rule.wideResults && isMixed(result)) graph[result].dtype = options.narrow;
    }
  }

  void elementwise(OpId id) {
    const Op& op = graph[id];
    if (op.phase == Phase::Optimizer || isOfLoss(id)) return;
    const bool narrow = readsNarrow(op);
    for (std::size_t r = 0; r < op.outputs.size(); ++r) {
      const TensorId result = op.outputs[r];
      if (!mayBeNarrow(result)) continue;
      const auto value = options.valueOf.find(index(result));
      const bool follows = value != options.valueOf.end();
      const bool steep = isSteep(op.elementwise.nodes[op.elementwise.roots[r]].op);
      if (follows ? isNarrow(value->second) : narrow && !steep) graph[result].dtype = options.narrow;
    }
  }

  /// Its values, which are as large as its result, are narrow; parameters that are spread over it do not count. Where nothing is
  /// as large, all that it reads counts.
  bool readsNarrow(const Op& op) const {
    bool full = false, fullNarrow = true, any = false, anyNarrow = true;
    const std::size_t rank = graph[op.outputs.front()].shape.size();
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (promotes(op) && isParameter(op.inputs[i])) return false;
      if (!isMixed(op.inputs[i]) || graph[op.inputs[i]].shape.size() < 2) continue;
      const std::vector<std::int32_t>& axes = op.elementwise.operands[i].axes;
      const bool here = isNarrow(op.inputs[i]);
      any = true, anyNarrow = anyNarrow && here;
      if (axes.size() != rank || std::find(axes.begin(), axes.end(), -1) != axes.end()) continue;
      full = true, fullNarrow = fullNarrow && here;
    }
    return full ? fullNarrow : any && anyNarrow;
  }

  /// Makes input `i` of the operator one of this type: as it is, or by a cast before the operator, shared by all who want it.
  void convert(OpId id, std::size_t i, tbem_dtype type) {
    const TensorId from = graph[id].inputs[i];
    if (graph[from].dtype == type) return;
    const auto known = casts.find({index(from), type});
    if (known != casts.end()) {
      graph[id].inputs[i] = known->second;
      return;
    }
    Tensor made = graph[from];
    made.dtype = type;
    made.storage = static_cast<StorageId>(graph.storages.size());
    made.producer = static_cast<OpId>(graph.ops.size());
    graph.storages.push_back({.kind = StorageClass::Activation, .path = {}, .init = {}, .range = made.range});
    const auto to = static_cast<TensorId>(graph.tensors.size());
    Op cast;
    cast.kind = OpKind::Elementwise;
    cast.declaration = "cast";
    cast.inputs = {from};
    cast.outputs = {to};
    cast.phase = graph[id].phase, cast.forward = graph[id].forward, cast.scope = graph[id].scope;
    cast.range = graph[id].range, cast.use = graph[id].use;
    cast.elementwise.nodes.emplace_back();  // its input
    cast.elementwise.roots = {0};
    cast.elementwise.operands.emplace_back();
    for (std::size_t k = 0; k < made.shape.size(); ++k)
      cast.elementwise.operands.front().axes.push_back(static_cast<std::int32_t>(k));
    graph.tensors.push_back(std::move(made));
    graph[kMainRegion].ops.push_back(static_cast<OpId>(graph.ops.size()));
    graph.ops.push_back(std::move(cast));
    casts.emplace(std::pair{index(from), type}, to);
    graph[id].inputs[i] = to;
  }

  Graph& graph;
  const MixedOptions& options;
  std::map<std::pair<std::uint32_t, tbem_dtype>, TensorId> casts;
};

}  // namespace

void mixPrecision(Graph& graph, const MixedOptions& options) { Mixer(graph, options).run(); }

}  // namespace tbem::graph
