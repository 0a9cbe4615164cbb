// Gradient accumulation: which rows of the inputs a micro-batch reads, and what lies between two of them.
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/Lowering.h"

namespace tbem::estimate {

/// A window of an input is a value of its own, in the input's memory, unless its begin may be where a library of a device takes
/// no tensor: there each is copied to a place of its own. Labels are read by kernels, which take any place.
void Lowering::lowerWindow(const graph::Op& op, std::uint32_t memory) {
  constexpr std::uint64_t kLibraryAlignment = 16;  // bytes; cuDNN is told so of each tensor
  const tbem_operand plain = plainOf(op.outputs[0]);
  const bool anyPlace = backend.device == nullptr || plain.dtype == TBEM_I64;
  if (anyPlace || plain.layout.bytes % kLibraryAlignment == 0) {
    versions[addVersion(op.outputs[0], plain, memory)].window = true;
    return;
  }
  const std::uint32_t window = addVersion(graph::kNoTensor, plain, memory);
  versions[window].window = true;
  const std::uint32_t copy = addMade(op.outputs[0], plain, addMemory(Kind::Workspace, plain.layout.bytes), graph::kAllSamples);
  reorder(window, copy, op.range);
}

bool Lowering::endMicroBatch() {
  if (graph.training && options.keepOutputs) {
    for (const graph::TensorId output : graph.outputs) {
      const tbem_operand rows = plainOf(output);
      const std::uint32_t from = ensure(output, rows, graph[output].range);
      if (from == kNone) return false;
      std::vector<std::int64_t> all = dims[graph::index(output)];
      if (all.empty()) return fail(diag::row_without_number, graph[output].range, {"an output without samples"});
      all.front() *= graph.microBatches;
      const tbem_operand whole = plainOperand(graph[output].dtype, all);
      const std::uint32_t memory = addMemory(Kind::Activations, whole.layout.bytes);
      memories[memory].kept = memories[memory].fromStart = true;
      collected.push_back({from, addVersion(output, whole, memory)});
    }
  }
  const std::int64_t one = 1;
  part = addVersion(graph::kNoTensor, plainOperand(TBEM_I64, {&one, 1}), addMemory(Kind::Workspace, sizeof(std::int64_t)));
  memories[versions[part].memory].persistent = true;
  once = static_cast<std::uint32_t>(items.size());
  return true;
}

}  // namespace tbem::estimate
