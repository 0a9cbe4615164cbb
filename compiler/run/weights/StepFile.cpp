#include "compiler/run/weights/StepFile.h"

#include "runtime/core/Decisions.h"
#include "runtime/data/ArrayFile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

namespace tbem::driver {

namespace {

using Failure = tl::unexpected<std::string>;
using Done = tl::expected<void, std::string>;
using runtime::HostTensor;

/// An error where lowering kept no buffer of a tensor.
Done visitAll(const std::vector<StepArray>& arrays, const RowState& lowered, const runtime::Instance& instance,
              const VisitArray& visit) {
  for (const StepArray& array : arrays) {
    const estimate::BufferId buffer = lowered.program->bufferOf[graph::index(array.tensor)];
    if (buffer == estimate::kNoBuffer) return Failure(fmt::format("`{}` was not kept", array.name));
    const auto value = instance.read(static_cast<std::uint32_t>(buffer));
    if (!value) return Failure(fmt::format("`{}`: {}", array.name, value.error().message));
    visit(array.name, *value);
  }
  return {};
}

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

std::vector<StepArray> arraysBefore(const RowState& lowered) {
  const graph::Graph& graph = lowered.elaborated->graph();
  std::vector<StepArray> arrays;
  const std::span<const graph::TensorId> targets = graph.targetInputs();
  for (const graph::TensorId input : std::span(graph.inputs).first(graph.inputs.size() - targets.size()))
    arrays.push_back({"input/" + pathOf(graph, input), input});
  for (const graph::TensorId target : targets) arrays.push_back({pathOf(graph, target), target});
  for (const graph::Graph::Weight& weight : graph.weights)
    arrays.push_back({"weight/" + pathOf(graph, weight.value), weight.value});
  for (const graph::TensorId buffer : graph.buffers) arrays.push_back({"buffer/" + pathOf(graph, buffer), buffer});
  return arrays;
}

std::vector<StepArray> arraysAfter(const RowState& lowered, bool keepsResults) {
  const graph::Graph& graph = lowered.elaborated->graph();
  std::vector<StepArray> arrays;
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (weight.gradient == graph::kNoTensor || !keepsResults) continue;
    arrays.push_back({"gradient/" + pathOf(graph, weight.value), weight.gradient});
  }
  for (const graph::Graph::Weight& weight : graph.weights) {
    if (weight.after != graph::kNoTensor) arrays.push_back({"after/" + pathOf(graph, weight.value), weight.after});
  }
  // A buffer is updated in place: what it held before is, after the step, what it holds now.
  for (const graph::TensorId buffer : graph.buffers) arrays.push_back({"buffer_after/" + pathOf(graph, buffer), buffer});
  for (std::size_t i = 0; keepsResults && i < graph.outputs.size(); ++i)
    arrays.push_back({i == 0 ? "output" : fmt::format("output_{}", i + 1), graph.outputs[i]});
  if (graph.loss != graph::kNoTensor) arrays.push_back({"loss", graph.loss});
  return arrays;
}

Done visitBefore(const RowState& lowered, const runtime::Instance& instance, const VisitArray& visit) {
  return visitAll(arraysBefore(lowered), lowered, instance, visit);
}

Done visitAfter(const RowState& lowered, const runtime::Instance& instance, bool keepsResults, const VisitArray& visit) {
  if (Done done = visitAll(arraysAfter(lowered, keepsResults), lowered, instance, visit); !done) return done;
  const auto decisions = runtime::decisions(instance);
  if (!decisions) return Failure(decisions.error().message);
  for (const runtime::Decision& decision : *decisions) {
    const std::vector<double> values(decision.of.begin(), decision.of.end());
    visit("decision/" + decision.gate, HostTensor::of(TBEM_I32, {static_cast<std::int64_t>(values.size())}, values));
  }
  return {};
}

tl::expected<void, Failed> canSaveArrays(const std::string& path) {
  if (!data::arrayFormatOf(path))
    return failed(kUsage, fmt::format("--save {}: the name must end in .npz or .safetensors", path));
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (access(folder.c_str(), W_OK) == 0) return {};
  return failed(kEnvironment, fmt::format("cannot write {}: {} (errno {})", path, std::strerror(errno), errno));
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
