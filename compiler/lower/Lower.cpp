#include "compiler/lower/Lower.h"

#include "compiler/count/Static.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/lower/Attention.h"
#include "compiler/lower/Lowering.h"
#include "compiler/lower/Query.h"
#include "compiler/lower/order/LateUpdates.h"
#include "compiler/lower/order/OrderOf.h"
#include "compiler/lower/order/WeightGradients.h"

#include <algorithm>

namespace tbem::estimate {

using graph::index;
using graph::kNoTensor;

Diagnostic& LowerError::report(DiagnosticSink& sink) const {
  switch (arguments.size()) {
    case 0:
      return sink.report(kind, range);
    case 1:
      return sink.report(kind, range, arguments[0]);
    case 2:
      return sink.report(kind, range, arguments[0], arguments[1]);
    default:
      return sink.report(kind, range, arguments[0], arguments[1], arguments[2]);
  }
}

namespace {
bool lowerAll(Lowering& state) {
  for (const graph::OpId id : state.order) {
    if (state.graph.microBatches > 1 && state.graph[id].phase == graph::Phase::Optimizer && state.once == kNone &&
        !state.endMicroBatch())
      return false;
    state.here = state.branches.of[index(id)];
    bool ok = false;
    switch (state.graph[id].kind) {
      case graph::OpKind::Native:
        ok = state.graph[id].own.symbol.empty() ? state.lowerCall(id) : state.lowerOwn(id);
        break;
      case graph::OpKind::Elementwise:
        ok = state.lowerLoop(id);
        break;
      case graph::OpKind::View:
        ok = state.lowerView(id);
        break;
      case graph::OpKind::Skip:
      case graph::OpKind::Exit:
        ok = state.lowerGate(id);
        break;
      case graph::OpKind::Join:
        ok = state.lowerJoin(id);
        break;
    }
    if (!ok || state.error) return false;
  }
  state.here = graph::kAllSamples;
  return state.graph.microBatches == 1 || state.once != kNone || state.endMicroBatch();
}

/// What the caller reads after the step stays alive: outputs and the loss in row-major order, gradients as they are.
bool keepResults(Lowering& state) {
  const graph::Graph& graph = state.graph;
  const auto keepPlain = [&state](graph::TensorId tensor) {
    const std::uint32_t version = state.ensure(tensor, state.plainOf(tensor), state.graph[tensor].range);
    if (version == kNone) return false;
    state.keep(version);
    return true;
  };
  if (!graph.training || (state.options.keepOutputs && graph.microBatches == 1)) {
    for (const graph::TensorId output : graph.outputs) {
      if (!keepPlain(output)) return false;
    }
  }
  if (graph.loss != kNoTensor && !keepPlain(graph.loss)) return false;
  if (state.options.keepGradients) {
    for (const graph::Graph::Weight& weight : graph.weights) {
      if (weight.gradient == kNoTensor) continue;
      const std::uint32_t version = state.current(weight.gradient);
      if (version == kNone) return false;
      state.keep(version);
    }
  }
  // Weights, inputs and states that nothing uses are there all the same.
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const auto tensor = static_cast<graph::TensorId>(t);
    if (graph[tensor].producer != graph::kNoOp || !state.isPersistent(tensor)) continue;
    const std::uint32_t storage = index(graph[tensor].storage);
    if (state.isOpen(tensor) && state.placeOf[storage]) state.layoutOf[storage] = state.placeOf[storage];
    if (state.current(tensor) == kNone) return false;
  }
  return true;
}
}  // namespace

namespace {
/// A graph, and by its operators those that they stand for (WithAttention); null: each stands for itself.
struct Source {
  const graph::Graph& graph;
  const std::map<graph::OpId, std::vector<graph::OpId>>* standsFor = nullptr;
};

/// `order`: in which the operators run, and comes back; where it is empty, `schedule`'s.
tl::expected<Program, LowerError> lowerIn(std::vector<graph::OpId>& order, const Source& source, const sema::Values& values,
                                          const tbem_backend& backend, const LowerOptions& options, QueryCache& cache) {
  const graph::Graph& graph = source.graph;
  Lowering state{
      .graph = graph, .values = values, .backend = backend, .options = options, .cache = cache, .standsFor = source.standsFor};
  state.order = std::move(order);
  Program program;
  program.backend = backend.name;
  if (backend.device != nullptr) program.target = backend.device->target;
  if (!state.prepare() || !lowerAll(state) || !keepResults(state)) return tl::unexpected(*state.error);
  state.fuse();
  if (!state.allocate(program)) return tl::unexpected(*state.error);
  program.scalars = state.scalars;
  program.threads = options.threads;
  program.tf32 = graph.tf32;
  if (backend.probe(&program.device) != TBEM_OK) {
    return tl::unexpected(LowerError{diag::backend_lacks_primitive, {}, {backend.name, "any program", backend.last_error()}});
  }
  program.arenaAsWritten = program.arena;
  order = std::move(state.order);
  return program;
}
}  // namespace

