#include "compiler/pytorch/allocator/CachingAllocator.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

namespace tbem::estimate {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr std::uint64_t kLeastBlock = 512;
constexpr std::uint64_t kSmall = kMiB;  // blocks up to this size share small segments
constexpr std::uint64_t kSmallSegment = 2 * kMiB;
constexpr std::uint64_t kOwnSegment = 10 * kMiB;          // larger ones get a segment of their size
constexpr std::uint64_t kPage = 2 * kMiB;                 // what the driver hands out
constexpr std::uint64_t kMost = std::uint64_t{1} << 56U;  // no card has more

std::uint64_t upTo(std::uint64_t bytes, std::uint64_t multiple) { return (bytes + multiple - 1) / multiple * multiple; }

/// The first element that is not before; elements that are come first. Without a branch on the data: these searches are most of a
/// replay's time, and a processor cannot foresee their turns.
template <class At, class Before>
At firstNot(At at, At end, Before before) {
  for (auto left = static_cast<std::size_t>(end - at); left > 0;) {
    const std::size_t half = (left + 1) / 2;
    at += before(*(at + static_cast<std::ptrdiff_t>(half - 1))) ? static_cast<std::ptrdiff_t>(half) : 0;
    left -= half;
  }
  return at;
}

}  // namespace

std::uint64_t roundedSize(const AllocatorOptions& options, std::uint64_t bytes) {
  if (bytes < kLeastBlock) return kLeastBlock;
  const int interval = std::clamp(static_cast<int>(std::bit_width(bytes)) - 21, 0, 15);
  const std::uint64_t divisions = options.divisions[static_cast<std::size_t>(interval)];
  const std::uint64_t least = options.roundsOne ? 2 : 1;
  if (divisions < least || bytes <= kLeastBlock * divisions) return upTo(bytes, kLeastBlock);
  if (divisions == 1 || std::has_single_bit(bytes)) return bytes;
  const std::uint64_t floor = std::bit_floor(bytes);
  const std::uint64_t step = floor >> static_cast<unsigned>(std::bit_width(divisions) - 1);
  return step == 0 ? floor << 1U : upTo(bytes, step);
}

std::uint64_t segmentSize(const AllocatorOptions& options, std::uint64_t rounded) {
  if (rounded <= kSmall) return kSmallSegment;
  return rounded < kOwnSegment ? options.largeSegmentSize : upTo(rounded, kPage);
}

CachingAllocator::CachingAllocator(const AllocatorOptions& options, CardMemory card)
    : options(options), card(std::move(card)), allowed(AllocatorOptions::kUnlimited), nextAddress(std::uint64_t{1} << 40U) {
  if (options.memoryFraction < 1)
    allowed = static_cast<std::uint64_t>(options.memoryFraction * static_cast<double>(this->card.total));
}

CachingAllocator CachingAllocator::fork() {
  closeHole();  // it points into the lists
  CachingAllocator other = *this;
  other.log = nullptr;
  return other;
}

std::uint64_t CachingAllocator::addressOf(std::uint32_t id) const {
  return id < blockOf.size() && blockOf[id] != kNone ? blocks[blockOf[id]].address : 0;
}

bool CachingAllocator::apply(const AllocatorEvent& event) {
  using Kind = AllocatorEvent::Kind;
  const auto known = [&] { return event.id < blockOf.size() && blockOf[event.id] != kNone; };
  const auto waiting = [&] { return std::find(pending.begin(), pending.end(), blockOf[event.id]) != pending.end(); };
  switch (event.kind) {
    case Kind::Allocate:
      return event.bytes == 0 || known() || allocate(event);
    case Kind::Free:
    case Kind::RequestFree:
      if (!known() || waiting()) return true;
      requestFree(blockOf[event.id]);
      if (event.kind == Kind::RequestFree)
        pending.push_back(blockOf[event.id]);
      else
        finishFree(blockOf[event.id]);
      return true;
    case Kind::FinishFree:
      if (!known()) return true;
      if (const auto at = std::find(pending.begin(), pending.end(), blockOf[event.id]); at != pending.end()) {
        const std::uint32_t block = *at;
        pending.erase(at);
        finishFree(block);
      }
      return true;
    case Kind::EmptyCache:
      giveUnused(event.pool);
      return true;
    case Kind::ReleasePool:
      poolAt(2 * event.pool).released = true;
      poolAt(2 * event.pool + 1).released = true;
      return true;
  }
  return true;
}

