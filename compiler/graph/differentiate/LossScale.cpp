#include "compiler/graph/differentiate/LossScale.h"

#include <fmt/format.h>

#include <string_view>

namespace tbem::graph {

namespace {

Value valueOf(TensorId tensor) { return Value::indexed(ValueKind::Tensor, index(tensor)); }

TensorId tensorOf(const Value& value) { return value.isPoison() ? kNoTensor : static_cast<TensorId>(value.id); }

TensorId addState(Elaborator& e, std::string_view weight, std::string_view name, std::int64_t initial) {
  const TensorId id = e.builder.addTensor(std::string(name), TBEM_F32, {}, {});
  Storage& storage = e.graph[e.graph[id].storage];
  storage.kind = StorageClass::State;
  storage.path = fmt::format("{}.{}", weight, name);
  storage.init.kind = "constant";
  storage.init.a = e.pool.constant(initial);
  e.graph.states.push_back(id);
  return id;
}

}  // namespace

LossScale addLossScale(Elaborator& e, const std::string& weight) {
  constexpr std::int64_t kInitial = 1 << 16U;  // as PyTorch's GradScaler
  const std::string own = weight;              // it may be a path in the graph, whose storages grow here
  return {addState(e, own, "loss_scale", kInitial), addState(e, own, "good_steps", 0), addState(e, own, "taken_steps", 0)};
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
