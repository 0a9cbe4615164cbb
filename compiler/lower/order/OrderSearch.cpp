#include "compiler/lower/order/OrderSearch.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <queue>
#include <unordered_map>

namespace tbem::estimate {

namespace {

using Order = std::vector<std::uint32_t>;

/// Values by the operators that touch them.
struct Touched {
  std::vector<std::vector<std::uint32_t>> made, read;
  explicit Touched(const OrderProblem& problem) : made(problem.size()), read(problem.size()) {
    for (std::uint32_t v = 0; v < problem.values.size(); ++v) {
      const OrderProblem::Value& value = problem.values[v];
      if (value.maker != kNobody) made[value.maker].push_back(v);
      for (const std::uint32_t reader : value.readers) read[reader].push_back(v);
    }
  }
};

/// Bytes that are live during each operator, by place in the order.
struct Profile {
  std::vector<std::uint64_t> live;
  std::uint64_t peak = 0;
  std::size_t at = 0;      ///< the first place with the peak
  std::size_t places = 0;  ///< how many have it
  bool lowerThan(const Profile& other) const { return peak != other.peak ? peak < other.peak : places < other.places; }
};

Profile profileOf(const OrderProblem& problem, const Touched& touched, const Order& order) {
  std::vector<std::uint32_t> left(problem.values.size());
  std::uint64_t now = 0;
  for (std::size_t v = 0; v < left.size(); ++v) {
    const OrderProblem::Value& value = problem.values[v];
    left[v] = static_cast<std::uint32_t>(value.readers.size());
    if (value.maker == kNobody && (value.kept || !value.readers.empty())) now += value.bytes;
  }
  Profile profile;
  profile.live.reserve(order.size());
  for (const std::uint32_t op : order) {
    std::uint64_t made = 0, freed = 0, reused = 0;
    for (const std::uint32_t v : touched.made[op]) made += problem.values[v].bytes;
    for (const std::uint32_t v : touched.read[op]) {
      const OrderProblem::Value& value = problem.values[v];
      if (--left[v] != 0 || value.kept) continue;
      freed += value.bytes;
      if (problem.inPlace[op] && value.bytes == made) reused = made;
    }
    const std::uint64_t here = now + made + problem.workspace[op] - reused;
    for (const std::uint32_t v : touched.made[op]) {
      if (left[v] == 0 && !problem.values[v].kept) freed += problem.values[v].bytes;
    }
    if (here > profile.peak) profile.peak = here, profile.at = profile.live.size(), profile.places = 0;
    profile.places += here == profile.peak ? 1 : 0;
    profile.live.push_back(here);
    now = now + made - freed;
  }
  return profile;
}

/// The best order of the operators in places [begin, end), all others where they are.
class Window {
public:
  Window(const OrderProblem& p, const Touched& t, const Order& o, std::size_t begin, std::size_t end)
      : problem(p), touched(t), order(o), first(begin), count(end - begin) {
    std::vector<std::size_t> place(problem.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    before.assign(count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::uint32_t later : problem.after[order[first + i]]) {
        if (place[later] < end) before[place[later] - first] |= std::uint64_t{1} << i;
      }
    }
    findValues(place, end);
  }

  /// Nothing where all orders of the window reach `limit`, or too many sets were looked at.
  std::optional<Order> below(std::uint64_t limit, std::size_t states) {
    struct Known {
      std::uint64_t peak, live, from;
      std::uint8_t op;
      bool closed;
    };
    struct Entry {
      std::uint64_t peak;
      int done;
      std::uint64_t number;  ///< in which they were found: ties go to the order at hand
      std::uint64_t set;
      bool operator<(const Entry& other) const {
        if (peak != other.peak) return peak > other.peak;
        return done != other.done ? done < other.done : number > other.number;
      }
    };
    std::unordered_map<std::uint64_t, Known> known;
    std::priority_queue<Entry> open;
    known[0] = {0, entry, 0, 0, false};
    open.push({0, 0, 0, 0});
    std::uint64_t number = 0;
    const std::uint64_t all = count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    while (!open.empty()) {
      const Entry top = open.top();
      open.pop();
      Known& here = known[top.set];
      if (here.closed) continue;
      here.closed = true;
      if (top.set == all) {
        Order found(count);
        std::uint64_t set = all;
        for (std::size_t i = count; i-- > 0;) {
          const Known& step = known[set];
          found[i] = order[first + step.op];
          set = step.from;
        }
        return found;
      }
      if (known.size() > states) return std::nullopt;
      const std::uint64_t live = here.live;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        if ((top.set & bit) != 0 || (before[i] & ~top.set) != 0) continue;
        const auto [during, afterwards] = run(i, top.set | bit, live);
        const std::uint64_t peak = std::max(top.peak, during);
        if (peak >= limit) continue;
        const auto [entryAt, isNew] =
            known.try_emplace(top.set | bit, Known{peak, afterwards, top.set, static_cast<std::uint8_t>(i), false});
        if (!isNew) {
          if (entryAt->second.closed || entryAt->second.peak <= peak) continue;
          entryAt->second = {peak, afterwards, top.set, static_cast<std::uint8_t>(i), false};
        }
        open.push({peak, top.done + 1, ++number, top.set | bit});
      }
    }
    return std::nullopt;
  }

private:
  /// A value as the window sees it: its readers inside, and whether it outlives the window.
  struct Inside {
    std::uint64_t readers = 0;
    bool stays = false;
  };