bool CachingAllocator::allocate(const AllocatorEvent& event) {
  Request request;
  request.size = event.bytes > kMost ? kMost : roundedSize(options, event.bytes);
  request.segment = segmentSize(options, request.size);
  request.stream = event.stream;
  request.pool = 2 * event.pool + (request.size <= kSmall ? 0 : 1);
  poolAt(request.pool);
  const bool collects = allowed != AllocatorOptions::kUnlimited && options.collectionThreshold > 0;
  if (collects) ++pools[request.pool].searches;
  std::uint32_t block = findFree(request);
  if (block == kNone) {
    if (collects) collect();
    block = takeSegment(request, false);
    if (block == kNone && giveLarge(request)) block = takeSegment(request, false);
    if (block == kNone) {
      giveUnused(0);
      block = takeSegment(request, true);
    }
  }
  if (block == kNone) {
    ++counts.outOfMemory;
    note(AllocatorAction::Kind::OutOfMemory, event.pool, card.capacity - pagesTaken, request.size, request.stream);
    return false;
  }
  handOut(block, request, event);
  return true;
}

void CachingAllocator::handOut(std::uint32_t index, const Request& request, const AllocatorEvent& event) {
  if (splits(blocks[index], request.size)) index = split(index, request.size);
  Block& block = blocks[index];
  block.taken = true;
  block.requested = event.bytes;
  block.id = event.id;
  if (event.id >= blockOf.size()) blockOf.resize(std::max<std::size_t>(event.id + std::size_t{1}, 2 * blockOf.size()), kNone);
  blockOf[event.id] = index;
  note(AllocatorAction::Kind::Allocate, event.pool, block.address, event.bytes, block.stream);
  counts.allocated.add(block.size);
  counts.active.add(block.size);
  counts.requested.add(event.bytes);
}

bool CachingAllocator::splits(const Block& block, std::uint64_t size) const {
  const std::uint64_t rest = block.size - size;
  if (pools[block.pool].small || options.expandableSegments) return rest >= kLeastBlock;
  return size < options.maxSplitSize && rest > kSmall;
}

/// The low part is the one that is handed out; the rest becomes free.
std::uint32_t CachingAllocator::split(std::uint32_t index, std::uint64_t size) {
  Block low = blocks[index];
  low.size = size;
  low.after = index;
  const std::uint32_t made = newBlock(low);
  Block& rest = blocks[index];
  if (rest.before != kNone) blocks[rest.before].after = made;
  rest.before = made;
  rest.address += size;
  rest.size -= size;
  insertFree(index);
  return made;
}

/// Best fit of the stream, of equals that of the earliest segment, at the lowest address; out of the list of free blocks.
std::uint32_t CachingAllocator::findFree(const Request& request) {
  closeHole();
  std::vector<Free>& free = listsOf(request.pool, request.stream).free;
  const auto first = firstNot(free.begin(), free.end(), [&](const Free& one) { return one.size < request.size; });
  if (first == free.end()) return kNone;
  auto at = static_cast<std::size_t>(first - free.begin());
  if (options.expandableSegments) at = leastGrowable(free, at);
  const std::uint64_t size = free[at].size, limit = options.maxSplitSize;
  if (request.size < limit ? size >= limit : size >= request.size + options.maxNonSplitRounding) return kNone;
  hole = {&free, at};
  return free[at].block;
}

/// A block at the end of what is mapped counts with what it can grow to: larger ones behind it are taken while they grow to less.
std::size_t CachingAllocator::leastGrowable(const std::vector<Free>& free, std::size_t at) const {
  const auto grown = [&](std::size_t i) {
    const Block& block = blocks[free[i].block];
    const bool grows = block.after != kNone && !blocks[block.after].mapped;
    return block.size + (grows ? blocks[block.after].size : 0);
  };
  while (at + 1 < free.size() && grown(at + 1) < grown(at)) ++at;
  return at;
}

