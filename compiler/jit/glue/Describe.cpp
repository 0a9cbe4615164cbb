#include "compiler/graph/pass/IntegerBounds.h"
#include "compiler/jit/glue/Jit.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::jit {
namespace {

using estimate::BufferId;
using runtime::Executable;
using runtime::StorageDesc;

std::uint64_t offsetOf(const estimate::Program& program, BufferId id) {
  return program.allocations[program[id].allocation].offset;
}

class StorageWriter {
public:
  StorageWriter(const estimate::Program& program, const graph::Graph& graph, const sema::Values& values, Executable& out)
      : program(program),
        graph(graph),
        values(values),
        out(out),
        bounds(graph::integerBounds(graph, values)),
        seen(graph.storages.size(), false) {}

  tl::expected<void, std::string> run() {
    for (const auto& weight : graph.weights) {
      if (auto ok = add(weight.value); !ok) return ok;
    }
    for (const auto* list : {&graph.buffers, &graph.states, &graph.inputs}) {
      for (graph::TensorId tensor : *list) {
        if (auto ok = add(tensor); !ok) return ok;
      }
    }
    // Whatever else is there from the start: constants.
    for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
      const auto& tensor = graph.tensors[t];
      if (tensor.producer != graph::kNoOp || graph[tensor.storage].carried) continue;
      if (auto ok = add(static_cast<graph::TensorId>(t)); !ok) return ok;
    }
    for (const auto& weight : graph.weights) {
      if (weight.gradient == graph::kNoTensor) continue;
      if (auto ok = add(weight.gradient); !ok) return ok;
    }
    for (graph::TensorId tensor : graph.outputs) {
      if (auto buffer = bufferOf(tensor); buffer != runtime::kNone) out.outputs.push_back(buffer);
    }
    if (graph.loss != graph::kNoTensor) out.loss = bufferOf(graph.loss);
    out.scalarNames = {"step"};
    for (const auto& scalar : graph.scalars) out.scalarNames.push_back(scalar.name);
    return {};
  }

private:
  std::uint32_t bufferOf(graph::TensorId tensor) const {
    const auto t = graph::index(tensor);
    return t < program.bufferOf.size() && program.bufferOf[t] != estimate::kNoBuffer
               ? static_cast<std::uint32_t>(program.bufferOf[t])
               : runtime::kNone;
  }

  tl::expected<void, std::string> add(graph::TensorId tensor) {
    const auto t = graph::index(tensor);
    const auto s = static_cast<std::uint32_t>(graph[tensor].storage);
    const std::uint32_t buffer = bufferOf(tensor);
    if (buffer == runtime::kNone || seen[s]) return {};  // not read by this step, or listed already
    seen[s] = true;
    const graph::Storage& storage = graph.storages[s];
    StorageDesc desc;
    desc.path = storage.path;
    desc.kind = static_cast<runtime::BufferClass>(storage.kind);
    desc.buffer = buffer;
    desc.init.kind = storage.init.kind;
    desc.bound = bounds[t];
    for (auto [expression, target] : {std::pair{storage.init.a, &desc.init.a}, std::pair{storage.init.b, &desc.init.b}}) {
      if (expression == sema::kNoExpr) continue;
      if (values.errorOf(expression) != sema::EvalError::None) {
        return tl::make_unexpected(
            fmt::format("a parameter of the initialiser '{}' of '{}' has no value in this row", storage.init.kind, storage.path));
      }
      *target = values[expression].toDouble();
    }
    out.storages.push_back(std::move(desc));
    return {};
  }

  const estimate::Program& program;
  const graph::Graph& graph;
  const sema::Values& values;
  Executable& out;
  std::vector<std::int64_t> bounds;  ///< by tensor
  std::vector<bool> seen;
};

/// As the buffer's operand, with those rows alone that its memory has room for.
tbem_operand operandIn(const estimate::Program& program, const estimate::Buffer& buffer) {
  tbem_operand operand = buffer.operand;
  const std::uint64_t room = program.allocations[buffer.allocation].bytes;
  if (room >= operand.layout.bytes) return operand;
  const auto rows = room / (operand.layout.bytes / static_cast<std::uint64_t>(buffer.samples));
  tbem_take_rows(&operand, buffer.samples, static_cast<std::int64_t>(rows));
  return operand;
}

