#include "compiler/pytorch/allocator/AllocatorTrace.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tbem::estimate {

namespace {

using Kind = AllocatorAction::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 8> kNames = {{{"alloc", Kind::Allocate},
                                                                      {"free_requested", Kind::RequestFree},
                                                                      {"free_completed", Kind::FinishFree},
                                                                      {"segment_alloc", Kind::SegmentAllocate},
                                                                      {"segment_free", Kind::SegmentFree},
                                                                      {"segment_map", Kind::SegmentMap},
                                                                      {"segment_unmap", Kind::SegmentUnmap},
                                                                      {"oom", Kind::OutOfMemory}}};

bool takes(Kind kind) { return kind == Kind::SegmentAllocate || kind == Kind::SegmentMap; }
bool gives(Kind kind) { return kind == Kind::SegmentFree || kind == Kind::SegmentUnmap; }

/// Reads a recorded trace as a history of requests. One class: an event means what it does by those around it.
class HistoryMaker {
public:
  HistoryMaker(const AllocatorTrace& trace, const AllocatorOptions& options, std::optional<std::uint64_t> capacity,
               std::uint64_t total)
      : trace(trace), entries(trace.entries), options(options), total(total), shadow(options, {}) {
    made.capacity = capacity ? capacity : capacityOfFailure();
    CardMemory card;
    if (made.capacity) card.capacity = *made.capacity;
    card.total = total;
    card.address = [this](std::uint64_t bytes) { return addressFor(bytes); };
    shadow = CachingAllocator(options, card);
  }
  HistoryMaker(const HistoryMaker&) = delete;
  HistoryMaker& operator=(const HistoryMaker&) = delete;

  AllocatorHistory run() {
    for (std::size_t e = 0; e < entries.size();) e = step(e);
    for (const AllocatorTrace::Left& left : trace.left) {
      if (ids.count(left.address) == 0) wasThere(left.address, left.bytes, left.stream, left.pool);
    }
    putInFront();
    return std::move(made);
  }

private:
  const AllocatorTrace& trace;
  const std::vector<AllocatorAction>& entries;
  const AllocatorOptions& options;
  std::uint64_t total;
  AllocatorHistory made;
  std::map<std::uint64_t, AllocatorEvent> there;           ///< by address: blocks from before the recording
  std::unordered_map<std::uint64_t, std::uint32_t> ids;    ///< by address: of what is allocated
  std::unordered_map<std::uint64_t, std::uint32_t> waits;  ///< by address: of what other streams still use
  std::unordered_set<std::uint32_t> released;              ///< pools
  std::uint32_t next = 0;
  std::uint64_t reserved = 0;
  CachingAllocator shadow;               ///< what the allocator is like at the entry in hand
  std::vector<std::uint64_t> addresses;  ///< of segments that came with the request in hand
  std::uint64_t fresh = std::uint64_t{1} << 58U;

  std::uint64_t addressFor(std::uint64_t bytes) {
    if (!addresses.empty()) {
      const std::uint64_t address = addresses.front();
      addresses.erase(addresses.begin());
      return address;
    }
    fresh += bytes;
    return fresh - bytes;
  }

  /// What was reserved and what was free at the first failure.
  std::optional<std::uint64_t> capacityOfFailure() const {
    std::uint64_t held = 0;
    for (const AllocatorAction& entry : entries) {
      if (takes(entry.kind)) held += entry.bytes;
      if (gives(entry.kind)) held -= std::min(held, entry.bytes);
      if (entry.kind == Kind::OutOfMemory && entry.address != 0) return held + entry.address;
    }
    return std::nullopt;
  }

  void add(AllocatorEvent::Kind kind, std::size_t e, std::uint32_t id, std::uint32_t pool = 0, std::uint64_t bytes = 0,
           std::uint64_t stream = 0) {
    made.events.push_back({kind, id, pool, bytes, stream});
    made.entry.push_back(e);
    shadow.apply(made.events.back());
    if (kind == AllocatorEvent::Kind::Allocate) addresses.clear();
  }

  std::uint32_t wasThere(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream, std::uint32_t pool) {
    there.emplace(address, AllocatorEvent{AllocatorEvent::Kind::Allocate, next, pool, bytes, stream});
    return next++;
  }

  /// The entry after those that are dealt with together.
  std::size_t step(std::size_t e) {
    const AllocatorAction& entry = entries[e];
    switch (entry.kind) {
      case Kind::Allocate:
        add(AllocatorEvent::Kind::Allocate, e, next, entry.pool, entry.bytes, entry.stream);
        ids[entry.address] = next++;
        return e + 1;
      case Kind::RequestFree:
        return requestFree(e);
      case Kind::FinishFree:
      case Kind::SegmentFree:
      case Kind::SegmentUnmap:
        return release(e);
      case Kind::SegmentAllocate:
      case Kind::SegmentMap:
        reserved += entry.bytes;
        addresses.push_back(entry.address);
        return e + 1;
      case Kind::OutOfMemory:  // what was asked for in vain; where it succeeds now, nobody knows what would have followed
        add(AllocatorEvent::Kind::Allocate, e, next, entry.pool, entry.bytes, entry.stream);
        add(AllocatorEvent::Kind::Free, e, next++);
        return e + 1;
    }
    return e + 1;
  }

