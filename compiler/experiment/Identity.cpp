#include "compiler/experiment/Identity.h"

#include "compiler/support/Version.h"
#include "compiler/worker/Worker.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <iterator>
#include <string_view>

namespace tbem::driver {

namespace {

std::string hashOf(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

/// Writes a canonical text of what is hashed: a text, so that a difference between two rows can be looked at.
class Canon {
public:
  Canon(const graph::Graph& graph, const sema::Values& values) : graph(graph), values(values) {}

  std::string graphText() {
    for (const graph::Storage& storage : graph.storages) {
      add("storage {} {} {} {} {}\n", static_cast<int>(storage.kind), storage.path, storage.init.kind, value(storage.init.a),
          value(storage.init.b));
    }
    for (const graph::Tensor& tensor : graph.tensors) {
      add("tensor {} {} {}\n", static_cast<int>(tensor.dtype), graph::index(tensor.storage), list(tensor.shape));
    }
    for (const graph::Op& op : graph.ops) addOp(op);
    for (const graph::Region& region : graph.regions) add("region {}\n", ids(region.ops));
    add("inputs {} outputs {} loss {} training {}\n", ids(graph.inputs), ids(graph.outputs), graph::index(graph.loss),
        graph.training);
    if (graph.tf32) add("tf32\n");
    if (graph.microBatches > 1) add("micro-batches {}\n", graph.microBatches);
    for (const graph::RuntimeScalar& scalar : graph.scalars) add("scalar {}\n", value(scalar.value));
    return text;
  }

private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
  std::string value(sema::ExprId id) const {
    if (id == sema::kNoExpr) return "-";
    // What depends on the number of the step has no value before the run; its form is what counts.
    return values.errorOf(id) == sema::EvalError::None ? values[id].str()
                                                       : fmt::format("open{}", static_cast<int>(values.errorOf(id)));
  }
  std::string list(const std::vector<sema::ExprId>& exprs) const {
    std::string out = "[";
    for (const sema::ExprId id : exprs) out += value(id) + ",";
    return out + "]";
  }
  template <class Id>
  static std::string ids(const std::vector<Id>& list) {
    std::string out = "[";
    for (const Id id : list) out += std::to_string(graph::index(id)) + ",";
    return out + "]";
  }
  void addOp(const graph::Op& op) {
    if (!op.own.symbol.empty()) add(" own {} {}\n", op.own.symbol, libraryHash(op.own.library));
    if (op.own.workspace != sema::kNoExpr) add(" workspace {}\n", value(op.own.workspace));
    add("op {} {} {} {} {} {}\n", static_cast<int>(op.kind), static_cast<int>(op.primitive), ids(op.inputs), ids(op.outputs),
        list(op.scalars), ids(op.regions));
    for (const graph::Attribute& attribute : op.attributes) add(" {} {}\n", attribute.name, list(attribute.values));
    for (const graph::ElemNode& node : op.elementwise.nodes) {
      add(" node {} {} {} {} {} {} {} {}\n", static_cast<int>(node.op), node.a, node.b, node.c, node.input, node.value.str(),
          value(node.scalar), node.stream);
    }
    for (const std::uint32_t root : op.elementwise.roots) add(" root {}\n", root);
    for (const graph::ElemOperand& operand : op.elementwise.operands) {
      for (const std::int32_t axis : operand.axes) add(" {}", axis);
      add(";\n");
    }
  }

  const graph::Graph& graph;
  const sema::Values& values;
  std::string text;
};

}  // namespace

std::string graphIdentity(const graph::Graph& graph, const sema::Values& values) {
  return hashOf(Canon(graph, values).graphText());
}

std::string identityOf(const graph::Graph& graph, const sema::Values& values, const measure::Settings& protocol,
                       std::uint64_t seed, const MeasuredOn& on) {
  std::string text = Canon(graph, values).graphText();
  text += fmt::format("protocol {}\nworker {}\nseed {}\nbackend {}\nlowering {}\n", measure::describe(protocol), kWorkerVersion,
                      seed, on.backend, kLoweringVersion);
  // What rows on a card say of memory and energy, and of time: 1 the host's, 2 the card's and the host's, 3 the card's.
  if (on.backend == "cuda") text += "meters 3\n";
  if (const tbem_device_info* device = on.device; device != nullptr)
    text += fmt::format("device {} {} {} {}\n", device->name, device->isa, device->library, on.threads);
  text += on.algorithms;
  return hashOf(text);
}

std::string identityOfForeign(const graph::Graph& graph, const sema::Values& values, const measure::Settings& protocol,
                              std::uint64_t seed, const MeasuredOn& on) {
  return hashOf(Canon(graph, values).graphText() + fmt::format("protocol {}\nseed {}\nbackend {}\nthreads {}\n{}",
                                                               measure::describe(protocol), seed, on.backend, on.threads,
                                                               on.algorithms));
}

}  // namespace tbem::driver
