#include "test/card/run/Memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace tbem::card {
namespace {

constexpr std::uint64_t kAlign = 512, kGap = 512;

template <class T>
T* reserve(std::uint64_t count) {
  void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(memory);
}

/// Whole pages in it are zeros again and take no memory.
void giveBack(void* memory, std::uint64_t bytes) {
  constexpr std::uintptr_t kPage = 4096;
  const auto from = reinterpret_cast<std::uintptr_t>(memory), end = from + bytes;
  const std::uintptr_t first = (from + kPage - 1) / kPage * kPage, last = end / kPage * kPage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace

// Four times the capacity: what was released is not soon given out again, so that whoever still uses it is found.
Memory::Memory(std::uint64_t capacity)
    : capacity_(capacity),
      range_((4 * capacity + (1ULL << 24)) / 4096 * 4096),
      next_(kGlobalBase + kAlign),
      data_(reserve<std::byte>(range_)),
      known_(reserve<std::uint8_t>(range_)),
      cells_(reserve<Cell>(range_ / 4)) {}

Memory::~Memory() {
  munmap(data_, range_);
  munmap(known_, range_);
  munmap(cells_, range_ / 4 * sizeof(Cell));
}

std::optional<std::uint64_t> Memory::place(std::uint64_t bytes, std::uint64_t from, std::uint64_t to) const {
  std::uint64_t start = from;
  auto after = allocations_.lower_bound(from);
  if (after != allocations_.begin()) {
    const auto before = std::prev(after);
    start = std::max(start, before->first + before->second.bytes + kGap);
  }
  for (;; ++after) {
    start = (start + kAlign - 1) / kAlign * kAlign;
    if (start + bytes + kGap > to) return std::nullopt;
    if (after == allocations_.end() || start + bytes + kGap <= after->first) return start;
    start = after->first + after->second.bytes + kGap;
  }
}

std::optional<std::uint64_t> Memory::allocate(std::uint64_t bytes, const std::string& name) {
  if (bytes > free()) return std::nullopt;
  auto address = place(bytes, next_, kGlobalBase + range_);
  if (!address) address = place(bytes, kGlobalBase + kAlign, kGlobalBase + range_);
  if (!address) return std::nullopt;
  allocations_[*address] = {bytes, ++made_, name};
  std::memset(known(*address), kAllocated, bytes);
  used_ += bytes;
  next_ = *address + bytes;
  return address;
}

Memory::Held Memory::held() const {
  Held held;
  for (const auto& [address, allocation] : allocations_) {
    if (!allocation.name.empty()) continue;
    ++held.allocations;
    held.bytes += allocation.bytes;
  }
  return held;
}

bool Memory::release(std::uint64_t address) {
  const auto entry = allocations_.find(address);
  if (entry == allocations_.end()) return false;
  const std::uint64_t size = entry->second.bytes;
  std::memset(known(address), 0, size);
  giveBack(bytes(address), size);
  giveBack(known(address), size);
  giveBack(&cell(address), size / 4 * sizeof(Cell));
  used_ -= size;
  allocations_.erase(entry);
  return true;
}

bool Memory::holds(std::uint64_t address, std::uint64_t size) const {
  auto entry = allocations_.upper_bound(address);
  if (entry == allocations_.begin()) return false;
  --entry;
  return address - entry->first <= entry->second.bytes && size <= entry->second.bytes - (address - entry->first);
}

bool Memory::isWritten(std::uint64_t address, std::uint64_t size) const {
  return std::all_of(known(address), known(address) + size, [](std::uint8_t state) { return (state & kWritten) != 0; });
}

std::string Memory::nearest(std::uint64_t address) const {
  if (allocations_.empty()) return "there is no allocation";
  auto entry = allocations_.upper_bound(address);
  if (entry != allocations_.begin()) {
    const auto before = std::prev(entry);
    const std::uint64_t behind = address - before->first;
    if (entry == allocations_.end() || behind < before->second.bytes || behind - before->second.bytes <= entry->first - address)
      entry = before;
  }
  const auto& [start, allocation] = *entry;
  const std::string what =
      fmt::format("{} of {} bytes at {:#x}",
                  allocation.name.empty() ? fmt::format("allocation {}", allocation.number) : "`" + allocation.name + "`",
                  allocation.bytes, start);
  if (address < start) return fmt::format("{} bytes before {}", start - address, what);
  if (address < start + allocation.bytes) return fmt::format("byte {} of {}", address - start, what);
  return fmt::format("{} bytes behind the end of {}", address - start - allocation.bytes, what);
}

}  // namespace tbem::card
