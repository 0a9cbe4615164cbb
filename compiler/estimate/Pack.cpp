#include "compiler/estimate/Pack.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <utility>

namespace tbem::estimate {

namespace {

constexpr std::uint64_t kOpen = std::numeric_limits<std::uint64_t>::max();

/// What is known of a buffer before the search. A section is a moment at which no other moment's buffers include all of its own.
struct Buffer {
  std::uint32_t request = 0;
  std::uint32_t from = 0, to = 0;  ///< sections [from, to)
  std::uint64_t size = 0;
  std::uint64_t width = 0;            ///< steps
  std::vector<std::uint32_t> rivals;  ///< buffers that share a section
};

/// Orders in which buffers of equal lowest places are tried, each from the greatest: width, area (width times size), and the
/// total of the fullest section.
enum class Key : std::uint8_t { Width, Area, Total };
constexpr std::array<std::array<Key, 3>, 3> kPriorities = {
    {{Key::Width, Key::Area, Key::Total}, {Key::Total, Key::Area, Key::Width}, {Key::Total, Key::Width, Key::Area}}};

/// Buffers and sections that nothing connects with the others.
struct Part {
  std::vector<std::uint32_t> buffers;
  std::uint32_t from = 0, to = 0;
};

class Packer {
public:
  Packer(std::span<const Request> requests, std::uint64_t capacity, std::uint64_t nodes, std::uint64_t alignment)
      : count(requests.size()), capacity(capacity), limit(nodes) {
    for (std::uint32_t i = 0; i < requests.size(); ++i) {
      if (requests[i].bytes == 0) continue;
      Buffer one;
      one.request = i;
      one.size = (requests[i].bytes + alignment - 1) / alignment * alignment;
      one.width = requests[i].last - requests[i].first + std::uint64_t{1};
      buffers.push_back(std::move(one));
    }
    findSections(requests);
    findRivals();
    lowest.assign(buffers.size(), 0);
    place.assign(buffers.size(), kOpen);
    best.assign(buffers.size(), 0);
    marked.assign(members.size(), 0);
    floors.assign(members.size(), 0);
    totals.assign(members.size(), 0);
    crossing.assign(members.size(), 0);
    for (const Buffer& buffer : buffers) {
      for (std::uint32_t s = buffer.from; s < buffer.to; ++s) totals[s] += buffer.size;
      for (std::uint32_t s = buffer.from; s + 1 < buffer.to; ++s) ++crossing[s];
    }
  }

  Packing run() {
    Packing made;
    if (std::any_of(totals.begin(), totals.end(), [&](std::uint64_t total) { return total > capacity; })) {
      made.fit = Fit::None;
      return made;
    }
    const std::vector<Part> parts = initialParts();
    // Short searches in every order first, then longer ones.
    for (std::uint64_t share = 2 * buffers.size() + 1; made.fit == Fit::Unknown && spent < limit; share *= 2) {
      for (const auto& priority : kPriorities) {
        made.fit = searchAll(parts, priority, std::min(share, limit - spent));
        if (made.fit != Fit::Unknown || spent >= limit) break;
      }
    }
    made.nodes = spent;
    if (made.fit != Fit::Found) return made;
    made.offsets.assign(count, 0);
    for (std::size_t b = 0; b < buffers.size(); ++b) made.offsets[buffers[b].request] = best[b];
    return made;
  }

private:
  struct Candidate {
    std::uint64_t offset;
    std::uint32_t rank;
  };
  /// A number as it was before a placement changed it.
  struct Change {
    std::uint32_t index;
    std::uint64_t before;
  };
  /// How long the two trails were before a placement.
  struct Mark {
    std::size_t lowest, floors;
    bool hasRivals = false;  ///< open ones
  };

  std::size_t count;
  std::uint64_t capacity, limit;
  std::vector<Buffer> buffers;
  std::vector<std::vector<std::uint32_t>> members;  ///< by section: buffers
  // The state of the search.
  std::vector<std::uint64_t> lowest;            ///< by buffer: nothing lower is free of what was placed
  std::vector<std::uint64_t> place;             ///< by buffer: kOpen until it is placed
  std::vector<std::uint64_t> best;              ///< by buffer: where it was placed last
  std::vector<std::uint64_t> floors;            ///< by section: nothing open will lie lower
  std::vector<std::uint64_t> totals;            ///< by section: sizes of open buffers
  std::vector<std::uint32_t> crossing;          ///< by section: open buffers that are in the next one too
  std::vector<std::uint32_t> marked;            ///< by section: the last round in which it was touched
  std::vector<Change> lowestTrail, floorTrail;  ///< all that placements have changed, to be taken back
  std::vector<std::uint32_t> touched;
  std::uint32_t round = 0;
  std::uint64_t spent = 0, until = 0;

