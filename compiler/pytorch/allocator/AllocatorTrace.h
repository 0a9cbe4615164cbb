// A recorded history of PyTorch's caching allocator: read, turned into what the program asked for, and held against the replay.
#pragma once

#include "compiler/pytorch/allocator/CachingAllocator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::estimate {

/// What PyTorch's memory history holds of one card (torch.cuda.memory._snapshot()["device_traces"][card]).
struct AllocatorTrace {
  /// A block that is in use at the end of the recording.
  struct Left {
    std::uint64_t address = 0, bytes = 0, stream = 0;  ///< bytes: as asked for
    std::uint32_t pool = 0;
  };
  std::string name;                     ///< of the trace among several
  std::optional<std::string> settings;  ///< PYTORCH_CUDA_ALLOC_CONF as it was
  std::string version;                  ///< of PyTorch; "": not told
  std::vector<AllocatorAction> entries;
  std::vector<std::size_t> recordedAt;  ///< by entry: its number in the recording, which has marks between them
  std::vector<std::uint32_t> frames;    ///< by entry: where its source places are in the file; empty: nowhere
  std::vector<std::pair<std::string, std::size_t>> phases;  ///< names, and entries of the recording up to their ends
  std::vector<Left> left;
  std::size_t unknown = 0;  ///< actions of other names
};

/// What the program asked for.
struct AllocatorHistory {
  std::vector<AllocatorEvent> events;
  std::vector<std::size_t> entry;  ///< by event: the entry that tells of it
  std::size_t before = 0;          ///< events in front for blocks that were there when the recording began
  std::uint64_t beforeBytes = 0;
  std::size_t emptied = 0;  ///< times that the cache was emptied
  /// What the card could hand out: what was reserved and what was free when it ran out of memory.
  std::optional<std::uint64_t> capacity;
};

/// A run of freed segments is an emptied cache, unless the allocator would free them itself: where the next segment does not fit
/// in what the card can hand out, or passes what `options` allow.
AllocatorHistory historyOf(const AllocatorTrace& trace, const AllocatorOptions& options, std::optional<std::uint64_t> capacity,
                           std::uint64_t total);

/// The replay under the recorded options, held against the recording entry by entry: actions, sizes, streams, addresses.
struct TraceCheck {
  enum class Verdict : std::uint8_t {
    Equal,
    Differs,
    Unknown  ///< the recording does not begin empty, or has no segments: there is nothing to hold it against
  };
  struct Difference {
    std::size_t entry = 0;  ///< of the trace; its size: the replay does more
    std::optional<AllocatorAction> recorded, replayed;
  };
  Verdict verdict = Verdict::Unknown;
  std::string reason;  ///< of Unknown
  std::optional<Difference> difference;
  std::size_t equal = 0;  ///< entries
};
TraceCheck checkTrace(const AllocatorTrace& trace, const AllocatorHistory& history, const AllocatorOptions& options,
                      CardMemory card);

/// The names of PyTorch's history: "alloc", "segment_alloc", ..; nothing for marks and names that are not known.
std::optional<AllocatorAction::Kind> actionOf(std::string_view name);
std::string_view nameOf(AllocatorAction::Kind kind);

}  // namespace tbem::estimate
