#include "compiler/plan/Plan.h"

#include "compiler/plan/Pack.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace tbem::estimate {

namespace {
using Order = std::vector<std::uint32_t>;

/// Places requests one after another, each at the lowest gap that is free throughout its life.
class Placer {
public:
  Placer(std::span<const Request> given, std::uint64_t looks, std::uint64_t alignment) : requests(given), budget(looks) {
    sizes.reserve(given.size());
    for (const Request& request : given) sizes.push_back(alignUp(request.bytes, alignment));
  }

  /// The arena's height, or nothing when it passes `limit` (what a better plan must stay below). `culprit`: the position in
  /// `order` of the request that reached the top.
  std::optional<std::uint64_t> place(const Order& order, std::vector<std::uint64_t>& offsets, std::uint64_t limit,
                                     std::size_t& culprit) {
    placed.clear();
    std::uint64_t top = 0;
    culprit = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t id = order[i];
      const std::uint64_t offset = lowestGap(id);
      offsets[id] = offset;
      if (offset + sizes[id] > top) {
        top = offset + sizes[id];
        culprit = i;
        if (top >= limit) return std::nullopt;
      }
      const Piece piece{offset, offset + sizes[id], requests[id].first, requests[id].last};
      placed.insert(
          std::upper_bound(placed.begin(), placed.end(), piece, [](const Piece& a, const Piece& b) { return a.begin < b.begin; }),
          piece);
    }
    return top;
  }
  bool exhausted() const { return spent >= budget; }

private:
  struct Piece {
    std::uint64_t begin, end;
    std::uint32_t first, last;
  };
  std::uint64_t lowestGap(std::uint32_t id) {
    const Request& request = requests[id];
    std::uint64_t free = 0;
    spent += placed.size() + 1;
    for (const Piece& piece : placed) {  // by offset
      if (piece.last < request.first || request.last < piece.first) continue;
      if (piece.begin >= free + sizes[id]) break;
      free = std::max(free, piece.end);
    }
    return free;
  }

  std::span<const Request> requests;
  std::vector<std::uint64_t> sizes;
  std::vector<Piece> placed;
  std::uint64_t budget;
  std::uint64_t spent = 0;
};

