// Functions of the driver: streams, captures, graphs.
#include "test/card/driver/Api.h"

#include <algorithm>
#include <utility>

using namespace tbem::card;  // NOLINT: the functions are C's

namespace tbem::card {

int runAll(Card& card, const std::vector<Work>& work) {
  for (const Work& one : work)
    if (const int result = one(card)) return result;
  return CUDA_SUCCESS;
}

}  // namespace tbem::card

TBEM_CARD_API cuStreamCreate(void** handle, unsigned flags) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuStreamCreate")) return result;
  if (flags > 1) return CUDA_ERROR_INVALID_VALUE;
  card.streams.push_back(std::make_unique<Stream>());
  *handle = card.streams.back().get();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuStreamSynchronize(void* handle) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuStreamSynchronize")) return result;
  if (handle == nullptr) return CUDA_SUCCESS;
  Stream* stream = find(card.streams, handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!stream->capturing) return CUDA_SUCCESS;
  report(card, "cuStreamSynchronize of a stream that captures");
  return std::exchange(stream->invalidated, true) ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

TBEM_CARD_API cuStreamBeginCapture_v2(void* handle, int mode) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuStreamBeginCapture_v2")) return result;
  if (handle == nullptr) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;  // the default stream cannot
  Stream* stream = find(card.streams, handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capturing || mode < 0 || mode > 2) return CUDA_ERROR_INVALID_VALUE;
  *stream = {true, false, mode, {}};
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuStreamEndCapture(void* handle, void** graph) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuStreamEndCapture")) return result;
  Stream* stream = find(card.streams, handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!stream->capturing) return CUDA_ERROR_INVALID_VALUE;
  const Stream ended = std::exchange(*stream, Stream{});
  *graph = nullptr;
  if (ended.invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  card.graphs.push_back(std::make_unique<Graph>(Graph{ended.captured, nullptr, {}}));
  *graph = card.graphs.back().get();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuGraphInstantiateWithFlags(void** executable, void* handle, unsigned long long flags) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphInstantiateWithFlags")) return result;
  const Graph* graph = find(card.graphs, handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  card.executables.push_back(std::make_unique<Graph>(*graph));
  *executable = card.executables.back().get();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuGraphUpload(void* executable, void* stream) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphUpload")) return result;
  const bool known = find(card.executables, executable) != nullptr && find(card.streams, stream) != nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

TBEM_CARD_API cuGraphLaunch(void* handle, void* stream) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphLaunch")) return result;
  const Graph* executable = find(card.executables, handle);
  if (executable == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return submit(card, stream, [work = executable->work, conditions = executable->conditions](Card& on) {
    for (const auto& [handle, value] : conditions) on.conditions[handle] = value;
    return runAll(on, work);
  });
}

TBEM_CARD_API cuGraphDestroy(void* graph) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphDestroy")) return result;
  return destroy(card.graphs, graph);
}

TBEM_CARD_API cuGraphExecDestroy(void* executable) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuGraphExecDestroy")) return result;
  return destroy(card.executables, executable);
}
