// Functions of the driver: events. Work is done when it is asked for, so an event's moment is that of its record.
#include "test/card/driver/Api.h"

#include <chrono>

using namespace tbem::card;  // NOLINT: the functions are C's

TBEM_CARD_API cuEventCreate(void** handle, unsigned flags) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuEventCreate")) return result;
  if (flags != 0) {
    report(card, "cuEventCreate: of events only those that are timed, and waited for without sleep, are known");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  card.events.push_back(std::make_unique<Event>());
  *handle = card.events.back().get();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuEventRecord(void* handle, void* on) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuEventRecord")) return result;
  Event* event = find(card.events, handle);
  const Stream* stream = find(card.streams, on);
  if (event == nullptr || (on != nullptr && stream == nullptr)) return CUDA_ERROR_INVALID_HANDLE;
  if (stream != nullptr && stream->capturing) {
    report(card, "cuEventRecord in a capture is not known");
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  event->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuEventSynchronize(void* handle) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuEventSynchronize")) return result;
  return find(card.events, handle) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

TBEM_CARD_API cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuEventElapsedTime")) return result;
  const Event *from = find(card.events, begin), *to = find(card.events, end);
  if (from == nullptr || to == nullptr || !from->seconds || !to->seconds) return CUDA_ERROR_INVALID_HANDLE;
  *milliseconds = static_cast<float>((*to->seconds - *from->seconds) * 1e3);
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuEventDestroy_v2(void* handle) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuEventDestroy_v2")) return result;
  return destroy(card.events, handle);
}
