#include "compiler/run/weights/StepFile.h"

#include "runtime/core/Decisions.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace tbem::driver {

namespace {

using Failure = tl::unexpected<std::string>;
using Done = tl::expected<void, std::string>;
using runtime::HostTensor;

class Visitor {
public:
  Visitor(const RowState& lowered, const runtime::Instance& instance, const VisitArray& visit)
      : lowered(lowered), instance(instance), visit(visit) {}

  /// An error where lowering kept no buffer of the tensor.
  Done operator()(graph::TensorId tensor, const std::string& name) const {
    const estimate::BufferId buffer = lowered.program->bufferOf[graph::index(tensor)];
    if (buffer == estimate::kNoBuffer) return Failure(fmt::format("`{}` was not kept", name));
    const auto value = instance.read(static_cast<std::uint32_t>(buffer));
    if (!value) return Failure(fmt::format("`{}`: {}", name, value.error().message));
    visit(name, *value);
    return {};
  }

private:
  const RowState& lowered;
  const runtime::Instance& instance;
  const VisitArray& visit;
};

const std::string& pathOf(const graph::Graph& graph, graph::TensorId tensor) { return graph[graph[tensor].storage].path; }

template <class Number>
std::size_t countNotFiniteOf(const std::vector<std::byte>& data) {
  std::size_t count = 0;
  for (std::size_t at = 0; at + sizeof(Number) <= data.size(); at += sizeof(Number)) {
    Number number = 0;
    std::memcpy(&number, data.data() + at, sizeof(Number));
    count += std::isfinite(number) ? 0 : 1;
  }
  return count;
}

}  // namespace

Done visitBefore(const RowState& lowered, const runtime::Instance& instance, const VisitArray& visit) {
  const graph::Graph& graph = lowered.elaborated->graph();
  const Visitor one(lowered, instance, visit);
  for (const graph::TensorId input : graph.inputs) {
    const std::string& path = pathOf(graph, input);
    const bool isTarget = graph.loss != graph::kNoTensor && input == graph.inputs.back();
    if (Done done = one(input, isTarget ? path : "input/" + path); !done) return done;
  }
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (Done done = one(weight.value, "weight/" + pathOf(graph, weight.value)); !done) return done;
  }
  for (const graph::TensorId buffer : graph.buffers) {
    if (Done done = one(buffer, "buffer/" + pathOf(graph, buffer)); !done) return done;
  }
  return {};
}

Done visitAfter(const RowState& lowered, const runtime::Instance& instance, bool keepsResults, const VisitArray& visit) {
  const graph::Graph& graph = lowered.elaborated->graph();
  const Visitor one(lowered, instance, visit);
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (weight.gradient == graph::kNoTensor || !keepsResults) continue;
    if (Done done = one(weight.gradient, "gradient/" + pathOf(graph, weight.value)); !done) return done;
  }
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (weight.after == graph::kNoTensor) continue;
    if (Done done = one(weight.after, "after/" + pathOf(graph, weight.value)); !done) return done;
  }
  // A buffer is updated in place: what it held before is, after the step, what it holds now.
  for (const graph::TensorId buffer : graph.buffers) {
    if (Done done = one(buffer, "buffer_after/" + pathOf(graph, buffer)); !done) return done;
  }
  for (std::size_t i = 0; keepsResults && i < graph.outputs.size(); ++i) {
    if (Done done = one(graph.outputs[i], i == 0 ? "output" : fmt::format("output_{}", i + 1)); !done) return done;
  }
  if (graph.loss != graph::kNoTensor) {
    if (Done done = one(graph.loss, "loss"); !done) return done;
  }
  const auto decisions = runtime::decisions(instance);
  if (!decisions) return Failure(decisions.error().message);
  for (const runtime::Decision& decision : *decisions) {
    const std::vector<double> values(decision.of.begin(), decision.of.end());
    visit("decision/" + decision.gate, HostTensor::of(TBEM_I32, {static_cast<std::int64_t>(values.size())}, values));
  }
  return {};
}

std::size_t countNotFinite(const HostTensor& tensor) {
  if (tensor.dtype == TBEM_F32) return countNotFiniteOf<float>(tensor.data);
  if (tensor.dtype == TBEM_F64) return countNotFiniteOf<double>(tensor.data);
  if (tbem_is_floating(tensor.dtype) == 0) return 0;
  std::size_t count = 0;
  for (const double number : tensor.doubles()) count += std::isfinite(number) ? 0 : 1;
  return count;
}

}  // namespace tbem::driver
