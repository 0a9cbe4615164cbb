// Gradient accumulation: what lies between two micro-batches.
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/Lowering.h"

namespace tbem::estimate {

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
