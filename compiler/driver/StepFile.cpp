#include "compiler/driver/StepFile.h"

#include "runtime/core/Decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::driver {

namespace {

using Failure = tl::unexpected<std::string>;
using runtime::HostTensor;

/// Reads the buffer of a graph tensor; an error where lowering kept none.
tl::expected<HostTensor, std::string> valueOf(const RowState& lowered, const runtime::Instance& instance, graph::TensorId tensor,
                                              const std::string& name) {
  const estimate::BufferId buffer = lowered.program->bufferOf[graph::index(tensor)];
  if (buffer == estimate::kNoBuffer) return Failure(fmt::format("`{}` was not kept", name));
  auto value = instance.read(static_cast<std::uint32_t>(buffer));
  if (!value) return Failure(fmt::format("`{}`: {}", name, value.error().message));
  return std::move(*value);
}

class Collector {
public:
  Collector(const RowState& lowered, const runtime::Instance& instance) : lowered(lowered), instance(instance) {}

  bool add(graph::TensorId tensor, const std::string& name) {
    auto value = valueOf(lowered, instance, tensor, name);
    if (!value) {
      error = value.error();
      return false;
    }
    arrays.push_back(data::fromTensor(name, *value));
    return true;
  }

  const RowState& lowered;
  const runtime::Instance& instance;
  std::vector<data::Array> arrays;
  std::string error;
};

const std::string& pathOf(const graph::Graph& graph, graph::TensorId tensor) { return graph[graph[tensor].storage].path; }

}  // namespace

tl::expected<std::vector<data::Array>, std::string> arraysBefore(const RowState& lowered, const runtime::Instance& instance) {
  const graph::Graph& graph = lowered.elaborated->graph();
  Collector out(lowered, instance);
  for (const graph::TensorId input : graph.inputs) {
    const std::string& path = pathOf(graph, input);
    const bool isTarget = graph.loss != graph::kNoTensor && input == graph.inputs.back();
    if (!out.add(input, isTarget ? path : "input/" + path)) return Failure(out.error);
  }
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (!out.add(weight.value, "weight/" + pathOf(graph, weight.value))) return Failure(out.error);
  }
  for (const graph::TensorId buffer : graph.buffers) {
    if (!out.add(buffer, "buffer/" + pathOf(graph, buffer))) return Failure(out.error);
  }
  return std::move(out.arrays);
}

tl::expected<std::vector<data::Array>, std::string> arraysAfter(const RowState& lowered, const runtime::Instance& instance) {
  const graph::Graph& graph = lowered.elaborated->graph();
  Collector out(lowered, instance);
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (weight.gradient == graph::kNoTensor) continue;
    if (!out.add(weight.gradient, "gradient/" + pathOf(graph, weight.value))) return Failure(out.error);
  }
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (weight.after == graph::kNoTensor) continue;
    if (!out.add(weight.after, "after/" + pathOf(graph, weight.value))) return Failure(out.error);
  }
  // A buffer is updated in place: what it held before is, after the step, what it holds now.
  for (const graph::TensorId buffer : graph.buffers) {
    if (!out.add(buffer, "buffer_after/" + pathOf(graph, buffer))) return Failure(out.error);
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!out.add(graph.outputs[i], i == 0 ? "output" : fmt::format("output_{}", i + 1))) return Failure(out.error);
  }
  if (graph.loss != graph::kNoTensor && !out.add(graph.loss, "loss")) return Failure(out.error);
  const auto decisions = runtime::decisions(instance);
  if (!decisions) return Failure(decisions.error().message);
  for (const runtime::Decision& decision : *decisions) {
    const std::vector<double> values(decision.of.begin(), decision.of.end());
    out.arrays.push_back(data::fromTensor("decision/" + decision.gate,
                                          HostTensor::of(TBEM_I32, {static_cast<std::int64_t>(values.size())}, values)));
  }
  return std::move(out.arrays);
}

std::vector<NotFinite> notFiniteIn(const std::vector<data::Array>& arrays) {
  std::vector<NotFinite> list;
  for (const data::Array& array : arrays) {
    const data::ElementType* type = data::findElementType(array.dtype);
    if (type == nullptr || type->runtime < 0 || tbem_is_floating(type->runtime) == 0) continue;
    const auto tensor = data::toTensor(array, type->runtime);
    if (!tensor) continue;  // its own type takes every value
    const std::vector<double> values = tensor->doubles();
    const auto count = std::count_if(values.begin(), values.end(), [](double value) { return !std::isfinite(value); });
    if (count != 0) list.push_back({array.name, static_cast<std::size_t>(count), values.size()});
  }
  return list;
}

}  // namespace tbem::driver
