#include "runtime/measure/Campaign.h"

#include "runtime/measure/Meters.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace tbem::measure {
namespace {

/// SplitMix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators", figure 11).
struct SplitMix64 {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, bound), without bias: values beyond the last whole multiple of `bound` are drawn again.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t excess = (0 - bound) % bound;
    for (;;)
      if (const std::uint64_t value = next(); value >= excess) return value % bound;
  }
};

using RowKey = std::pair<std::string, std::uint32_t>;
RowKey rowOf(const runtime::Case& one) { return {one.design, one.row}; }

/// Which of the cases are still to be run, in order; counts the others.
tl::expected<std::vector<runtime::Case>, std::string> unfinished(std::vector<runtime::Case> cases, const Hooks& hooks,
                                                                 const CampaignSettings& settings, std::size_t& reused) {
  std::vector<runtime::Case> todo;
  for (runtime::Case& one : cases) {
    if (!settings.fresh) {
      auto known = hooks.known(one);
      if (!known) return tl::unexpected(known.error());
      if (*known && runtime::settled((*known)->status, (*known)->timeLimit, settings.rowSeconds)) {
        ++reused;
        continue;
      }
    }
    todo.push_back(std::move(one));
  }
  return todo;
}

/// Keeps the first `most` rows in the order of running. Returns how many cases fell away.
std::size_t keepRows(std::vector<runtime::Case>& cases, std::size_t most) {
  std::set<RowKey> taken;
  const std::size_t before = cases.size();
  std::erase_if(cases, [&](const runtime::Case& one) {
    if (taken.size() < most) taken.insert(rowOf(one));
    return !taken.contains(rowOf(one));
  });
  return before - cases.size();
}

void count(CampaignResult& result, runtime::Status status) {
  switch (status) {
    case runtime::Status::Ok:
      ++result.ok;
      break;
    case runtime::Status::OutOfMemory:
      ++result.oom;
      break;
    case runtime::Status::Failed:
      ++result.failed;
      break;
    case runtime::Status::Timeout:
      ++result.timeout;
      break;
    case runtime::Status::Skipped:
      ++result.skipped;
      break;
  }
}

/// Time left, from the time that finished cases took for their cost. Skipped ones took no time and tell nothing.
class Pace {
public:
  explicit Pace(const std::vector<runtime::Case>& cases) {
    for (const auto& one : cases) left += cost(one);
  }
  void finished(const runtime::Case& one, const runtime::Measurement& value, double seconds) {
    left -= cost(one);
    if (value.status == runtime::Status::Skipped) return;
    spent += seconds;
    done += cost(one);
  }
  /// With so many lanes.
  double secondsLeft(std::size_t lanes) const {
    return done > 0 ? std::max(0.0, left) * spent / done / static_cast<double>(lanes) : -1;
  }

private:
  static double cost(const runtime::Case& one) { return one.cost > 0 ? one.cost : 1; }
  double left = 0, done = 0, spent = 0;
};

/// The cases that are left, which lanes take one after the other, and what became of those that ran.
class Lanes {
public:
  Lanes(const std::vector<runtime::Case>& todo, const Hooks& hooks, const CampaignSettings& settings, CampaignResult& result)
      : todo(todo), hooks(hooks), settings(settings), result(result), start(monotonicSeconds()), pace(todo) {
    standing.total = todo.size();
    standing.reused = result.reused;
  }

  void run() {
    std::vector<std::jthread> others;
    for (std::size_t lane = 1; lane < std::min(settings.lanes, todo.size()); ++lane) {
      try {
        others.emplace_back([this, lane] { run(lane); });
      } catch (const std::system_error&) {
        break;  // without another thread there are fewer lanes
      }
    }
    run(0);
    others.clear();
    result.left = todo.size() - standing.done;
  }

private:
  void run(std::size_t lane) {
    try {
      while (const runtime::Case* const one = take(lane)) {
        const double began = monotonicSeconds();
        finish(*one, hooks.run(*one, settings.rowSeconds, lane), began);
      }
    } catch (const std::exception& problem) {
      const std::lock_guard lock(mutex);
      fail(problem.what());
    }
  }