  std::size_t requestFree(std::size_t e) {
    const AllocatorAction& entry = entries[e];
    const auto known = ids.find(entry.address);
    const std::uint32_t id = known != ids.end() ? known->second : wasThere(entry.address, entry.bytes, entry.stream, entry.pool);
    ids.erase(entry.address);
    if (e + 1 < entries.size() && entries[e + 1].kind == Kind::FinishFree && entries[e + 1].address == entry.address) {
      add(AllocatorEvent::Kind::Free, e, id);
      return e + 2;
    }
    add(AllocatorEvent::Kind::RequestFree, e, id);
    waits[entry.address] = id;
    return e + 1;
  }

  void finishFree(std::size_t e) {
    const auto known = waits.find(entries[e].address);
    if (known == waits.end()) return;  // requested before the recording: it is a hole in what was there
    add(AllocatorEvent::Kind::FinishFree, e, known->second);
    waits.erase(known);
  }

  /// A run of finished frees and of segments given back: by a program that emptied the cache, or by the allocator in need.
  std::size_t release(std::size_t first) {
    std::size_t segments = first, end = first;
    while (segments < entries.size() && entries[segments].kind == Kind::FinishFree) ++segments;
    end = segments;
    std::vector<std::uint32_t> pools;
    std::uint64_t given = 0;
    while (end < entries.size() && (gives(entries[end].kind) || (end > segments && entries[end].kind == Kind::FinishFree))) {
      if (gives(entries[end].kind)) {
        given += entries[end].bytes;
        if (std::find(pools.begin(), pools.end(), entries[end].pool) == pools.end()) pools.push_back(entries[end].pool);
      }
      ++end;
    }
    if (inNeed(end) && givesItself(segments, end)) {
      // The allocator waits for other streams, and gives back, within the request that comes: only where it does not do so now
      // are the frees left to do after it.
      reserved -= std::min(reserved, given);
      std::size_t request = end;
      while (request < entries.size() && takes(entries[request].kind)) request = step(request);
      if (request < entries.size() && (entries[request].kind == Kind::Allocate || entries[request].kind == Kind::OutOfMemory))
        request = step(request);
      for (std::size_t e = first; e < end; ++e) {
        if (entries[e].kind == Kind::FinishFree) finishFree(e);
      }
      return request;
    }
    for (std::size_t e = first; e < end; ++e) {
      if (entries[e].kind == Kind::FinishFree) finishFree(e);
    }
    if (end > segments) emptyCache(segments, pools);
    reserved -= std::min(reserved, given);
    return end;
  }

  /// Whether the allocator itself had to give back before what comes at `end`.
  bool inNeed(std::size_t end) const {
    if (end >= entries.size()) return false;
    const AllocatorAction& coming = entries[end];
    if (coming.kind == Kind::OutOfMemory) return true;
    if (!takes(coming.kind)) return false;
    const bool limited = options.memoryFraction < 1;
    const auto allowed = static_cast<std::uint64_t>(options.memoryFraction * static_cast<double>(total));
    if (made.capacity && reserved + coming.bytes > *made.capacity) return true;
    if (limited && reserved + coming.bytes > allowed) return true;
    return limited && options.collectionThreshold > 0 &&
           reserved > static_cast<std::uint64_t>(options.collectionThreshold * static_cast<double>(allowed));
  }

  /// Whether the request that comes at `end` makes the allocator give back just what was given back from `first` on.
  bool givesItself(std::size_t first, std::size_t end) {
    std::size_t request = end;
    while (request < entries.size() && takes(entries[request].kind)) ++request;
    if (request == entries.size()) return false;
    const AllocatorAction& entry = entries[request];
    if (entry.kind != Kind::Allocate && entry.kind != Kind::OutOfMemory) return false;
    CachingAllocator trial = shadow.fork();
    std::vector<AllocatorAction> done;
    trial.logTo(&done);
    const std::uint64_t unused = fresh;
    trial.apply({AllocatorEvent::Kind::Allocate, next, entry.pool, entry.bytes, entry.stream});
    fresh = unused;
    if (first == end) return true;  // it only waited for other streams
    std::size_t e = first;
    for (const AllocatorAction& action : done) {
      if (!gives(action.kind)) continue;
      while (e < end && !gives(entries[e].kind)) ++e;
      if (e == end || action.address != entries[e].address || action.bytes != entries[e].bytes) return false;
      ++e;
    }
    return std::none_of(entries.begin() + static_cast<std::ptrdiff_t>(e), entries.begin() + static_cast<std::ptrdiff_t>(end),
                        [](const AllocatorAction& entry) { return gives(entry.kind); });
  }

  void emptyCache(std::size_t e, const std::vector<std::uint32_t>& pools) {
    ++made.emptied;
    const bool common = std::find(pools.begin(), pools.end(), 0U) != pools.end();
    for (const std::uint32_t pool : pools) {
      if (pool == 0) continue;
      if (released.insert(pool).second) add(AllocatorEvent::Kind::ReleasePool, e, 0, pool);
      if (!common) add(AllocatorEvent::Kind::EmptyCache, e, 0, pool);
    }
    if (common) add(AllocatorEvent::Kind::EmptyCache, e, 0);
  }