  /// A section ends where a buffer ends after another has begun.
  void findSections(std::span<const Request> requests) {
    struct Event {
      std::uint64_t step;
      bool begins;
      std::uint32_t buffer;
    };
    std::vector<Event> events;
    for (std::uint32_t b = 0; b < buffers.size(); ++b) {
      const Request& request = requests[buffers[b].request];
      events.push_back({request.first, true, b});
      events.push_back({request.last + std::uint64_t{1}, false, b});
    }
    std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
      return a.step != b.step ? a.step < b.step : a.begins != b.begins ? !a.begins : a.buffer < b.buffer;
    });
    std::vector<std::uint32_t> live;
    bool hasGrown = false;
    for (const Event& event : events) {
      if (event.begins) {
        live.push_back(event.buffer);
        buffers[event.buffer].from = static_cast<std::uint32_t>(members.size());
        hasGrown = true;
        continue;
      }
      if (hasGrown) {
        members.push_back(live);
        hasGrown = false;
      }
      buffers[event.buffer].to = static_cast<std::uint32_t>(members.size());
      live.erase(std::find(live.begin(), live.end(), event.buffer));
    }
  }

  void findRivals() {
    for (std::uint32_t a = 0; a < buffers.size(); ++a) {
      for (std::uint32_t b = 0; b < buffers.size(); ++b) {
        if (a != b && buffers[a].from < buffers[b].to && buffers[b].from < buffers[a].to) buffers[a].rivals.push_back(b);
      }
    }
  }

  std::vector<Part> initialParts() const {
    std::vector<std::uint32_t> all(buffers.size());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<std::uint32_t> cuts{0};
    for (std::uint32_t s = 0; s + 1 < members.size(); ++s) {
      if (crossing[s] == 0) cuts.push_back(s + 1);
    }
    cuts.push_back(static_cast<std::uint32_t>(members.size()));
    return split(all, cuts);
  }

  /// The open ones of `among` between each two cuts; parts without any are left out.
  std::vector<Part> split(const std::vector<std::uint32_t>& among, const std::vector<std::uint32_t>& cuts) const {
    std::vector<Part> parts;
    for (std::size_t c = 1; c < cuts.size(); ++c) {
      Part part;
      part.from = cuts[c - 1];
      part.to = cuts[c];
      for (const std::uint32_t b : among) {
        if (place[b] == kOpen && buffers[b].from < part.to && part.from < buffers[b].to) part.buffers.push_back(b);
      }
      if (!part.buffers.empty()) parts.push_back(std::move(part));
    }
    return parts;
  }

  Fit searchAll(const std::vector<Part>& parts, const std::array<Key, 3>& priority, std::uint64_t share) {
    until = spent + share;
    for (const Part& part : parts) {
      if (const Fit fit = searchPart(part, priority); fit != Fit::Found) return fit;
    }
    return Fit::Found;
  }

