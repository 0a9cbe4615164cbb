// Functions of the driver: memory and copies.
#include "test/card/driver/Api.h"

#include <fmt/format.h>

using namespace tbem::card;  // NOLINT: the functions are C's

namespace {

/// Whether bytes of the card can be copied or set; says so if not.
bool holds(Card& card, const char* function, std::uint64_t address, std::size_t bytes) {
  if (card.memory.holds(address, bytes)) return true;
  report(card, fmt::format("{}: {} bytes at {:#x}, {}", function, bytes, address, card.memory.nearest(address)));
  return false;
}

}  // namespace

TBEM_CARD_API cuMemAlloc_v2(std::uint64_t* memory, std::size_t bytes) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuMemAlloc_v2", {true, true})) return result;
  if (bytes == 0 || memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto address = card.memory.allocate(bytes);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  *memory = *address;
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuMemFree_v2(std::uint64_t memory) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuMemFree_v2", {true, true})) return result;
  if (memory == 0) return CUDA_SUCCESS;
  if (card.memory.release(memory)) return CUDA_SUCCESS;
  report(card, fmt::format("cuMemFree_v2: no allocation starts at {:#x}, {}", memory, card.memory.nearest(memory)));
  return CUDA_ERROR_INVALID_VALUE;
}

TBEM_CARD_API cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuMemGetInfo_v2")) return result;
  const std::uint64_t own = card.settings.context + (card.launches > 0 ? card.settings.late : 0) +
                            card.modules.size() * card.settings.module + card.executables.size() * card.settings.graph;
  *free = card.memory.free() - std::min(own, card.memory.free());
  *total = card.memory.capacity();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t bytes, void* stream) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuMemcpyHtoDAsync_v2")) return result;
  if (bytes == 0) return CUDA_SUCCESS;
  return submit(card, stream, [=](Card& on) -> int {
    if (!holds(on, "cuMemcpyHtoDAsync_v2", to, bytes)) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(on.memory.bytes(to), from, bytes);
    on.memory.markWritten(to, bytes);
    return CUDA_SUCCESS;
  });
}

TBEM_CARD_API cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t bytes, void* stream) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuMemcpyDtoHAsync_v2")) return result;
  if (bytes == 0) return CUDA_SUCCESS;
  return submit(card, stream, [=](Card& on) -> int {
    if (!holds(on, "cuMemcpyDtoHAsync_v2", from, bytes)) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(to, on.memory.bytes(from), bytes);
    return CUDA_SUCCESS;
  });
}

TBEM_CARD_API cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuMemcpyDtoDAsync_v2")) return result;
  if (bytes == 0) return CUDA_SUCCESS;
  return submit(card, stream, [=](Card& on) -> int {
    if (!holds(on, "cuMemcpyDtoDAsync_v2", to, bytes) || !holds(on, "cuMemcpyDtoDAsync_v2", from, bytes))
      return CUDA_ERROR_INVALID_VALUE;
    if (to < from + bytes && from < to + bytes) {
      report(on, fmt::format("cuMemcpyDtoDAsync_v2: {} bytes from {:#x} to {:#x} overlap", bytes, from, to));
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::memcpy(on.memory.bytes(to), on.memory.bytes(from), bytes);
    // What was never written is not so by being copied.
    std::memcpy(on.memory.known(to), on.memory.known(from), bytes);
    return CUDA_SUCCESS;
  });
}

TBEM_CARD_API cuMemsetD8Async(std::uint64_t memory, unsigned char value, std::size_t bytes, void* stream) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuMemsetD8Async")) return result;
  if (bytes == 0) return CUDA_SUCCESS;
  return submit(card, stream, [=](Card& on) -> int {
    if (!holds(on, "cuMemsetD8Async", memory, bytes)) return CUDA_ERROR_INVALID_VALUE;
    std::memset(on.memory.bytes(memory), value, bytes);
    on.memory.markWritten(memory, bytes);
    return CUDA_SUCCESS;
  });
}
