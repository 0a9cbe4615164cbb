#include "compiler/graph/differentiate/LossScale.h"

#include <string>
#include <utility>

namespace tbem::graph {

namespace {

Value valueOf(TensorId tensor) { return Value::indexed(ValueKind::Tensor, index(tensor)); }

TensorId tensorOf(const Value& value) { return value.isPoison() ? kNoTensor : static_cast<TensorId>(value.id); }

TensorId addState(Elaborator& e, std::string path, std::int64_t initial) {
  const TensorId id = e.builder.addTensor(path.substr(path.rfind('.') + 1), TBEM_F32, {}, {});
  Storage& storage = e.graph[e.graph[id].storage];
  storage.kind = StorageClass::State;
  storage.path = std::move(path);
  storage.init.kind = "constant";
  storage.init.a = e.pool.constant(initial);
  e.graph.states.push_back(id);
  return id;
}

}  // namespace

LossScale addLossScale(Elaborator& e, const std::string& weight) {
  constexpr std::int64_t kInitial = 1 << 16U;  // as PyTorch's GradScaler
  // All before the first is added: `weight` may be a path in the graph, whose storages grow then.
  std::string scale = weight + ".loss_scale", good = weight + ".good_steps", taken = weight + ".taken_steps";
  return {addState(e, std::move(scale), kInitial), addState(e, std::move(good), 0), addState(e, std::move(taken), 0)};
}

TensorId scaledSeed(Elaborator& e, const LossScale& scale, SrcRange range) {
  if (e.graph.microBatches == 1) return scale.scale;
  const Value share = Value::number(e.pool.constant(Rational{1, e.graph.microBatches}), true);
  return tensorOf(e.callNamed("mul_scalar", {valueOf(scale.scale)}, {{"value", share}}, range));
}

TensorId unscaled(Elaborator& e, const LossScale& scale, TensorId gradient, SrcRange range) {
  return tensorOf(e.callNamed("divide", {valueOf(gradient), valueOf(scale.scale)}, {}, range));
}

bool moveLossScale(Elaborator& e, const LossScale& scale, TensorId norm, SrcRange range) {
  const Elaborator::Detour detour(e, Phase::Optimizer);
  return !e.callNamed("loss_scale", {valueOf(scale.scale), valueOf(scale.good), valueOf(scale.taken), valueOf(norm)}, {}, range)
              .isPoison();
}

}  // namespace tbem::graph