namespace {
tl::expected<Program, LowerError> lowerOrdered(const Source& source, const sema::Values& values, const tbem_backend& backend,
                                               const LowerOptions& options, QueryCache& cache) {
  std::vector<graph::OpId> order;
  auto program = lowerIn(order, source, values, backend, options, cache);
  if (!program || !options.searchOrder || !program->branches.empty()) return program;
  const std::vector<graph::TensorId> kept = keptValues(source.graph, options);
  const std::uint64_t asWritten = program->arena;
  // The plan decides: fusion and results in place may see it otherwise than what found the order did.
  const auto retry = [&](std::vector<graph::OpId> other, std::uint64_t below) {
    if (other.empty() || other == order) return false;
    auto reordered = lowerIn(other, source, values, backend, options, cache);
    if (!reordered || reordered->arena >= below) return false;
    program = std::move(reordered);
    program->arenaAsWritten = asWritten;
    order = std::move(other);
    return true;
  };
  retry(betterOrder(source.graph, *program, order, kept, options.orderChanged), asWritten);
  // A card waits for launches where a processor does not.
  if (backend.device != nullptr && source.graph.training && source.graph.microBatches == 1) {
    const std::vector<graph::OpId> late = updatesLast(source.graph, *program, order, kept);
    const std::vector<graph::OpId>& from = late.empty() ? order : late;
    const auto withWeightsFirst = [&](WeightsOf which) {
      return retry(weightGradientsFirst(source.graph, *program, from, kept, which), program->arena + 1);
    };
    const bool both = withWeightsFirst(WeightsOf::ConvolutionsAndDenseLayers) || withWeightsFirst(WeightsOf::Convolutions);
    if (!both) retry(late, program->arena + 1);
  }
  return program;
}

/// Workspaces of the calls that take another algorithm than the default, ascending.
std::vector<std::uint64_t> chosenWorkspaces(const Program& program) {
  std::vector<std::uint64_t> sizes;
  for (const NativeCall& call : program.calls) {
    if (call.algorithm != 0 && call.workspace != kNoBuffer)
      sizes.push_back(program.allocations[program[call.workspace].allocation].bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// The chosen algorithms as far as the arena stays within the limit (LowerOptions::arenaGrowth): W is found by halving the list
/// of workspaces; 0 is tried too, and where that is too much the default algorithms run.
tl::expected<Program, LowerError> lowerWithin(const Source& source, const sema::Values& values, const tbem_backend& backend,
                                              LowerOptions options, QueryCache& cache) {
  auto best = lowerOrdered(source, values, backend, options, cache);
  if (!best) return best;
  LowerOptions defaults = options;
  defaults.choices = nullptr;
  auto plain = lowerOrdered(source, values, backend, defaults, cache);
  if (!plain) return plain;
  const double limit = static_cast<double>(plain->arena) * (1 + *options.arenaGrowth);
  if (static_cast<double>(best->arena) <= limit) return best;
  std::vector<std::uint64_t> sizes = chosenWorkspaces(*best);
  if (sizes.empty() || sizes.front() != 0) sizes.insert(sizes.begin(), 0);
  best = std::move(plain);
  std::size_t low = 0, high = sizes.size();  // the largest is too much where it was taken, and tried where it was not
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    options.mostWorkspace = sizes[middle];
    auto tried = lowerOrdered(source, values, backend, options, cache);
    if (!tried) return tried;
    if (static_cast<double>(tried->arena) > limit) {
      high = middle;
    } else {
      best = std::move(tried);
      low = middle + 1;
    }
  }
  return best;
}
}  // namespace

tl::expected<Program, LowerError> lower(const graph::Graph& graph, const sema::Values& values, const tbem_backend& backend,
                                        const LowerOptions& options) {
  QueryCache own;
  QueryCache& cache = options.cache != nullptr ? *options.cache : own;
  std::optional<WithAttention> attention;
  if (backend.device != nullptr) attention = withAttention(graph, values, backend, keptValues(graph, options), cache);
  const Source source = attention ? Source{attention->graph, &attention->standsFor} : Source{graph};
  if (options.choices != nullptr && options.arenaGrowth) return lowerWithin(source, values, backend, options, cache);
  return lowerOrdered(source, values, backend, options, cache);
}

}  // namespace tbem::estimate