template <class Key>
Order sortedBy(const Order& base, Key key) {
  Order order = base;
  std::stable_sort(order.begin(), order.end(), [&key](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
  return order;
}

/// Orders that do well on different graphs: a training step is a stack (its forward values die in reverse), inference a queue.
std::vector<Order> greedyOrders(std::span<const Request> requests, const Order& base, std::uint32_t peakStep) {
  const auto size = [&](std::uint32_t i) { return static_cast<double>(requests[i].bytes); };
  const auto life = [&](std::uint32_t i) { return static_cast<double>(requests[i].last - requests[i].first) + 1; };
  const auto early = [&](std::uint32_t i) { return -static_cast<double>(requests[i].first); };
  const auto late = [&](std::uint32_t i) { return static_cast<double>(requests[i].last); };
  const auto atPeak = [&](std::uint32_t i) { return requests[i].first <= peakStep && peakStep <= requests[i].last; };
  std::vector<Order> orders;
  orders.push_back(sortedBy(sortedBy(base, early), life));
  orders.push_back(sortedBy(sortedBy(base, life), size));
  orders.push_back(sortedBy(base, [&](std::uint32_t i) { return size(i) * life(i); }));
  orders.push_back(sortedBy(sortedBy(base, late), early));
  orders.push_back(sortedBy(sortedBy(base, early), late));
  orders.push_back(sortedBy(sortedBy(sortedBy(base, size), life), atPeak));
  orders.push_back(sortedBy(sortedBy(sortedBy(base, life), size), atPeak));
  // From the peak outwards: what is near the peak in time has least freedom.
  orders.push_back(sortedBy(base, [&](std::uint32_t i) {
    const double mid = static_cast<double>(peakStep);
    const double before = mid - static_cast<double>(requests[i].last);
    const double after = static_cast<double>(requests[i].first) - mid;
    return -std::max({before, after, 0.0});
  }));
  return orders;
}

/// A fixed generator (Marsaglia 2003, xorshift64), so that plans do not depend on the standard library.
struct XorShift {
  std::uint64_t state = 0x2545F4914F6CDD1DULL;
  std::size_t below(std::size_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::size_t>(state % limit);
  }
};
}  // namespace

std::uint64_t liveBound(std::span<const Request> requests, std::uint64_t alignment, std::uint32_t* step) {
  struct Event {
    std::uint32_t step;
    std::int64_t change;
  };
  std::vector<Event> events;
  events.reserve(requests.size() * 2);
  for (const Request& request : requests) {
    const auto bytes = static_cast<std::int64_t>(alignUp(request.bytes, alignment));
    events.push_back({request.first, bytes});
    events.push_back({request.last + 1, -bytes});
  }
  std::sort(events.begin(), events.end(),
            [](const Event& a, const Event& b) { return a.step != b.step ? a.step < b.step : a.change < b.change; });
  std::int64_t live = 0;
  std::int64_t most = 0;
  if (step != nullptr) *step = 0;
  for (const Event& event : events) {
    live += event.change;
    if (live > most) {
      most = live;
      if (step != nullptr) *step = event.step;
    }
  }
  return static_cast<std::uint64_t>(most);
}

namespace {

/// Greedy orders, then hill climbing: the best plan that `looks` allow.
void placeByOrders(std::span<const Request> requests, std::uint64_t looks, std::uint64_t alignment, std::uint32_t peakStep,
                   Plan& plan) {
  Order base;
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    if (requests[i].bytes != 0) base.push_back(i);
  }
  if (base.empty()) return;

  Placer placer(requests, looks, alignment);
  std::vector<std::uint64_t> offsets(requests.size(), 0);
  std::size_t culprit = 0;
  Order best;
  std::size_t bestCulprit = 0;
  plan.peak = std::numeric_limits<std::uint64_t>::max();
  const auto attempt = [&](const Order& order) {
    const std::optional<std::uint64_t> peak = placer.place(order, offsets, plan.peak, culprit);
    if (!peak) return false;
    plan.peak = *peak;
    plan.offsets = offsets;
    best = order;
    bestCulprit = culprit;
    return true;
  };
  for (const Order& order : greedyOrders(requests, base, peakStep)) {
    attempt(order);
    if (plan.peak == plan.bound) return;
    if (placer.exhausted() && !best.empty()) return;
  }
  // Hill climbing: what reached the top is placed earlier, or two requests change places.
  XorShift random;
  while (!placer.exhausted() && plan.peak != plan.bound && best.size() > 1) {
    Order order = best;
    const auto from = order.begin() + static_cast<std::ptrdiff_t>(bestCulprit);
    if (bestCulprit > 0 && random.below(2) == 0) {
      const auto to = order.begin() + static_cast<std::ptrdiff_t>(random.below(bestCulprit));
      std::rotate(to, from, from + 1);
    } else {
      std::swap(order[random.below(order.size())], order[random.below(order.size())]);
    }
    attempt(order);
  }
}

/// Whatever can lie lowest is placed next, of several the one that lives longest. Complete search begins so (Pack.h) and goes
/// back where that fails; for this it keeps what grows with the square of the requests, so many of them are placed so alone.
void placeLowestFirst(std::span<const Request> requests, std::uint64_t alignment, Plan& plan) {
  struct Open {
    std::uint64_t lowest, size;
    std::uint32_t first, last, id;
    std::uint64_t life() const { return std::uint64_t{last} - first + 1; }
  };
  constexpr std::uint64_t kPlaced = std::numeric_limits<std::uint64_t>::max();
  std::vector<Open> open;
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    if (requests[i].bytes != 0)
      open.push_back({0, alignUp(requests[i].bytes, alignment), requests[i].first, requests[i].last, i});
  }
  std::stable_sort(open.begin(), open.end(),
                   [](const Open& a, const Open& b) { return a.life() != b.life() ? a.life() > b.life() : a.size > b.size; });
  std::vector<std::uint64_t> offsets(requests.size(), 0);
  std::uint64_t top = 0;
  std::size_t next = 0;
  for (std::size_t left = open.size(); left != 0; --left) {
    const Open one = open[next];
    offsets[one.id] = one.lowest;
    const std::uint64_t end = one.lowest + one.size;
    top = std::max(top, end);
    if (top >= plan.peak) return;
    open[next].lowest = kPlaced;
    if (2 * left < open.size()) std::erase_if(open, [](const Open& other) { return other.lowest == kPlaced; });
    next = 0;
    for (std::size_t i = 0; i < open.size(); ++i) {
      Open& other = open[i];
      const bool together = other.first <= one.last && one.first <= other.last;
      if (together && other.lowest < end) other.lowest = end;
      if (other.lowest < open[next].lowest) next = i;
    }
  }
  plan.peak = top;
  plan.offsets = std::move(offsets);
}