void CachingAllocator::requestFree(std::uint32_t index) {
  const Block& block = blocks[index];
  counts.allocated.now -= block.size;
  note(AllocatorAction::Kind::RequestFree, block.pool / 2, block.address, block.requested, block.stream);
}

void CachingAllocator::finishFree(std::uint32_t index) {
  Block& block = blocks[index];
  note(AllocatorAction::Kind::FinishFree, block.pool / 2, block.address, block.requested, block.stream);
  counts.active.now -= block.size;
  counts.requested.now -= block.requested;
  blockOf[block.id] = kNone;
  block.id = kNone;
  block.taken = false;
  merge(index, block.before);
  merge(index, block.after);
  insertFree(index);
}

/// A free neighbour becomes part of the block; both have memory behind them, or neither has.
void CachingAllocator::merge(std::uint32_t index, std::uint32_t neighbour) {
  if (neighbour == kNone || blocks[neighbour].taken || blocks[neighbour].mapped != blocks[index].mapped) return;
  Block& block = blocks[index];
  const Block gone = blocks[neighbour];
  if (gone.mapped)
    eraseFree(neighbour);
  else
    eraseUnmapped(neighbour);
  if (block.before == neighbour) {
    block.address = gone.address;
    block.before = gone.before;
    if (gone.before != kNone) blocks[gone.before].after = index;
  } else {
    block.after = gone.after;
    if (gone.after != kNone) blocks[gone.after].before = index;
  }
  block.size += gone.size;
  spare.push_back(neighbour);
}

std::uint32_t CachingAllocator::newBlock(const Block& block) {
  if (spare.empty()) {
    blocks.push_back(block);
    return static_cast<std::uint32_t>(blocks.size() - 1);
  }
  const std::uint32_t index = spare.back();
  spare.pop_back();
  blocks[index] = block;
  return index;
}

CachingAllocator::Pool& CachingAllocator::poolAt(std::uint32_t index) {
  if (pools.size() <= index) closeHole();
  while (pools.size() <= index)
    pools.push_back({.small = pools.size() % 2 == 0, .released = false, .searches = 0, .streams = {}});
  return pools[index];
}

CachingAllocator::StreamLists& CachingAllocator::listsOfOneOfMany(std::uint32_t pool, std::uint64_t stream) {
  std::vector<StreamLists>& streams = pools[pool].streams;
  const auto at =
      std::partition_point(streams.begin(), streams.end(), [&](const StreamLists& one) { return one.stream < stream; });
  if (at != streams.end() && at->stream == stream) return *at;
  closeHole();
  return *streams.insert(at, {stream, {}, {}});
}

/// Where a block stands among free ones: by size, then by segment, then by address.
std::vector<CachingAllocator::Free>::iterator CachingAllocator::placeOf(const Block& block, std::vector<Free>& free) {
  const auto first = firstNot(free.begin(), free.end(), [size = block.size](const Free& one) { return one.size < size; });
  const auto before = [&block](const Free& one) {
    return one.size == block.size &&
           (one.segment < block.segment || (one.segment == block.segment && one.address < block.address));
  };
  if (first == free.end() || !before(*first)) return first;  // most often: few blocks are of one size
  return firstNot(first + 1, free.end(), before);
}

void CachingAllocator::insertFree(std::uint32_t index) {
  Block& block = blocks[index];
  block.born = pools[block.pool].searches;
  std::vector<Free>& free = listsOf(block.pool, block.stream).free;
  const Free one{block.size, block.address, index, block.segment};
  if (hole.list != &free) {
    closeHole();
    free.insert(placeOf(block, free), one);
    return;
  }
  const auto from = free.begin() + static_cast<std::ptrdiff_t>(hole.at);
  const auto to = placeOf(block, free);  // the hole's old element keeps the order
  if (to <= from)
    std::move_backward(to, from, from + 1);
  else
    std::move(from + 1, to, from);
  *(to <= from ? to : to - 1) = one;
  hole.list = nullptr;
}