  /// The next case, once it may run: one that runs alone waits for those that run, and those behind it wait for it. It is the
  /// caller's, whose threads of OpenMP are its. nullptr: the campaign is over.
  const runtime::Case* take(std::size_t lane) {
    std::unique_lock lock(mutex);
    for (;;) {
      if (isOver || next == todo.size()) return nullptr;
      if (settings.stop && settings.stop()) return over(End::Interrupted);
      if (monotonicSeconds() - start >= settings.maxSeconds) return over(End::TimeSpent);
      const bool isAlone = !isBeside(todo[next]);
      if (isAlone ? running == 0 && lane == 0 : !aloneRuns) {
        aloneRuns = isAlone;
        ++running;
        tell(todo[next], nullptr);
        return &todo[next++];
      }
      changed.wait(lock);
    }
  }

  bool isBeside(const runtime::Case& one) const { return settings.lanes > 1 && hooks.beside && hooks.beside(one); }

  void finish(const runtime::Case& one, std::optional<runtime::Measurement> measured, double began) {
    const std::lock_guard lock(mutex);
    --running;
    aloneRuns = false;
    if (measured)
      keep(one, *measured, began);
    else
      over(End::Interrupted);
    changed.notify_all();
  }

  void keep(const runtime::Case& one, runtime::Measurement& value, double began) {
    value.timeLimit = settings.rowSeconds;
    if (auto kept = hooks.commit(one, value); !kept) {
      fail(kept.error());
      return;
    }
    ++standing.done;
    count(result, value.status);
    result.ran.push_back(one);
    pace.finished(one, value, monotonicSeconds() - began);
    tell(one, &value);
  }

  /// Whatever else ended the campaign, an error is told.
  void fail(std::string why) {
    isOver = true;
    changed.notify_all();
    if (result.end == End::Error) return;
    result.end = End::Error;
    result.error = std::move(why);
  }

  /// What was said first stands. nullptr.
  const runtime::Case* over(End end) {
    if (!isOver) result.end = end;
    isOver = true;
    changed.notify_all();  // lanes may wait for a case that only the first one takes
    return nullptr;
  }

  void tell(const runtime::Case& current, const runtime::Measurement* last) {
    standing.elapsed = monotonicSeconds() - start;
    const bool isShared = next < todo.size() && isBeside(todo[next]);
    standing.left = pace.secondsLeft(isShared ? settings.lanes : 1);
    standing.current = &current;
    standing.last = last;
    if (hooks.progress) hooks.progress(standing);
  }

  const std::vector<runtime::Case>& todo;
  const Hooks& hooks;
  const CampaignSettings& settings;
  CampaignResult& result;
  const double start;
  std::mutex mutex;  ///< of all below
  std::condition_variable changed;
  Pace pace;
  Standing standing;
  std::size_t next = 0, running = 0;
  bool aloneRuns = false, isOver = false;
};

}  // namespace

std::vector<runtime::Case> ordered(std::vector<runtime::Case> cases, std::uint64_t seed) {
  std::set<std::pair<std::string, std::uint32_t>> seen;
  std::map<std::uint32_t, std::vector<runtime::Case>> byRepeat;
  for (runtime::Case& one : cases)
    if (seen.emplace(one.identity, one.repeat).second) byRepeat[one.repeat].push_back(std::move(one));
  std::vector<runtime::Case> order;
  for (auto& [repeat, block] : byRepeat) {
    SplitMix64 random{seed ^ (0xD1B54A32D192ED03u * (repeat + 1u))};
    for (std::size_t i = block.size(); i > 1; --i) std::swap(block[i - 1], block[random.below(i)]);
    std::move(block.begin(), block.end(), std::back_inserter(order));
  }
  return order;
}

CampaignResult runCampaign(std::vector<runtime::Case> cases, const Hooks& hooks, const CampaignSettings& settings) {
  CampaignResult result;
  cases = ordered(std::move(cases), settings.seed);
  const std::size_t all = cases.size();
  auto todo = unfinished(std::move(cases), hooks, settings, result.reused);
  if (!todo) {
    result.end = End::Error;
    result.error = todo.error();
    result.left = all - result.reused;
    return result;
  }
  const std::size_t beyond = keepRows(*todo, settings.maxRows);
  Lanes lanes(*todo, hooks, settings, result);
  lanes.run();
  result.left += beyond;
  if (beyond != 0 && result.end == End::Complete) result.end = End::RowsSpent;
  return result;
}

}  // namespace tbem::measure
