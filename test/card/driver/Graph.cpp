// Functions of the driver: graphs that are put together from nodes, and conditions of nodes. This card knows graphs whose nodes
// follow each other.
#include "test/card/driver/Api.h"

#include <fmt/format.h>

using namespace tbem::card;  // NOLINT: the functions are C's

namespace {

Graph* graphOf(Card& card, const void* handle) {
  Graph* graph = find(card.graphs, handle);
  return graph != nullptr ? graph : find(card.bodies, handle);
}

/// CUgraphNodeParams of a conditional node, and CUDA_KERNEL_NODE_PARAMS_v2, as cuda.h has them.
struct ConditionalParameters {
  int type, reserved[3];
  unsigned long long handle;
  int condition;
  unsigned size;
  void** bodies;
  void* context;
};
struct KernelParameters {
  void* function;
  unsigned grid[3], threads[3], sharedBytes;
  void **arguments, **extra;
};

/// Adds a node behind the last one of the graph.
int addNode(Card& card, const char* function, void** node, void* handle, void* const* before, std::size_t count, Work work) {
  Graph* graph = graphOf(card, handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const bool follows = graph->last == nullptr ? count == 0 : count == 1 && before[0] == graph->last;
  if (!follows) {
    report(card, fmt::format("{}: a node that does not follow the last one: this card knows no other graphs", function));
    return CUDA_ERROR_INVALID_VALUE;
  }
  graph->work.push_back(std::move(work));
  *node = graph->last = reinterpret_cast<void*>(++card.nodes);
  return CUDA_SUCCESS;
}

}  // namespace

TBEM_CARD_API cuGraphCreate(void** graph, unsigned flags) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphCreate")) return result;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  card.graphs.push_back(std::make_unique<Graph>());
  *graph = card.graphs.back().get();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuGraphGetNodes(void* handle, void** nodes, std::size_t* count) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphGetNodes")) return result;
  const Graph* graph = graphOf(card, handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (nodes != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  *count = graph->work.size();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuGraphAddChildGraphNode(void** node, void* graph, void* const* before, std::size_t count, void* handle) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphAddChildGraphNode")) return result;
  const Graph* child = find(card.graphs, handle);
  if (child == nullptr || !child->conditions.empty()) return CUDA_ERROR_INVALID_VALUE;
  return addNode(card, "cuGraphAddChildGraphNode", node, graph, before, count,
                 [work = child->work](Card& on) { return runAll(on, work); });
}

TBEM_CARD_API cuGraphAddKernelNode_v2(void** node, void* graph, void* const* before, std::size_t count, const void* parameters) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphAddKernelNode_v2")) return result;
  const auto& kernel = *static_cast<const KernelParameters*>(parameters);
  if (kernel.extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  const int result = launchWork(card, kernel.function,
                                {{kernel.grid[0], kernel.grid[1], kernel.grid[2]},
                                 {kernel.threads[0], kernel.threads[1], kernel.threads[2]},
                                 kernel.sharedBytes},
                                kernel.arguments, work);
  return result != CUDA_SUCCESS ? result : addNode(card, "cuGraphAddKernelNode_v2", node, graph, before, count, std::move(work));
}

TBEM_CARD_API cuGraphConditionalHandleCreate(unsigned long long* handle, void* of, const void* context, unsigned value,
                                             unsigned flags) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphConditionalHandleCreate")) return result;
  Graph* graph = find(card.graphs, of);
  if (graph == nullptr || context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (flags != 1) {
    report(card, "cuGraphConditionalHandleCreate: a condition without a value at each launch is not known");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  *handle = 0x7000 + card.conditions.size();
  card.conditions.emplace(*handle, value);
  graph->conditions.emplace_back(*handle, value);
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuGraphAddNode_v2(void** node, void* graph, void* const* before, const void* edges, std::size_t count,
                                void* parameters) {
  constexpr int kConditional = 13, kIf = 0;
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphAddNode_v2")) return result;
  auto& asked = *static_cast<ConditionalParameters*>(parameters);
  if (asked.type != kConditional || asked.condition != kIf || asked.size != 1 || edges != nullptr) {
    report(card, "cuGraphAddNode_v2: of nodes only those that are done or not are known");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (!card.conditions.contains(asked.handle) || asked.context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto body = std::make_unique<Graph>();
  const int result =
      addNode(card, "cuGraphAddNode_v2", node, graph, before, count, [handle = asked.handle, of = body.get()](Card& on) {
        return on.conditions.at(handle) != 0 ? runAll(on, of->work) : CUDA_SUCCESS;
      });
  if (result != CUDA_SUCCESS) return result;
  card.bodyLists.push_back(std::make_unique<void*>(body.get()));
  asked.bodies = card.bodyLists.back().get();
  card.bodies.push_back(std::move(body));
  return CUDA_SUCCESS;
}