/// Inside a chunk: the memory of the operands, and where each thread has its own.
void describeParts(const estimate::Program& program, const estimate::NativeCall& call, runtime::CallDesc& desc) {
  bool shared = false;
  for (const BufferId id : call.operands) {
    const bool absent = id == estimate::kNoBuffer;
    desc.parts.push_back(absent ? 0 : program[id].part);
    desc.room.push_back(absent ? 0 : program.allocations[program[id].allocation].bytes);
    shared = shared || desc.parts.back() != 0;
  }
  if (!shared) desc.parts.clear();
  if (call.workspace != estimate::kNoBuffer) desc.workspacePart = program[call.workspace].part;
}

runtime::CallDesc describeCall(const estimate::Program& program, const estimate::NativeCall& call) {
  runtime::CallDesc desc;
  desc.primitive = call.primitive;
  desc.library = call.own.library;
  desc.symbol = call.own.symbol;
  desc.inputs = static_cast<std::int32_t>(call.inputs);
  desc.outputs = static_cast<std::int32_t>(call.operands.size() - call.inputs);
  for (BufferId id : call.operands) {
    const bool absent = id == estimate::kNoBuffer;
    desc.operands.push_back(absent ? tbem_operand{} : program[id].operand);
    desc.offsets.push_back(absent ? runtime::kAbsent : offsetOf(program, id));
    if (!absent && program[id].outside) {
      desc.outside.resize(call.operands.size(), false);
      desc.outside[desc.offsets.size() - 1] = true;
    }
    if (!absent && program[id].window) {
      desc.moves.resize(call.operands.size(), 0);
      desc.moves[desc.offsets.size() - 1] = program[id].operand.layout.bytes;
    }
  }
  desc.attributes = call.attributes;
  desc.scalars = call.scalars;
  if (call.workspace != estimate::kNoBuffer) {
    desc.workspace = offsetOf(program, call.workspace);
    desc.workspaceBytes = program.allocations[program[call.workspace].allocation].bytes;
  }
  desc.implementation = call.implementation;
  desc.perSample = call.perSample;
  desc.samples = call.samples;
  desc.sizes = call.sizes;
  desc.partSizes = call.partSizes;
  desc.algorithm = call.algorithm;
  return desc;
}

}  // namespace

Executable describe(const estimate::Program& program) {
  Executable out;
  out.arena = program.arena;
  for (const auto& a : program.allocations) out.allocations.push_back({a.offset, a.bytes, a.persistent});
  for (const auto& b : program.buffers) {
    runtime::BufferDesc desc{b.name, operandIn(program, b), program.allocations[b.allocation].offset, b.allocation};
    desc.operand.present = b.operand.layout.bytes != 0 || b.tensor != graph::kNoTensor ? b.operand.present : 0;
    out.buffers.push_back(std::move(desc));
  }
  for (const auto& call : program.calls) out.calls.push_back(describeCall(program, call));
  for (const auto& chunk : program.chunks) {
    for (std::uint32_t s = chunk.first; s <= chunk.last; ++s) {
      const std::uint32_t index = program.steps[s].index;
      if (program.steps[s].kind == estimate::Step::Kind::Call) describeParts(program, program.calls[index], out.calls[index]);
    }
  }
  for (const auto& step : program.steps) {
    if (step.kind == estimate::Step::Kind::Call) out.calls[step.index].name = step.name;
  }
  out.samples = program.samples;
  out.microBatches = program.micro.parts;
  if (out.microBatches > 1) out.microBatchAt = offsetOf(program, program.micro.number);
  for (const auto& branch : program.branches) {
    runtime::BranchDesc desc{
        .parent = branch.parent, .condition = branch.condition, .samples = branch.samples, .ofEachSample = branch.ofEachSample};
    if (branch.gate != graph::kNoOp) {
      desc.rows = static_cast<std::uint32_t>(branch.rows);
      desc.origin = static_cast<std::uint32_t>(branch.origin);
      desc.gate = branch.path;
      desc.exits = branch.exits;
    }
    out.branches.push_back(std::move(desc));
  }
  out.scalars = program.scalars;
  if (out.scalars.empty()) out.scalars.push_back(0);
  out.threads = program.threads;
  out.tf32 = program.tf32 ? 1 : 0;
  return out;
}

tl::expected<void, std::string> describeStorages(const estimate::Program& program, const graph::Graph& graph,
                                                 const sema::Values& values, Executable& executable) {
  return StorageWriter(program, graph, values, executable).run();
}

}  // namespace tbem::jit