  Fit searchPart(const Part& part, const std::array<Key, 3>& priority) {
    std::vector<std::pair<std::array<std::uint64_t, 3>, std::uint32_t>> keyed;
    for (const std::uint32_t b : part.buffers) {
      const Buffer& buffer = buffers[b];
      std::array<std::uint64_t, 3> keys{};
      for (std::size_t k = 0; k < keys.size(); ++k) {
        switch (priority[k]) {
          case Key::Width:
            keys[k] = buffer.width;
            break;
          case Key::Area:
            keys[k] = buffer.width * buffer.size;
            break;
          case Key::Total:
            keys[k] = *std::max_element(totals.begin() + buffer.from, totals.begin() + buffer.to);
            break;
        }
      }
      keyed.emplace_back(keys, b);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    Part ranked = part;
    std::vector<Candidate> candidates;
    for (std::uint32_t rank = 0; rank < keyed.size(); ++rank) {
      ranked.buffers[rank] = keyed[rank].second;
      candidates.push_back({0, rank});
    }
    return search(ranked, priority, candidates, {0, 0});
  }

  /// The open candidates by lowest place, then by rank.
  std::vector<Candidate> ordered(const Part& part, const std::vector<Candidate>& before) const {
    std::vector<Candidate> candidates;
    candidates.reserve(before.size());
    for (const Candidate& one : before) {
      const std::uint32_t b = part.buffers[one.rank];
      if (place[b] == kOpen) candidates.push_back({lowest[b], one.rank});
    }
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.offset != b.offset ? a.offset < b.offset : a.rank < b.rank;
    });
    return candidates;
  }

  Fit search(const Part& part, const std::array<Key, 3>& priority, const std::vector<Candidate>& before, Candidate last) {
    const std::vector<Candidate> candidates = ordered(part, before);
    if (candidates.empty()) return Fit::Found;
    // What began above the top of another would leave a gap in which that fits.
    std::uint64_t ceiling = kOpen;
    for (const Candidate& one : candidates) ceiling = std::min(ceiling, one.offset + buffers[part.buffers[one.rank]].size);
    for (const Candidate& one : candidates) {
      if (one.offset >= ceiling) break;
      if (one.offset < last.offset || (one.offset == last.offset && one.rank < last.rank)) continue;
      if (spent >= until) return Fit::Unknown;
      ++spent;
      const std::uint32_t b = part.buffers[one.rank];
      if (!leavesRoom(buffers[b], one.offset)) continue;
      const Mark mark = put(b, one.offset);
      Fit fit = Fit::None;
      if (canHold(part, one.offset)) fit = descend(part, priority, candidates, one, b);
      takeBack(b, mark);
      if (fit != Fit::None) return fit;
      if (!mark.hasRivals) break;  // it is in nobody's way: another in its place would not help
    }
    return Fit::None;
  }

  /// Goes on below a placement; where it has cut the part in pieces, with each on its own.
  Fit descend(const Part& part, const std::array<Key, 3>& priority, const std::vector<Candidate>& candidates, Candidate placed,
              std::uint32_t b) {
    std::vector<std::uint32_t> cuts{part.from};
    for (std::uint32_t s = buffers[b].from; s + 1 < buffers[b].to; ++s) {
      if (--crossing[s] == 0) cuts.push_back(s + 1);
    }
    Fit fit = Fit::Found;
    if (cuts.size() == 1) {
      fit = search(part, priority, candidates, placed);
    } else {
      cuts.push_back(part.to);
      for (const Part& piece : split(part.buffers, cuts)) {
        fit = searchPart(piece, priority);
        if (fit != Fit::Found) break;
      }
    }
    for (std::uint32_t s = buffers[b].from; s + 1 < buffers[b].to; ++s) ++crossing[s];
    return fit;
  }

  Mark put(std::uint32_t b, std::uint64_t offset) {
    Mark mark{lowestTrail.size(), floorTrail.size()};
    const Buffer& buffer = buffers[b];
    const std::uint64_t top = offset + buffer.size;
    place[b] = best[b] = offset;
    for (std::uint32_t s = buffer.from; s < buffer.to; ++s) {
      raiseFloor(s, top);
      totals[s] -= buffer.size;
    }
    ++round;
    touched.clear();
    for (const std::uint32_t rival : buffer.rivals) {
      if (place[rival] != kOpen) continue;
      mark.hasRivals = true;
      if (lowest[rival] >= top) continue;
      lowestTrail.push_back({rival, lowest[rival]});
      lowest[rival] = top;
      for (std::uint32_t s = buffers[rival].from; s < buffers[rival].to; ++s) {
        if (marked[s] != round) touched.push_back(s);
        marked[s] = round;
      }
    }
    for (const std::uint32_t s : touched) {
      std::uint64_t least = kOpen;
      for (const std::uint32_t other : members[s]) {
        if (place[other] == kOpen) least = std::min(least, lowest[other]);
      }
      if (least != kOpen && floors[s] < least) raiseFloor(s, least);
    }
    return mark;
  }

  void raiseFloor(std::uint32_t section, std::uint64_t floor) {
    floorTrail.push_back({section, floors[section]});
    floors[section] = floor;
  }

  void takeBack(std::uint32_t b, const Mark& mark) {
    for (; lowestTrail.size() > mark.lowest; lowestTrail.pop_back()) lowest[lowestTrail.back().index] = lowestTrail.back().before;
    for (; floorTrail.size() > mark.floors; floorTrail.pop_back()) floors[floorTrail.back().index] = floorTrail.back().before;
    for (std::uint32_t s = buffers[b].from; s < buffers[b].to; ++s) totals[s] += buffers[b].size;
    place[b] = kOpen;
  }

  /// Whether what is left in the buffer's own sections would fit above it.
  bool leavesRoom(const Buffer& buffer, std::uint64_t offset) const {
    for (std::uint32_t s = buffer.from; s < buffer.to; ++s) {
      if (offset + totals[s] > capacity) return false;
    }
    return true;
  }

  /// Whether the open buffers of every section fit above its floor and above what was placed last.
  bool canHold(const Part& part, std::uint64_t offset) const {
    for (std::uint32_t s = part.from; s < part.to; ++s) {
      if (std::max(floors[s], offset) + totals[s] > capacity && (totals[s] != 0 || floors[s] > capacity)) return false;
    }
    return true;
  }
};

}  // namespace

Packing packWithin(std::span<const Request> requests, std::uint64_t capacity, std::uint64_t nodes, std::uint64_t alignment) {
  return Packer(requests, capacity, nodes, alignment).run();
}

}  // namespace tbem::estimate
