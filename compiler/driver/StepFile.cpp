#include "compiler/driver/StepFile.h"

#include "runtime/core/Decisions.h"
#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <string_view>

namespace tbem::driver {

namespace {

using Failure = tl::unexpected<std::string>;
using runtime::HostTensor;

/// NumPy's name of an element type; types that NumPy lacks are saved as f4.
std::string numpyType(std::int32_t dtype) {
  switch (dtype) {
    case TBEM_F64:
      return "f8";
    case TBEM_I64:
      return "i8";
    case TBEM_I32:
      return "i4";
    case TBEM_U8:
      return "u1";
    case TBEM_BOOL:
      return "b1";
    default:
      return "f4";
  }
}

data::Array toArray(std::string name, const HostTensor& tensor) {
  data::Array array{std::move(name), numpyType(tensor.dtype), tensor.dims, {}};
  HostTensor converted = tensor;
  if (array.dtype == "f4" && tensor.dtype != TBEM_F32) converted = HostTensor::of(TBEM_F32, tensor.dims, tensor.doubles());
  array.bytes.resize(converted.data.size());
  std::memcpy(array.bytes.data(), converted.data.data(), converted.data.size());
  return array;
}

tl::expected<HostTensor, std::string> fromArray(const data::Array& array, std::int32_t dtype) {
  HostTensor source;
  source.dims = array.shape;
  source.dtype = array.dtype == "f8"   ? TBEM_F64
                 : array.dtype == "f4" ? TBEM_F32
                 : array.dtype == "i8" ? TBEM_I64
                 : array.dtype == "i4" ? TBEM_I32
                 : array.dtype == "b1" ? TBEM_BOOL
                                       : TBEM_U8;
  source.data.resize(array.bytes.size());
  std::memcpy(source.data.data(), array.bytes.data(), array.bytes.size());
  if (source.dtype == dtype) return source;
  return HostTensor::of(dtype, array.shape, source.doubles());
}

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
    arrays.push_back(toArray(name, *value));
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
    out.arrays.push_back(toArray("decision/" + decision.gate,
                                 HostTensor::of(TBEM_I32, {static_cast<std::int64_t>(values.size())}, values)));
  }
  return std::move(out.arrays);
}

tl::expected<Loaded, std::string> loadArrays(const std::vector<data::Array>& arrays, runtime::Instance& instance) {
  Loaded loaded;
  std::set<std::string, std::less<>> given;
  for (const data::Array& array : arrays) {
    std::string_view path = array.name;
    const std::size_t slash = path.find('/');
    const std::string_view group = path.substr(0, slash);
    if (group != "input" && group != "weight" && group != "buffer" && path != "target") {
      const bool ours =
          group == "gradient" || group == "decision" || group == "after" || group == "buffer_after" || group.substr(0, 6) == "output" || path == "loss";
      if (!ours) loaded.ignored.push_back(array.name);
      continue;
    }
    if (slash != std::string_view::npos) path = path.substr(slash + 1);
    const auto storage = instance.findStorage(path);
    if (!storage) return Failure(fmt::format("`{}` is no input, weight or buffer of this network", array.name));
    const std::uint32_t buffer = instance.executable().storages[*storage].buffer;
    const tbem_operand& operand = instance.executable().buffers[buffer].operand;
    const std::vector<std::int64_t> dims(operand.dims, operand.dims + operand.rank);
    if (dims != array.shape) {
      return Failure(fmt::format("`{}` has the shape [{}], the network's is [{}]", array.name, fmt::join(array.shape, ", "),
                                 fmt::join(dims, ", ")));
    }
    const auto value = fromArray(array, operand.dtype);
    if (!value) return Failure(value.error());
    const auto written = instance.writeStorage(*storage, *value);
    if (!written) return Failure(written.error().message);
    ++loaded.taken;
    given.insert(std::string(path));
  }
  for (const runtime::StorageDesc& storage : instance.executable().storages) {
    if (storage.kind == runtime::BufferClass::Weight && !given.contains(storage.path)) loaded.missing.push_back(storage.path);
  }
  return loaded;
}

}  // namespace tbem::driver
