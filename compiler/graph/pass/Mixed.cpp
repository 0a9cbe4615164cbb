#include "compiler/graph/pass/Mixed.h"

#include "compiler/graph/pass/AutocastLists.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
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
  Use use = Use::Wide;
  std::size_t values = 0;   ///< how many inputs, from the first, are as large as images or matrices; 0: all. Others stay f32
  std::size_t model = 0;    ///< Follow: the input whose type decides
  bool wideResults = true;  ///< its results are f32: sums, statistics, gradients of weights
};

NativeRule ownRule(tbem_primitive primitive) {
  switch (primitive) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_conv2d_input_gradient:
    case TBEM_PRIMITIVE_dense:
    case TBEM_PRIMITIVE_dense_input_gradient:
    case TBEM_PRIMITIVE_matmul:
      return {Use::Narrow, 2, 0, false};
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
      return {Use::Narrow, 2, 0, true};
    case TBEM_PRIMITIVE_reduce_sum:
    case TBEM_PRIMITIVE_channel_moments:
      return {Use::Follow, 1, 0, true};
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return {Use::Follow, 2, 1, true};
    case TBEM_PRIMITIVE_max_pool2d:
    case TBEM_PRIMITIVE_avg_pool2d:
    case TBEM_PRIMITIVE_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_permute:
    case TBEM_PRIMITIVE_pad:
    case TBEM_PRIMITIVE_slice:
    case TBEM_PRIMITIVE_gather:
      return {Use::Follow, 1, 0, false};
    case TBEM_PRIMITIVE_max_pool2d_gradient:
      return {Use::Follow, 2, 1, false};
    case TBEM_PRIMITIVE_concat:
      return {Use::Follow, 0, 0, false};
    case TBEM_PRIMITIVE_reduce_max:
    case TBEM_PRIMITIVE_sum_squares:
    case TBEM_PRIMITIVE_reduce_max_gradient:
    case TBEM_PRIMITIVE_row_gradient_sums:
    case TBEM_PRIMITIVE_softmax:
    case TBEM_PRIMITIVE_softmax_gradient:
    case TBEM_PRIMITIVE_log_softmax:
    case TBEM_PRIMITIVE_log_softmax_gradient:
    case TBEM_PRIMITIVE_attention:
    case TBEM_PRIMITIVE_attention_gradient:
    case TBEM_PRIMITIVE_cross_entropy:
    case TBEM_PRIMITIVE_cross_entropy_gradient:
    case TBEM_PRIMITIVE_gather_gradient:
    case TBEM_PRIMITIVE_arg_max:
    case TBEM_PRIMITIVE_split_rows:
    case TBEM_PRIMITIVE_move_rows:
    case TBEM_PRIMITIVE_reorder:
    case TBEM_PRIMITIVE_constant:
    case TBEM_PRIMITIVE_COUNT:  // of an operator with code of its own
      break;
  }
  return {};
}

/// What PyTorch computes in the type of its operand, and our own step in f32.
std::optional<NativeRule> pyTorchRule(tbem_primitive primitive) {
  if (primitive == TBEM_PRIMITIVE_reduce_sum || primitive == TBEM_PRIMITIVE_reduce_max || primitive == TBEM_PRIMITIVE_softmax ||
      primitive == TBEM_PRIMITIVE_log_softmax)
    return NativeRule{Use::Follow, 1, 0, false};
  return std::nullopt;
}

NativeRule ruleOf(const Op& op, MixedRules rules) {
  if (!op.own.symbol.empty()) return {};
  if (rules != MixedRules::Own && op.phase == Phase::Forward) {
    if (const auto rule = pyTorchRule(op.primitive)) return *rule;
  }
  return ownRule(op.primitive);
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
      if (graph[id].phase == Phase::Backward) readCasts(id);
      if (isWidened(id))
        widen(id);
      else if (graph[id].kind == OpKind::Native)
        native(id);
      else if (graph[id].kind == OpKind::Elementwise)
        elementwise(id);
      if (graph[id].kind == OpKind::View) view(id);
      graph[kMainRegion].ops.push_back(id);
    }
  }

