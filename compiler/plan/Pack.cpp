#include "compiler/plan/Pack.h"

#include <algorithm>
#include <array>
#include <bit>
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

/// The search for a packing. One class: each step of its descent changes the placements, levels and totals below, and takes them
/// back.
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
    findSectionsAndRivals(requests);
    lowest.assign(buffers.size(), 0);
    place.assign(buffers.size(), kOpen);
    best.assign(buffers.size(), 0);
    raised.assign(buffers.size(), 0);
    next.assign(sections + 1, 0);
    level.assign(buffers.size() / 64 + 1, 0);
    totals.assign(sections, 0);
    crossing.assign(sections, 0);
    for (const Buffer& buffer : buffers) {
      for (std::uint32_t s = buffer.from; s < buffer.to; ++s) totals[s] += buffer.size;
      for (std::uint32_t s = buffer.from; s + 1 < buffer.to; ++s) ++crossing[s];
    }
  }

  Packing run() {
    Packing made;
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
  /// Ranks of a part's open buffers, by lowest place, then by rank.
  using Ranks = std::vector<std::uint32_t>;
  /// A number as it was before a placement changed it.
  struct Change {
    std::uint32_t index;
    std::uint64_t before;
  };
  struct Placement {
    std::uint64_t offset = 0;
    std::uint32_t rank = 0;
  };

  std::size_t count;
  std::uint64_t capacity, limit;
  std::vector<Buffer> buffers;
  std::uint32_t sections = 0;
  // The state of the search.
  std::vector<std::uint64_t> lowest;    ///< by buffer: nothing lower is free of what was placed
  std::vector<std::uint64_t> place;     ///< by buffer: kOpen until it is placed
  std::vector<std::uint64_t> best;      ///< by buffer: where it was placed last
  std::vector<std::uint64_t> totals;    ///< by section: sizes of open buffers
  std::vector<std::uint32_t> crossing;  ///< by section: open buffers that are in the next one too
  std::vector<std::uint32_t> raised;    ///< by buffer: the last round in which its lowest place rose
  std::vector<Change> trail;            ///< lowest places that placements have raised, to be taken back
  std::vector<std::uint32_t> next;      ///< by section: no section from it to this one is without a floor
  std::vector<std::uint64_t> level;     ///< by 64 ranks: those whose lowest place is the top of what was placed last
  std::uint32_t round = 0;
  std::uint64_t spent = 0, until = 0;

  /// A section ends where a buffer ends after another has begun. Buffers that live at once share one.
  void findSectionsAndRivals(std::span<const Request> requests) {
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
        for (const std::uint32_t other : live) {
          buffers[other].rivals.push_back(event.buffer);
          buffers[event.buffer].rivals.push_back(other);
        }
        live.push_back(event.buffer);
        buffers[event.buffer].from = sections;
        hasGrown = true;
        continue;
      }
      if (hasGrown) {
        ++sections;
        hasGrown = false;
      }
      buffers[event.buffer].to = sections;
      live.erase(std::find(live.begin(), live.end(), event.buffer));
    }
  }

  std::vector<Part> initialParts() const {
    std::vector<std::uint32_t> all(buffers.size());
    std::iota(all.begin(), all.end(), 0U);
    std::vector<std::uint32_t> cuts{0};
    for (std::uint32_t s = 0; s + 1 < sections; ++s) {
      if (crossing[s] == 0) cuts.push_back(s + 1);
    }
    cuts.push_back(sections);
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
    Ranks order(keyed.size());
    for (std::uint32_t rank = 0; rank < keyed.size(); ++rank) ranked.buffers[rank] = keyed[rank].second;
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return lowest[ranked.buffers[a]] < lowest[ranked.buffers[b]]; });
    return search(ranked, priority, order, {});
  }

  Fit search(const Part& part, const std::array<Key, 3>& priority, const Ranks& order, Placement last) {
    if (order.empty()) return Fit::Found;
    // What began above the top of another would leave a gap in which that fits.
    std::uint64_t ceiling = kOpen;
    for (const std::uint32_t rank : order) {
      const std::uint32_t b = part.buffers[rank];
      if (lowest[b] >= ceiling) break;
      ceiling = std::min(ceiling, lowest[b] + buffers[b].size);
    }
    for (const std::uint32_t rank : order) {
      const std::uint32_t b = part.buffers[rank];
      const Placement here{lowest[b], rank};
      if (here.offset >= ceiling) break;
      if (here.offset < last.offset || (here.offset == last.offset && rank < last.rank)) continue;
      if (spent >= until) return Fit::Unknown;
      ++spent;
      if (!leavesRoom(buffers[b], here.offset)) continue;
      const std::size_t mark = trail.size();
      const bool hasRivals = put(b, here.offset);
      Fit fit = Fit::None;
      if (canHold(part, order, here)) fit = descend(part, priority, order, here);
      takeBack(b, mark);
      if (fit != Fit::None) return fit;
      if (!hasRivals) break;  // it is in nobody's way: another in its place would not help
    }
    return Fit::None;
  }

  /// Goes on below a placement; where it has cut the part in pieces, with each on its own.
  Fit descend(const Part& part, const std::array<Key, 3>& priority, const Ranks& order, Placement placed) {
    const Buffer& buffer = buffers[part.buffers[placed.rank]];
    std::vector<std::uint32_t> cuts{part.from};
    for (std::uint32_t s = buffer.from; s + 1 < buffer.to; ++s) {
      if (--crossing[s] == 0) cuts.push_back(s + 1);
    }
    Fit fit = Fit::Found;
    if (cuts.size() == 1) {
      fit = search(part, priority, without(part, order, placed), placed);
    } else {
      cuts.push_back(part.to);
      for (const Part& piece : split(part.buffers, cuts)) {
        fit = searchPart(piece, priority);
        if (fit != Fit::Found) break;
      }
    }
    for (std::uint32_t s = buffer.from; s + 1 < buffer.to; ++s) ++crossing[s];
    return fit;
  }

  /// Raises the lowest places of its open rivals, if it has any.
  bool put(std::uint32_t b, std::uint64_t offset) {
    const Buffer& buffer = buffers[b];
    const std::uint64_t top = offset + buffer.size;
    place[b] = best[b] = offset;
    for (std::uint32_t s = buffer.from; s < buffer.to; ++s) totals[s] -= buffer.size;
    ++round;
    bool hasRivals = false;
    for (const std::uint32_t rival : buffer.rivals) {
      if (place[rival] != kOpen) continue;
      hasRivals = true;
      if (lowest[rival] >= top) continue;
      trail.push_back({rival, lowest[rival]});
      lowest[rival] = top;
      raised[rival] = round;
    }
    return hasRivals;
  }

  void takeBack(std::uint32_t b, std::size_t mark) {
    for (; trail.size() > mark; trail.pop_back()) lowest[trail.back().index] = trail.back().before;
    for (std::uint32_t s = buffers[b].from; s < buffers[b].to; ++s) totals[s] += buffers[b].size;
    place[b] = kOpen;
  }

  /// The order once what was put last is no longer open. What it raised lies at its top now, among what lay there.
  Ranks without(const Part& part, const Ranks& order, Placement placed) {
    const std::uint64_t top = placed.offset + buffers[part.buffers[placed.rank]].size;
    Ranks after;
    after.reserve(order.size() - 1);
    std::size_t i = 0;
    for (; i < order.size(); ++i) {
      const std::uint32_t b = part.buffers[order[i]];
      if (order[i] == placed.rank) continue;
      if (lowest[b] > top) break;
      if (lowest[b] < top)
        after.push_back(order[i]);
      else
        level[order[i] / 64] |= std::uint64_t{1} << order[i] % 64;
    }
    for (std::uint32_t word = 0; word <= part.buffers.size() / 64; ++word) {
      for (std::uint64_t bits = std::exchange(level[word], 0); bits != 0; bits &= bits - 1)
        after.push_back(word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)));
    }
    for (; i < order.size(); ++i) {
      if (order[i] != placed.rank) after.push_back(order[i]);
    }
    return after;
  }

  /// Whether what is left in the buffer's own sections would fit above it.
  bool leavesRoom(const Buffer& buffer, std::uint64_t offset) const {
    for (std::uint32_t s = buffer.from; s < buffer.to; ++s) {
      if (offset + totals[s] > capacity) return false;
    }
    return true;
  }

  /// Whether the open buffers of every section fit above its floor, the least of their lowest places, and above what was put
  /// last. `order`: before that.
  bool canHold(const Part& part, const Ranks& order, Placement placed) {
    const std::uint64_t top = placed.offset + buffers[part.buffers[placed.rank]].size;
    std::iota(next.begin() + part.from, next.begin() + part.to + 1, part.from);
    // By rising lowest place, a section's floor is that of the first buffer that meets it: what was below the top and was not
    // raised, what was raised to it, the rest.
    std::size_t i = 0;
    for (; i < order.size() && (isRaised(part, order[i]) || lowest[part.buffers[order[i]]] <= top); ++i) {
      if (order[i] != placed.rank && !isRaised(part, order[i]) && !holds(part.buffers[order[i]], placed.offset)) return false;
    }
    for (std::size_t k = 0; k < i; ++k) {
      if (isRaised(part, order[k]) && !holds(part.buffers[order[k]], placed.offset)) return false;
    }
    for (; i < order.size() && !hasFloors(part); ++i) {
      if (order[i] != placed.rank && !holds(part.buffers[order[i]], placed.offset)) return false;
    }
    return true;
  }
  bool isRaised(const Part& part, std::uint32_t rank) const { return raised[part.buffers[rank]] == round; }

  /// Gives the buffer's sections that have no floor yet its lowest place.
  bool holds(std::uint32_t b, std::uint64_t offset) {
    const std::uint64_t floor = std::max(lowest[b], offset);
    for (std::uint32_t s = withoutFloor(buffers[b].from); s < buffers[b].to; s = withoutFloor(s)) {
      if (floor + totals[s] > capacity) return false;
      next[s] = s + 1;
    }
    return true;
  }
  bool hasFloors(const Part& part) { return withoutFloor(part.from) == part.to; }
  /// The first such section from `section` on (disjoint sets; paths are halved).
  std::uint32_t withoutFloor(std::uint32_t section) {
    while (next[section] != section) {
      next[section] = next[next[section]];
      section = next[section];
    }
    return section;
  }
};

}  // namespace

Packing packWithin(std::span<const Request> requests, std::uint64_t capacity, std::uint64_t nodes, std::uint64_t alignment) {
  if (liveBound(requests, alignment) > capacity) return {Fit::None, {}, 0};
  if (requests.size() > kMostSearched) return {};
  return Packer(requests, capacity, nodes, alignment).run();
}

}  // namespace tbem::estimate
