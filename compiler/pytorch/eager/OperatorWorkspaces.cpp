#include "compiler/pytorch/eager/OperatorWorkspaces.h"

#include "compiler/count/Dims.h"

#include <algorithm>
#include <utility>

namespace tbem::estimate {

ProductWorkspaces productWorkspaces(std::int64_t capability, const AllocatorVersion& version) {
  constexpr std::uint64_t kKiB = 1024, kHopper = 4096 * 8 * kKiB, kBefore = 2 * 4096 * kKiB + 8 * 16 * kKiB;
  return {capability >= 90 ? kHopper : kBefore, 1024 * kKiB, version.keepsProductWorkspaces, version.keepsBiasWorkspaces};
}

bool isProduct(const EagerOperator& op) { return op.name == "dense" || op.name == "matmul"; }

bool hasEpilogue(const EagerOperator& op, const graph::Graph& graph, const sema::Values& values) {
  if (op.name != "dense" || op.bias == graph::kNoTensor) return false;
  const auto dims = dimsOf(graph, values, op.weight);
  return dims && std::ranges::all_of(*dims, [](std::int64_t length) { return length > 1; });
}

void keepProductWorkspaces(const ProductWorkspaces& products, KeptWorkspaces& kept, bool epilogue, EagerTape& tape) {
  if (!std::exchange(kept.product, true)) tape.allocate(products.product, EagerKind::Cublas);
  if (epilogue && products.withBiasKept && !std::exchange(kept.withBias, true))
    tape.allocate(products.withBias, EagerKind::Cublas);
}

OperatorWorkspaces workspacesOf(const EagerOperator& op, const graph::Graph& graph, const sema::Values& values,
                                const EagerOptions& options) {
  if (op.name == "conv2d") return options.convolutions ? options.convolutions(op.op) : OperatorWorkspaces{};
  if (!isProduct(op)) return {};
  const auto always = [](std::uint64_t bytes) { return EagerWorkspace{bytes, bytes, bytes, {}}; };
  const bool hasBias = hasEpilogue(op, graph, values);
  const EagerWorkspace product = always(options.products.product);
  const EagerWorkspace withBias =
      options.products.withBiasKept || !hasBias ? EagerWorkspace{} : always(options.products.withBias);
  if (options.products.kept) return {withBias, {}, {}};
  return {hasBias ? withBias : product, product, product};
}

void useSumBuffers(std::uint64_t rows, std::uint64_t columns, std::uint64_t element, const SumUnits& units, EagerTape& tape) {
  const SumBuffers buffers = sumBuffers(rows, columns, std::max<std::uint64_t>(4, element), units);
  if (buffers.partial == 0) return;
  const EagerId partial = tape.allocate(buffers.partial, EagerKind::Temporaries);
  tape.release(tape.allocate(buffers.counters, EagerKind::Temporaries));
  tape.release(partial);
}

}  // namespace tbem::estimate
