#include "compiler/lower/recompute/RecomputeChoice.h"

#include <algorithm>
#include <queue>

namespace tbem::estimate {

using graph::index;

namespace {

constexpr int kHalvings = 12;         ///< of the range in which the lowest peak lies
constexpr std::size_t kStale = 2000;  ///< questions about moves that no longer help, in one descent

/// Values that are dropped together.
using Move = std::vector<std::uint32_t>;

class Chooser {
public:
  Chooser(RecomputeModel& m, std::uint64_t l) : model(m), limit(l) {
    const graph::Graph& graph = model.graph();
    const graph::Repeatable& which = model.which();
    for (std::uint32_t s = 0; s < which.can.size(); ++s) {
      if (which.can[s] && model.bytes(s) > 0) moves.push_back({s});
    }
    std::vector<bool> chosen(graph.scopes.size(), false);
    for (std::size_t scope = 1; scope < graph.scopes.size(); ++scope) {
      chosen[scope] = true;
      const std::vector<bool> outside = graph::keepOutside(graph, chosen);
      chosen[scope] = false;
      Move inside;
      for (std::uint32_t s = 0; s < outside.size(); ++s) {
        if (!outside[s] && which.can[s]) inside.push_back(s);
      }
      if (inside.size() > 1) moves.push_back(std::move(inside));
    }
  }

  std::optional<std::vector<bool>> run() {
    std::optional<std::vector<bool>> best;
    double least = 0;
    for (std::vector<bool> keep : {model.which().saved, everyBlock()}) {
      const auto found = descend(keep);
      if (!found || (best && found->flops >= least)) continue;
      best = std::move(keep);
      least = found->flops;
    }
    return best;
  }

private:
  using Cost = RecomputeModel::Cost;

  std::vector<bool> everyBlock() const {
    const graph::Graph& graph = model.graph();
    graph::CheckpointSpec all;
    all.kind = graph::CheckpointSpec::Kind::All;
    return graph::keepOutside(graph, graph::scopesOf(graph, all).scopes);
  }

  /// Drops values until nothing is over the limit, and takes back what need not be dropped. Nothing where that cannot be.
  std::optional<Cost> descend(std::vector<bool>& keep) {
    Cost now = model.cost(keep, limit);
    struct Entry {
      double score;
      std::uint32_t move;
      std::uint32_t asked;  ///< after how many moves
      bool operator<(const Entry& other) const { return score != other.score ? score < other.score : move > other.move; }
    };
    std::priority_queue<Entry> queue;
    std::uint32_t made = 0;
    const auto ask = [&](std::uint32_t move) {
      const double score = scoreOf(keep, now, moves[move]);
      if (score > 0) queue.push({score, move, made});
      return score;
    };
    const auto askAll = [&] {
      for (std::uint32_t m = 0; m < moves.size(); ++m) ask(m);
    };
    if (now.excess > 0) askAll();
    std::size_t stale = 0;
    std::uint32_t refilledAt = 0;
    while (now.excess > 0) {
      if (queue.empty()) {  // what did not help before may help now
        if (made == refilledAt) return std::nullopt;
        refilledAt = made;
        askAll();
        if (queue.empty()) return std::nullopt;
      }
      const Entry top = queue.top();
      queue.pop();
      if (top.asked != made) {
        if (++stale > kStale) return std::nullopt;
        ask(top.move);
        continue;
      }
      for (const std::uint32_t s : moves[top.move]) keep[s] = false;
      now = model.cost(keep, limit);
      ++made;
    }
    takeBack(keep, now);
    return now;
  }

  double scoreOf(std::vector<bool>& keep, const Cost& now, const Move& move) const {
    std::vector<std::uint32_t> changed;
    for (const std::uint32_t s : move) {
      if (keep[s]) changed.push_back(s);
    }
    if (changed.empty()) return 0;
    for (const std::uint32_t s : changed) keep[s] = false;
    const Cost then = model.cost(keep, limit);
    for (const std::uint32_t s : changed) keep[s] = true;
    const double gain = now.excess - then.excess;
    return gain <= 0 ? 0 : gain / std::max(then.flops - now.flops, 1.0);
  }

  void takeBack(std::vector<bool>& keep, Cost& now) const {
    std::vector<std::uint32_t> dropped;
    for (std::uint32_t s = 0; s < keep.size(); ++s) {
      if (!keep[s] && model.which().can[s]) dropped.push_back(s);
    }
    for (bool again = true; again;) {
      again = false;
      for (const std::uint32_t s : dropped) {
        if (keep[s]) continue;
        keep[s] = true;
        const Cost then = model.cost(keep, limit);
        if (then.excess == 0 && then.flops < now.flops) {
          now = then;
          again = true;
        } else {
          keep[s] = false;
        }
      }
    }
  }

  RecomputeModel& model;
  std::uint64_t limit;
  std::vector<Move> moves;
};

}  // namespace

std::optional<std::vector<bool>> chooseBelow(RecomputeModel& model, std::uint64_t limit) { return Chooser(model, limit).run(); }

std::vector<std::vector<bool>> chooseLower(RecomputeModel& model) {
  std::vector<std::vector<bool>> found;
  std::uint64_t low = 0, high = model.cost(model.which().saved, 0).peak;
  for (int i = 0; i < kHalvings && low + 1 < high; ++i) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (auto keep = chooseBelow(model, middle)) {
      high = std::min(middle, model.cost(*keep, 0).peak);
      found.push_back(std::move(*keep));
    } else {
      low = middle;
    }
  }
  return found;
}

}  // namespace tbem::estimate
