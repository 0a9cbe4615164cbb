// PyTorch's native CUDA caching allocator, event by event: which segments it takes from the card, which block it hands out, what
// its counters then show. Rules: DeviceCachingAllocator in c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.15. Not part of it:
// captures under way (what a stream capture puts off), pools with an allocator of their own, and IPC.
#pragma once

#include "compiler/pytorch/allocator/AllocatorOptions.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

namespace tbem::estimate {

/// The card, as far as the allocator sees it. The driver hands out pages of 2 MiB.
struct CardMemory {
  /// Of a card without end: more than the tensors of a step may take together (2^60 bytes), and far from where addresses end.
  static constexpr std::uint64_t kEndless = std::uint64_t{1} << 61U;
  std::uint64_t capacity = kEndless;  ///< bytes that the driver can hand out to this allocator
  /// Bytes of the card: what memoryFraction is a share of. Expandable segments take ranges of addresses as large as it.
  std::uint64_t total = kEndless / 8;
  /// Where the driver puts so many bytes. None: one after the other, never twice, at multiples of 2 MiB. Between blocks of equal
  /// size the lower address is taken, so addresses can matter.
  std::function<std::uint64_t(std::uint64_t bytes)> address;
};

/// What a program does. Streams and pools are names; pool 0 is the common one, others are those of CUDA graphs and MemPools.
struct AllocatorEvent {
  enum class Kind : std::uint8_t {
    Allocate,
    Free,         ///< to be used again at once
    RequestFree,  ///< other streams still use it: it stays active
    FinishFree,   ///< they do no more
    EmptyCache,   ///< torch.cuda.empty_cache(), of pool 0; of another pool if named
    ReleasePool   ///< the last graph of a pool is gone: its free segments can go too
  };
  Kind kind = Kind::Allocate;
  std::uint32_t id = 0;      ///< of the allocation: each is allocated once, small numbers
  std::uint32_t pool = 0;    ///< Allocate, EmptyCache, ReleasePool
  std::uint64_t bytes = 0;   ///< Allocate; 0: nothing is allocated
  std::uint64_t stream = 0;  ///< Allocate
};

struct Gauge {
  std::uint64_t now = 0, peak = 0;
  void add(std::uint64_t amount) {
    now += amount;
    if (now > peak) peak = now;
  }
  bool operator==(const Gauge&) const = default;
};

/// The counters of torch.cuda.memory_stats() under `all`, bytes or counts.
struct AllocatorStatistics {
  Gauge requested;                                       ///< what was asked for, of active blocks
  Gauge allocated;                                       ///< blocks handed out
  Gauge active;                                          ///< these and those that wait for another stream
  Gauge reserved;                                        ///< taken from the card
  Gauge segments;                                        ///< cudaMalloc'd pieces held (mapped pages are none)
  std::uint64_t deviceAllocations = 0, deviceFrees = 0;  ///< calls: cudaMalloc and mappings, cudaFree and unmappings
  std::uint64_t retries = 0;                             ///< after all free segments were given back
  std::uint64_t outOfMemory = 0;
  bool operator==(const AllocatorStatistics&) const = default;
};

/// What PyTorch's memory history would hold.
struct AllocatorAction {
  enum class Kind : std::uint8_t {
    Allocate,
    RequestFree,
    FinishFree,
    SegmentAllocate,
    SegmentFree,
    SegmentMap,
    SegmentUnmap,
    OutOfMemory
  };
  Kind kind = Kind::Allocate;
  std::uint32_t pool = 0;
  std::uint64_t address = 0;  ///< OutOfMemory: free bytes of the card
  std::uint64_t bytes = 0;    ///< blocks: as asked for; OutOfMemory: rounded
  std::uint64_t stream = 0;
  bool operator==(const AllocatorAction&) const = default;
};

/// The block size of a request, and the size of the segment that is taken for a block where none is free; bytes.
std::uint64_t roundedSize(const AllocatorOptions& options, std::uint64_t bytes);
std::uint64_t segmentSize(const AllocatorOptions& options, std::uint64_t rounded);

class CachingAllocator {
public:
  CachingAllocator(const AllocatorOptions& options, CardMemory card);

  /// False: out of memory; the allocator is as PyTorch leaves it then, and the id stays free. Events of ids that are not
  /// allocated are passed over.
  bool apply(const AllocatorEvent& event);
  const AllocatorStatistics& statistics() const { return counts; }
  /// One that goes its own way from here on; it logs nowhere.
  CachingAllocator fork();
  /// Where an allocation lies; 0: it is not allocated.
  std::uint64_t addressOf(std::uint32_t id) const;
  /// Everything that happens from now on is appended here; nullptr: nowhere.
  void logTo(std::vector<AllocatorAction>* to) { log = to; }

private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// A part of a segment. Blocks of one segment are linked in order of address.
  struct Block {
    std::uint64_t address = 0, size = 0, requested = 0, stream = 0;
    std::uint64_t born = 0;  ///< when it became free, in searches of its pool
    std::uint32_t before = kNone, after = kNone, pool = 0, range = kNone, id = kNone;
    std::uint32_t segment = 0;  ///< number of its segment, in the order in which they came; 0 where that decides nothing
    bool taken = false;         ///< allocated, or waiting for another stream
    bool mapped = true;
    bool whole() const { return before == kNone && after == kNone; }
  };
  struct Free {
    std::uint64_t size, address;
    std::uint32_t block, segment;
  };
  /// The free blocks of one stream, by size, segment and address; addresses without memory behind them, by address.
  struct StreamLists {
    std::uint64_t stream = 0;
    std::vector<Free> free, unmapped;
  };
  /// An element of a list that is gone. It stands there until something takes its place or the list is read: most often one that
  /// goes is followed by one that comes, and only what lies between moves.
  struct Hole {
    std::vector<Free>* list = nullptr;
    std::size_t at = 0;
  };
  struct Pool {
    bool small = false, released = false;
    std::uint64_t searches = 0;
    std::vector<StreamLists> streams;  ///< by stream
  };
  /// Reserved addresses of an expandable segment, mapped page by page.
  struct Range {
    std::uint64_t address = 0, size = 0, page = 0;
  };
  struct Request {
    std::uint64_t size = 0, segment = 0, stream = 0;
    std::uint32_t pool = 0;
  };