void CachingAllocator::eraseFree(std::uint32_t index) {
  closeHole();
  const Block& block = blocks[index];
  std::vector<Free>& free = listsOf(block.pool, block.stream).free;
  hole = {&free, static_cast<std::size_t>(placeOf(block, free) - free.begin())};
}

void CachingAllocator::closeHole() {
  if (hole.list != nullptr) hole.list->erase(hole.list->begin() + static_cast<std::ptrdiff_t>(hole.at));
  hole.list = nullptr;
}

void CachingAllocator::insertUnmapped(std::uint32_t index) {
  const Block& block = blocks[index];
  std::vector<Free>& unmapped = listsOf(block.pool, block.stream).unmapped;
  const auto at =
      std::partition_point(unmapped.begin(), unmapped.end(), [&](const Free& other) { return other.address < block.address; });
  unmapped.insert(at, {block.size, block.address, index, block.segment});
}

void CachingAllocator::eraseUnmapped(std::uint32_t index) {
  const Block& block = blocks[index];
  std::vector<Free>& unmapped = listsOf(block.pool, block.stream).unmapped;
  unmapped.erase(
      std::partition_point(unmapped.begin(), unmapped.end(), [&](const Free& other) { return other.address < block.address; }));
}

namespace {

/// A history whose allocations can become smaller.
class Flexible {
public:
  Flexible(std::span<const AllocatorEvent> events, CachingAllocator& allocator, const SmallerSizes& sizes)
      : events(events), allocator(allocator), sizes(sizes) {}

  /// False: out of memory, for the smallest too.
  bool apply(std::size_t e) {
    if (!sizes || events[e].kind != AllocatorEvent::Kind::Allocate) return allocator.apply(events[e]);
    if (!had.empty()) {
      const auto before = had.find(sizes(e).data());
      if (before != had.end() && applySmaller(e, before->second)) return true;
    }
    if (allocator.apply(events[e])) {
      if (!had.empty()) had.erase(sizes(e).data());
      return true;
    }
    const std::span<const std::uint64_t> list = sizes(e);
    const auto fits = std::ranges::find_if(list, [&](std::uint64_t bytes) { return applySmaller(e, bytes); });
    if (fits == list.end()) return false;
    had.insert_or_assign(list.data(), *fits);
    return true;
  }
  std::vector<Replay::Smaller> smaller;

private:
  bool applySmaller(std::size_t e, std::uint64_t bytes) {
    AllocatorEvent event = events[e];
    event.bytes = bytes;
    if (!allocator.apply(event)) return false;
    smaller.push_back({e, bytes});
    return true;
  }

  std::span<const AllocatorEvent> events;
  CachingAllocator& allocator;
  const SmallerSizes& sizes;
  std::unordered_map<const std::uint64_t*, std::uint64_t> had;  ///< bytes, by list
};

}  // namespace

Replay replay(std::span<const AllocatorEvent> events, const AllocatorOptions& options, const CardMemory& card, ReplayUntil until,
              const SmallerSizes& smallerSizes) {
  Replay made;
  CachingAllocator allocator(options, card);
  Flexible history(events, allocator, smallerSizes);
  std::uint64_t reserved = 0, allocated = 0;
  for (std::size_t e = 0; e < events.size(); ++e) {
    if (!history.apply(e)) made.outOfMemory.push_back(e);
    if (!made.outOfMemory.empty() && until == ReplayUntil::OutOfMemory) break;
    const AllocatorStatistics& counts = allocator.statistics();
    if (counts.reserved.peak > reserved) {
      reserved = counts.reserved.peak;
      made.reservedPeakAt = e;
      made.allocatedAtPeak = counts.allocated.now;
    }
    if (counts.allocated.peak > allocated) {
      allocated = counts.allocated.peak;
      made.allocatedPeakAt = e;
    }
  }
  made.statistics = allocator.statistics();
  made.smaller = std::move(history.smaller);
  return made;
}

}  // namespace tbem::estimate
