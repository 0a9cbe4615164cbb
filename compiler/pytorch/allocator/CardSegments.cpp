// The side of the caching allocator that faces the card: segments taken and given back, pages mapped and unmapped.
#include "compiler/pytorch/allocator/CachingAllocator.h"

#include <algorithm>

namespace tbem::estimate {

namespace {

constexpr std::uint64_t kPage = std::uint64_t{2} << 20U;  // what the driver hands out

std::uint64_t pagesOf(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

bool CachingAllocator::takePages(std::uint64_t bytes) {
  if (pagesOf(bytes) > card.capacity - pagesTaken) return false;
  pagesTaken += pagesOf(bytes);
  counts.reserved.add(bytes);
  ++counts.deviceAllocations;
  return true;
}

std::uint32_t CachingAllocator::takeSegment(const Request& request, bool retry) {
  if (retry) ++counts.retries;
  if (allowed != AllocatorOptions::kUnlimited && counts.reserved.now + request.segment > allowed) return kNone;
  if (options.expandableSegments) return grow(request);
  if (!takePages(request.segment)) return kNone;
  counts.segments.add(1);
  Block block;
  block.size = request.segment;
  block.stream = request.stream;
  block.pool = request.pool;
  block.segment = options.earlierFirst ? ++segmentsMade : 0;
  block.address = card.address ? card.address(request.segment) : nextAddress;
  if (!card.address) nextAddress += pagesOf(request.segment);
  note(AllocatorAction::Kind::SegmentAllocate, request.pool / 2, block.address, block.size, block.stream);
  return newBlock(block);
}

/// A free block that is a whole segment goes back to the card.
void CachingAllocator::giveSegment(std::uint32_t index) {
  eraseFree(index);
  closeHole();
  const Block& block = blocks[index];
  note(AllocatorAction::Kind::SegmentFree, block.pool / 2, block.address, block.size, block.stream);
  pagesTaken -= pagesOf(block.size);
  counts.reserved.now -= block.size;
  counts.segments.now -= 1;
  ++counts.deviceFrees;
  spare.push_back(index);
}

/// Gives back large segments that were free for long, until reserved memory is below the threshold. Age is counted in searches.
void CachingAllocator::collect() {
  const auto threshold = static_cast<std::uint64_t>(options.collectionThreshold * static_cast<double>(allowed));
  if (counts.reserved.now <= threshold) return;
  const std::uint64_t target = counts.reserved.now - threshold;
  const std::uint64_t now = poolAt(1).searches;
  const auto whole = [&] {
    closeHole();
    std::vector<std::uint32_t> found;
    for (const StreamLists& lists : pools[1].streams)
      for (const Free& one : lists.free)
        if (blocks[one.block].whole()) found.push_back(one.block);
    return found;
  };
  std::uint64_t age = 0, given = 0;
  for (const std::uint32_t block : whole()) age += now - blocks[block].born;
  for (bool any = true; any && given < target;) {
    any = false;
    const std::vector<std::uint32_t> candidates = whole();
    if (candidates.empty()) return;
    const double mean = static_cast<double>(age) / static_cast<double>(candidates.size());
    for (const std::uint32_t block : candidates) {
      const std::uint64_t own = now - blocks[block].born;
      if (blocks[block].range != kNone || static_cast<double>(own) < mean) continue;
      any = true;
      given += blocks[block].size;
      age -= own;
      giveSegment(block);
    }
  }
}

/// Where splitting is limited: gives back one free block that is large enough, else the largest ones until they are so together.
bool CachingAllocator::giveLarge(const Request& request) {
  if (options.maxSplitSize == AllocatorOptions::kUnlimited) return false;
  closeHole();
  std::vector<Free>& free = listsOf(request.pool, request.stream).free;
  const std::uint64_t wanted = std::max(request.size, options.maxSplitSize);
  const auto found = std::partition_point(free.begin(), free.end(), [&](const Free& one) { return one.size < wanted; });
  if (found != free.end() && blocks[found->block].range == kNone) {
    giveSegment(found->block);
    return true;
  }
  std::uint64_t given = 0;
  for (auto at = static_cast<std::size_t>(found - free.begin()); at-- > 0 && given < wanted;) {
    if (free[at].size < options.maxSplitSize) break;
    if (blocks[free[at].block].range != kNone) continue;
    given += free[at].size;
    giveSegment(free[at].block);
  }
  return given >= wanted;
}

/// Everything that is free as a whole goes back to the card: of the common pool and of those released (`only` 0), or of one.
void CachingAllocator::giveUnused(std::uint32_t only) {
  if (only == 0) {
    finishPending(0);
    giveUnused(poolAt(1));
    giveUnused(poolAt(0));
  }
  for (std::uint32_t pool = 1; pool < pools.size() / 2; ++pool) {
    if (!pools[2 * pool].released || (only != 0 && only != pool)) continue;
    if (only != 0) finishPending(only);
    giveUnused(pools[2 * pool]);
    giveUnused(pools[2 * pool + 1]);
  }
}

void CachingAllocator::giveUnused(Pool& pool) {
  closeHole();
  std::vector<std::uint32_t> whole, mapped;
  for (const StreamLists& lists : pool.streams) {
    for (const Free& one : lists.free) {
      if (blocks[one.block].range != kNone)
        mapped.push_back(one.block);
      else if (blocks[one.block].whole())
        whole.push_back(one.block);
    }
  }
  for (const std::uint32_t block : whole) giveSegment(block);
  for (const std::uint32_t block : mapped) {
    unmap(block);
    if (!blocks[block].mapped && blocks[block].whole()) {  // nothing of its addresses is in use
      eraseUnmapped(block);
      spare.push_back(block);
    }
  }
}

/// Waits for the other streams. `only`: the pool whose blocks are waited for, 0 for all.
void CachingAllocator::finishPending(std::uint32_t only) {
  std::vector<std::uint32_t> rest;
  for (const std::uint32_t block : pending) {
    if (only == 0 || blocks[block].pool / 2 == only)
      finishFree(block);
    else
      rest.push_back(block);
  }
  pending = std::move(rest);
}

/// The lowest place in an expandable segment with room for the request, with pages mapped up to its end; out of the free list.
std::uint32_t CachingAllocator::grow(const Request& request) {
  std::uint32_t block = growable(request);
  if (!blocks[block].mapped && !map(block, std::min(blocks[block].size, request.size))) return kNone;
  while (blocks[block].size < request.size) {
    const std::uint32_t next = blocks[block].after;
    if (!map(next, std::min(request.size - blocks[block].size, blocks[next].size))) return kNone;
    block = next;
  }
  eraseFree(block);
  return block;
}

/// The first of free and unmapped blocks in a row with room enough: of a new segment if there is no such row.
std::uint32_t CachingAllocator::growable(const Request& request) {
  for (const Free& one : listsOf(request.pool, request.stream).unmapped) {
    std::uint32_t first = one.block;
    const std::uint32_t before = blocks[first].before;
    if (before != kNone && !blocks[before].taken) first = before;
    std::uint64_t room = 0;
    for (std::uint32_t b = first; room < request.size && b != kNone && !blocks[b].taken; b = blocks[b].after)
      room += blocks[b].size;
    if (room >= request.size) return first;
  }
  Range range;
  range.page = pools[request.pool].small ? kPage : options.largeSegmentSize;
  // An estimate asks for what no card of this size holds; with as much memory as the card has, mapping would fail in either size.
  const std::uint64_t wanted = std::max(card.total + card.total / 8, request.size);
  range.size = (wanted + range.page - 1) / range.page * range.page;
  range.address = card.address ? card.address(range.size) : nextAddress;
  if (!card.address) nextAddress += pagesOf(range.size);
  Block block;
  block.address = range.address;
  block.size = range.size;
  block.stream = request.stream;
  block.pool = request.pool;
  block.range = static_cast<std::uint32_t>(ranges.size());
  block.segment = options.earlierFirst ? ++segmentsMade : 0;
  block.mapped = false;
  ranges.push_back(range);
  const std::uint32_t made = newBlock(block);
  insertUnmapped(made);
  return made;
}

/// Maps whole pages from the start of an unmapped block on; false: the card has too few.
bool CachingAllocator::map(std::uint32_t index, std::uint64_t size) {
  const Range& range = ranges[blocks[index].range];
  const std::uint64_t start = blocks[index].address;
  const std::uint64_t bytes = (size + range.page - 1) / range.page * range.page;
  const std::uint64_t each = pagesOf(range.page);
  if (bytes / range.page * each > card.capacity - pagesTaken) return false;
  eraseUnmapped(index);
  if (bytes < blocks[index].size) {
    Block rest = blocks[index];
    rest.address += bytes;
    rest.size -= bytes;
    rest.before = index;
    const std::uint32_t made = newBlock(rest);
    if (rest.after != kNone) blocks[rest.after].before = made;
    blocks[index].after = made;
    blocks[index].size = bytes;
    insertUnmapped(made);
  }
  Block& block = blocks[index];
  block.mapped = true;
  merge(index, block.before);
  merge(index, block.after);
  insertFree(index);
  pagesTaken += bytes / range.page * each;
  counts.reserved.add(bytes);
  ++counts.deviceAllocations;
  note(AllocatorAction::Kind::SegmentMap, block.pool / 2, start, bytes, block.stream);
  return true;
}

/// Unmaps the whole pages inside a free block.
void CachingAllocator::unmap(std::uint32_t index) {
  const Block old = blocks[index];
  const Range range = ranges[old.range];
  const std::uint64_t begin = range.address + (old.address - range.address + range.page - 1) / range.page * range.page;
  const std::uint64_t end = range.address + (old.address + old.size - range.address) / range.page * range.page;
  if (begin >= end) return;
  eraseFree(index);
  if (begin > old.address) {
    Block low = old;
    low.size = begin - old.address;
    low.after = index;
    const std::uint32_t made = newBlock(low);
    if (low.before != kNone) blocks[low.before].after = made;
    blocks[index].before = made;
    insertFree(made);
  }
  if (old.address + old.size > end) {
    Block high = old;
    high.address = end;
    high.size = old.address + old.size - end;
    high.before = index;
    const std::uint32_t made = newBlock(high);
    if (high.after != kNone) blocks[high.after].before = made;
    blocks[index].after = made;
    insertFree(made);
  }
  Block& block = blocks[index];
  block.address = begin;
  block.size = end - begin;
  block.mapped = false;
  merge(index, block.before);
  merge(index, block.after);
  insertUnmapped(index);
  pagesTaken -= (end - begin) / range.page * pagesOf(range.page);
  counts.reserved.now -= end - begin;
  ++counts.deviceFrees;
  note(AllocatorAction::Kind::SegmentUnmap, block.pool / 2, begin, end - begin, block.stream);
}

}  // namespace tbem::estimate