  void findValues(const std::vector<std::size_t>& place, std::size_t end) {
    inside.resize(problem.values.size());
    for (std::size_t v = 0; v < inside.size(); ++v) {
      const OrderProblem::Value& value = problem.values[v];
      const bool early = value.maker == kNobody || place[value.maker] < first;
      bool used = value.kept;
      inside[v].stays = value.kept;
      for (const std::uint32_t reader : value.readers) {
        const std::size_t at = place[reader];
        if (at >= end) inside[v].stays = true;
        if (at >= first && at < end) inside[v].readers |= std::uint64_t{1} << (at - first);
        used = used || at >= first;
      }
      if (early && used) entry += value.bytes;
    }
  }

  /// Bytes during the operator and after it, where `set` is finished with it.
  std::pair<std::uint64_t, std::uint64_t> run(std::size_t i, std::uint64_t set, std::uint64_t live) const {
    const std::uint32_t op = order[first + i];
    std::uint64_t made = 0, freed = 0, reused = 0;
    for (const std::uint32_t v : touched.made[op]) made += problem.values[v].bytes;
    for (const std::uint32_t v : touched.read[op]) {
      if (inside[v].stays || (inside[v].readers & ~set) != 0) continue;
      freed += problem.values[v].bytes;
      if (problem.inPlace[op] && problem.values[v].bytes == made) reused = made;
    }
    for (const std::uint32_t v : touched.made[op]) {
      if (!inside[v].stays && inside[v].readers == 0) freed += problem.values[v].bytes;
    }
    return {live + made + problem.workspace[op] - reused, live + made - freed};
  }

  const OrderProblem& problem;
  const Touched& touched;
  const Order& order;
  std::size_t first, count;
  std::uint64_t entry = 0;            ///< bytes that are live when the window begins
  std::vector<std::uint64_t> before;  ///< by place in the window: which must be finished
  std::vector<Inside> inside;
};

class Searcher {
public:
  Searcher(const OrderProblem& p, const OrderEffort& e) : problem(p), effort(e), touched(p), needs(p.size()) {
    for (std::uint32_t op = 0; op < problem.size(); ++op) {
      for (const std::uint32_t later : problem.after[op]) needs[later].push_back(op);
    }
  }

  Order run() {
    Order order(problem.size());
    std::iota(order.begin(), order.end(), 0U);
    Profile now = profileOf(problem, touched, order);
    const std::uint64_t whole = now.peak;
    for (std::size_t round = 0; round < effort.rounds; ++round) {
      if (round > 0 && effort.changed) effort.changed(round);
      if (!windows(order, now) && !moves(order, now)) break;
    }
    return now.peak < whole ? order : Order{};
  }

private:
  bool take(Order& order, Profile& now, Order&& changed) const {
    Profile then = profileOf(problem, touched, changed);
    if (!then.lowerThan(now)) return false;
    order = std::move(changed);
    now = std::move(then);
    return true;
  }

  /// Windows that hold the operator at the peak: in their middle, at their end, at their beginning.
  bool windows(Order& order, Profile& now) const {
    const std::size_t size = std::min(effort.window, order.size());
    for (const std::size_t ahead : {size / 2, size - 1, std::size_t{0}}) {
      const std::size_t begin = std::min(now.at - std::min(now.at, ahead), order.size() - size);
      Window window(problem, touched, order, begin, begin + size);
      const auto better = window.below(now.peak, effort.states);
      if (!better) continue;
      Order changed = order;
      std::copy(better->begin(), better->end(), changed.begin() + static_cast<std::ptrdiff_t>(begin));
      if (take(order, now, std::move(changed))) return true;
    }
    return false;
  }

  /// One operator from before the peak to behind it, as late as may be, or from behind it to before it.
  bool moves(Order& order, Profile& now) const {
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    std::size_t tried = 0;
    for (std::size_t distance = 1; distance < order.size() && tried < effort.moves; ++distance) {
      if (distance <= now.at) {
        const std::size_t from = now.at - distance;
        std::size_t to = order.size() - 1;  // behind what stands there
        for (const std::uint32_t later : problem.after[order[from]]) to = std::min(to, place[later] - 1);
        if (to >= now.at && ++tried != 0 && take(order, now, moved(order, from, to))) return true;
      }
      if (const std::size_t from = now.at + distance; from < order.size()) {
        std::size_t to = 0;
        for (const std::uint32_t need : needs[order[from]]) to = std::max(to, place[need] + 1);
        if (to <= now.at && ++tried != 0 && take(order, now, moved(order, from, to))) return true;
      }
    }
    return false;
  }

  static Order moved(const Order& order, std::size_t from, std::size_t to) {
    Order changed = order;
    const auto at = [&changed](std::size_t i) { return changed.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from < to) {
      std::rotate(at(from), at(from + 1), at(to + 1));
    } else {
      std::rotate(at(to), at(from), at(from + 1));
    }
    return changed;
  }

  const OrderProblem& problem;
  const OrderEffort& effort;
  Touched touched;
  std::vector<std::vector<std::uint32_t>> needs;
};

}  // namespace

std::vector<std::uint64_t> liveOf(const OrderProblem& problem) {
  Order order(problem.size());
  std::iota(order.begin(), order.end(), 0U);
  return profileOf(problem, Touched(problem), order).live;
}

std::uint64_t peakOf(const OrderProblem& problem, const std::vector<std::uint32_t>& order) {
  return profileOf(problem, Touched(problem), order).peak;
}

std::vector<std::uint32_t> lowerPeak(const OrderProblem& problem, const OrderEffort& effort) {
  return problem.size() < 2 ? Order{} : Searcher(problem, effort).run();
}

}  // namespace tbem::estimate