  /// Blocks from before the recording are allocated first, in order of address.
  void putInFront() {
    if (there.empty()) return;
    std::vector<AllocatorEvent> events;
    for (const auto& [address, event] : there) {
      events.push_back(event);
      made.beforeBytes += event.bytes;
    }
    made.before = events.size();
    made.events.insert(made.events.begin(), events.begin(), events.end());
    made.entry.insert(made.entry.begin(), events.size(), 0);
  }
};

/// Whether all blocks lie in segments that the recording has seen come.
bool beginsEmpty(const std::vector<AllocatorAction>& entries) {
  std::map<std::uint64_t, std::uint64_t> ends;  // by address
  for (const AllocatorAction& entry : entries) {
    if (takes(entry.kind)) {
      std::uint64_t& end = ends[entry.address];
      end = std::max(end, entry.address + entry.bytes);
    } else if (entry.kind == Kind::Allocate || entry.kind == Kind::SegmentFree) {
      const auto after = ends.upper_bound(entry.address);
      if (after == ends.begin() || std::prev(after)->second <= entry.address) return false;
    }
  }
  return true;
}

/// The recording as the replay has to make it: the same but for the order of frees that were waited for at once, which PyTorch
/// leaves to chance.
class Comparison {
public:
  Comparison(const std::vector<AllocatorAction>& recorded, const std::vector<AllocatorAction>& replayed)
      : recorded(recorded), replayed(replayed) {}

  std::optional<TraceCheck::Difference> run() {
    while (at < recorded.size() || at < replayed.size()) {
      if (at < recorded.size() && at < replayed.size() && same()) {
        ++at;
        continue;
      }
      TraceCheck::Difference found;
      found.entry = at;
      if (at < recorded.size()) found.recorded = recorded[at];
      if (at < replayed.size()) found.replayed = replayed[at];
      return found;
    }
    return std::nullopt;
  }
  std::size_t equal() const { return at; }

private:
  std::vector<AllocatorAction> recorded;
  const std::vector<AllocatorAction>& replayed;
  std::size_t at = 0;

  bool same() {
    AllocatorAction& one = recorded[at];
    const AllocatorAction& other = replayed[at];
    if (one.kind == Kind::OutOfMemory && other.kind == one.kind) return one.bytes == other.bytes && one.stream == other.stream;
    if (one.kind == Kind::FinishFree && other.kind == one.kind && one.address != other.address) {
      for (std::size_t i = at + 1; i < recorded.size() && recorded[i].kind == Kind::FinishFree; ++i) {
        if (recorded[i].address == other.address) {
          std::swap(one, recorded[i]);
          break;
        }
      }
    }
    return one == other;
  }
};

}  // namespace

std::optional<Kind> actionOf(std::string_view name) {
  for (const auto& [text, kind] : kNames) {
    if (text == name) return kind;
  }
  return std::nullopt;
}

std::string_view nameOf(Kind kind) {
  for (const auto& [text, one] : kNames) {
    if (one == kind) return text;
  }
  return {};
}

AllocatorHistory historyOf(const AllocatorTrace& trace, const AllocatorOptions& options, std::optional<std::uint64_t> capacity,
                           std::uint64_t total) {
  return HistoryMaker(trace, options, capacity, total).run();
}

TraceCheck checkTrace(const AllocatorTrace& trace, const AllocatorHistory& history, const AllocatorOptions& options,
                      CardMemory card) {
  TraceCheck check;
  const bool segments =
      std::any_of(trace.entries.begin(), trace.entries.end(), [](const auto& entry) { return takes(entry.kind); });
  if (history.before > 0 || (segments && !beginsEmpty(trace.entries))) {
    check.reason = "the recording does not begin with an empty allocator";
    return check;
  }
  if (!segments && !trace.entries.empty()) {
    check.reason = "the recording has no segments";
    return check;
  }
  std::vector<AllocatorAction> replayed;
  std::uint64_t fresh = 0;  // past all that was recorded
  for (const AllocatorAction& entry : trace.entries) {
    if (takes(entry.kind)) fresh = std::max(fresh, entry.address + entry.bytes);
  }
  fresh += std::uint64_t{1} << 46U;
  card.address = [&](std::uint64_t bytes) {
    if (replayed.size() < trace.entries.size() && takes(trace.entries[replayed.size()].kind))
      return trace.entries[replayed.size()].address;
    fresh += bytes;
    return fresh - bytes;
  };
  CachingAllocator allocator(options, card);
  allocator.logTo(&replayed);
  for (const AllocatorEvent& event : history.events) allocator.apply(event);
  Comparison comparison(trace.entries, replayed);
  check.difference = comparison.run();
  check.equal = comparison.equal();
  check.verdict = check.difference ? TraceCheck::Verdict::Differs : TraceCheck::Verdict::Equal;
  return check;
}

}  // namespace tbem::estimate