  // CachingAllocator.cpp: blocks
  bool allocate(const AllocatorEvent& event);
  void handOut(std::uint32_t block, const Request& request, const AllocatorEvent& event);
  std::uint32_t split(std::uint32_t block, std::uint64_t size);
  bool splits(const Block& block, std::uint64_t size) const;
  std::uint32_t findFree(const Request& request);
  std::size_t leastGrowable(const std::vector<Free>& free, std::size_t at) const;
  void requestFree(std::uint32_t block);
  void finishFree(std::uint32_t block);
  void merge(std::uint32_t block, std::uint32_t neighbour);
  std::uint32_t newBlock(const Block& block);
  Pool& poolAt(std::uint32_t index);
  /// Most programs have one stream.
  StreamLists& listsOf(std::uint32_t pool, std::uint64_t stream) {
    std::vector<StreamLists>& streams = pools[pool].streams;
    return streams.size() == 1 && streams.front().stream == stream ? streams.front() : listsOfOneOfMany(pool, stream);
  }
  StreamLists& listsOfOneOfMany(std::uint32_t pool, std::uint64_t stream);
  static std::vector<Free>::iterator placeOf(const Block& block, std::vector<Free>& free);
  void closeHole();
  void insertFree(std::uint32_t block);
  void eraseFree(std::uint32_t block);
  void insertUnmapped(std::uint32_t block);
  void eraseUnmapped(std::uint32_t block);
  void note(AllocatorAction::Kind kind, std::uint32_t pool, std::uint64_t address, std::uint64_t bytes, std::uint64_t stream) {
    if (log != nullptr) log->push_back({kind, pool, address, bytes, stream});
  }

  // CardSegments.cpp: segments
  std::uint32_t takeSegment(const Request& request, bool retry);
  bool takePages(std::uint64_t bytes);
  void giveSegment(std::uint32_t block);
  void collect();
  bool giveLarge(const Request& request);
  void giveUnused(std::uint32_t only);
  void giveUnused(Pool& pool);
  void finishPending(std::uint32_t only);
  std::uint32_t grow(const Request& request);
  std::uint32_t growable(const Request& request);
  bool map(std::uint32_t block, std::uint64_t size);
  void unmap(std::uint32_t block);

  AllocatorOptions options;
  CardMemory card;
  std::uint64_t allowed = 0;  ///< kUnlimited: no limit
  std::uint64_t pagesTaken = 0, nextAddress = 0;
  std::uint32_t segmentsMade = 0;
  AllocatorStatistics counts;
  std::vector<Block> blocks;
  std::vector<std::uint32_t> spare;  ///< blocks that are no more
  std::vector<Range> ranges;
  std::vector<std::uint32_t> blockOf;  ///< by id
  std::vector<std::uint32_t> pending;  ///< blocks that wait for another stream, in order
  std::vector<Pool> pools;             ///< small and large, for each pool of events
  Hole hole;
  std::vector<AllocatorAction>* log = nullptr;
};

/// A whole history.
struct Replay {
  AllocatorStatistics statistics;
  std::size_t reservedPeakAt = 0, allocatedPeakAt = 0;  ///< events that first reached the peaks
  std::uint64_t allocatedAtPeak = 0;                    ///< bytes handed out when reserved first reached its peak
  std::vector<std::size_t> outOfMemory;                 ///< events that failed
  /// An allocation that had no room and became a smaller one.
  struct Smaller {
    std::size_t event = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<Smaller> smaller;  ///< by event
};
enum class ReplayUntil : std::uint8_t { End, OutOfMemory };  ///< the first event that fails, or there is none
/// Bytes that a program asks for, one after the other, where an allocation (a place in the history) has no room. Where an
/// allocation of the same list had to be smaller before, it begins with what was had then. So PyTorch goes through the engines
/// of a convolution (try_configs and benchmark_cache of its cuDNN v8 convolutions).
using SmallerSizes = std::function<std::span<const std::uint64_t>(std::size_t event)>;
Replay replay(std::span<const AllocatorEvent> events, const AllocatorOptions& options, const CardMemory& card,
              ReplayUntil until = ReplayUntil::End, const SmallerSizes& smallerSizes = {});

}  // namespace tbem::estimate