/// Complete search at the bound first, then between what is shown to be too low and what is known to fit.
void lower(std::span<const Request> requests, std::uint64_t nodes, std::uint64_t alignment, Plan& plan) {
  std::uint64_t from = plan.proved;  // below this it was shown, or not found out
  std::uint64_t share = nodes / 2;
  std::uint64_t capacity = from;
  while (from < plan.peak && share != 0) {
    const Packing packing = packWithin(requests, capacity, share, alignment);
    nodes -= std::min(nodes, packing.nodes + 1);
    if (packing.fit == Fit::Found) {
      plan.offsets = packing.offsets;
      plan.peak = 0;
      for (std::size_t i = 0; i < requests.size(); ++i) {
        if (requests[i].bytes != 0) plan.peak = std::max(plan.peak, plan.offsets[i] + alignUp(requests[i].bytes, alignment));
      }
    } else {
      from = capacity + alignment;
      if (packing.fit == Fit::None) plan.proved = from;
    }
    if (from >= plan.peak) return;
    capacity = from + (plan.peak - alignment - from) / alignment / 2 * alignment;
    share = nodes / 4;
  }
}

}  // namespace

Plan planOffsets(std::span<const Request> requests, const PlanEffort& effort, std::uint64_t alignment) {
  Plan plan;
  plan.offsets.assign(requests.size(), 0);
  std::uint32_t peakStep = 0;
  plan.bound = plan.proved = liveBound(requests, alignment, &peakStep);
  if (plan.bound == 0) return plan;
  placeByOrders(requests, effort.looks, alignment, peakStep, plan);
  if (!plan.isLowest()) placeLowestFirst(requests, alignment, plan);
  if (!plan.isLowest()) lower(requests, effort.nodes, alignment, plan);
  return plan;
}

std::optional<std::string> checkOverlap(std::span<const Request> requests, std::span<const std::uint64_t> offsets,
                                        std::uint64_t alignment) {
  if (requests.size() != offsets.size())
    return "there are " + std::to_string(requests.size()) + " requests and " + std::to_string(offsets.size()) + " offsets";
  struct Event {
    std::uint32_t step;
    bool begins;
    std::uint32_t id;
  };
  std::vector<Event> events;
  for (std::uint32_t i = 0; i < requests.size(); ++i) {
    if (requests[i].bytes == 0) continue;
    if (offsets[i] % alignment != 0)
      return "request " + std::to_string(i) + " lies at " + std::to_string(offsets[i]) + ", which is not aligned";
    events.push_back({requests[i].first, true, i});
    events.push_back({requests[i].last + 1, false, i});
  }
  // At one step what has ended leaves before what begins comes.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.step != b.step ? a.step < b.step : (a.begins != b.begins ? !a.begins : a.id < b.id);
  });
  std::map<std::uint64_t, std::uint32_t> live;  // by offset
  const auto clash = [](std::uint32_t a, std::uint32_t b, std::uint32_t step) {
    return "requests " + std::to_string(a) + " and " + std::to_string(b) + " share bytes at step " + std::to_string(step);
  };
  for (const Event& event : events) {
    if (!event.begins) {
      live.erase(offsets[event.id]);
      continue;
    }
    const auto [at, fresh] = live.emplace(offsets[event.id], event.id);
    if (!fresh) return clash(at->second, event.id, event.step);
    if (at != live.begin()) {
      const std::uint32_t below = std::prev(at)->second;
      if (offsets[below] + requests[below].bytes > offsets[event.id]) return clash(below, event.id, event.step);
    }
    if (const auto above = std::next(at); above != live.end() && offsets[event.id] + requests[event.id].bytes > above->first) {
      return clash(event.id, above->second, event.step);
    }
  }
  return std::nullopt;
}

}  // namespace tbem::estimate