private:
  /// Its operand may be a cast by now, in another place.
  void view(OpId id) {
    const Tensor from = graph[graph[id].inputs.front()];
    Tensor& to = graph[graph[id].outputs.front()];
    to.dtype = from.dtype, to.storage = from.storage;
  }
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
  /// Whether it is a gradient of a weight, or a part of one: such as one of a scaled loss, before it is divided by the scale.
  bool isOfWeight(TensorId tensor) const {
    const auto value = options.valueOf.find(index(tensor));
    return value != options.valueOf.end() && graph[graph[value->second].storage].kind == StorageClass::Weight;
  }
  bool isOwn() const { return options.rules == MixedRules::Own; }

  /// The operator of PyTorch's that an operator is part of: the outermost block or operator around it that is listed, or it
  /// alone.
  struct Whole {
    std::uint32_t id = 0;  ///< scopes, then operators
    AutocastList list = AutocastList::None;
    ScopeId around{};  ///< where it stands
  };
  Whole wholeOf(OpId id) const {
    const auto listed = [this](std::string_view name) { return autocastList(name, options.rules == MixedRules::PyTorchCuda); };
    Whole whole{static_cast<std::uint32_t>(graph.scopes.size()) + index(id), listed(graph[id].declaration), graph[id].scope};
    for (ScopeId at = graph[id].scope; index(at) != 0; at = graph.scopes[index(at)].parent) {
      const AutocastList list = listed(graph.scopes[index(at)].declaration);
      if (list != AutocastList::None) whole = {index(at), list, graph.scopes[index(at)].parent};
    }
    return whole;
  }
  bool isWidened(OpId id) const {
    return !isOwn() && graph[id].phase == Phase::Forward && wholeOf(id).list == AutocastList::Widened;
  }
  /// The casts stand before the whole operator, which keeps what they give.
  void widen(OpId id) {
    const ScopeId scope = wholeOf(id).around;
    for (std::size_t i = 0; i < graph[id].inputs.size(); ++i) {
      if (isNarrow(graph[id].inputs[i])) convert(id, i, TBEM_F32, scope);
    }
  }
  /// Who shares a cast: by our rules, and of parameters, all; else those who are one operator, and its gradient.
  std::uint32_t sharerOf(OpId id, TensorId tensor) const {
    if (isOwn() || isParameter(tensor) || graph[id].phase == Phase::Optimizer) return 0;
    return wholeOf(graph[id].phase == Phase::Backward && graph[id].forward != kNoOp ? graph[id].forward : id).id;
  }
  /// A gradient reads what its operator read.
  void readCasts(OpId id) {
    if (isOwn()) return;
    for (TensorId& tensor : graph[id].inputs) {
      if (tensor == kNoTensor || isParameter(tensor)) continue;
      for (const tbem_dtype type : {options.narrow, TBEM_F32}) {
        const auto known = casts.find({index(tensor), type, sharerOf(id, tensor)});
        if (known == casts.end()) continue;
        tensor = known->second;
        break;
      }
    }
  }
  bool isOfLoss(OpId id) const { return graph[id].phase == Phase::Forward && index(id) >= options.lossBegin; }

  void native(OpId id) {
    NativeRule rule = ruleOf(graph[id], options.rules);
    if (isOfLoss(id)) rule = {};
    const std::size_t count = graph[id].inputs.size();
    const bool kept = std::any_of(graph[id].outputs.begin(), graph[id].outputs.end(), [this](TensorId result) {
      return graph[graph[result].storage].kind != StorageClass::Activation || (isOwn() && isOfWeight(result));
    });
    bool narrow = rule.use == Use::Narrow || (rule.use == Use::Follow && isNarrow(graph[id].inputs[rule.model]));
    if (graph[id].primitive == TBEM_PRIMITIVE_concat) {
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
      if (follows ? isNarrow(value->second) : narrow && !(isOwn() && steep)) graph[result].dtype = options.narrow;
    }
  }

  /// Its values, which are as large as its result, are narrow; parameters that are spread over it do not count. Where nothing is
  /// as large, all that it reads counts.
  bool readsNarrow(const Op& op) const {
    if (!isOwn() && promotes(op)) {
      const auto narrow = [this](TensorId in) { return isNarrow(in); };
      const auto passes = [&](TensorId in) { return !isMixed(in) || graph[in].shape.empty() || isNarrow(in); };
      return std::any_of(op.inputs.begin(), op.inputs.end(), narrow) && std::all_of(op.inputs.begin(), op.inputs.end(), passes);
    }
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
  void convert(OpId id, std::size_t i, tbem_dtype type) { convert(id, i, type, graph[id].scope); }
  void convert(OpId id, std::size_t i, tbem_dtype type, ScopeId scope) {
    const TensorId from = graph[id].inputs[i];
    if (graph[from].dtype == type) return;
    const std::tuple key{index(from), type, sharerOf(id, from)};
    const auto known = casts.find(key);
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
    cast.phase = graph[id].phase, cast.forward = graph[id].forward, cast.scope = scope;
    cast.range = graph[id].range, cast.use = graph[id].use;
    ElemOperand whole;
    for (std::size_t k = 0; k < made.shape.size(); ++k) whole.axes.push_back(static_cast<std::int32_t>(k));
    cast.elementwise.nodes.push_back({});  // its input
    cast.elementwise.roots.push_back(0);
    cast.elementwise.operands.push_back(std::move(whole));
    graph.tensors.push_back(std::move(made));
    graph[kMainRegion].ops.push_back(static_cast<OpId>(graph.ops.size()));
    graph.ops.push_back(std::move(cast));
    casts.emplace(key, to);
    graph[id].inputs[i] = to;
  }

  Graph& graph;
  const MixedOptions& options;
  std::map<std::tuple<std::uint32_t, tbem_dtype, std::uint32_t>, TensorId> casts;  ///< of a tensor, to a type, for a sharer
};

}  // namespace

void mixPrecision(Graph& graph, const MixedOptions& options) { Mixer(graph, options).run(); }

}  // namespace tbem::graph
