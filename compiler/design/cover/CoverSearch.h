// The search for small covers: rows one by one, then one row fewer again and again. Internal to this folder.
#pragma once

#include "compiler/design/array/Random.h"
#include "compiler/design/rows/ValidRows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace tbem::design {

/// What a search may cost: work in words of memory touched, the same on every machine, and processor time.
class Budget {
public:
  Budget(std::uint64_t work, double seconds) : total(work), left(work), seconds(seconds), start(now()) {}
  /// False: the budget is spent.
  bool spend(std::uint64_t work) {
    if (spent) return false;
    if (work > left) return !(spent = true);
    left -= work;
    sinceClock += work;
    if (sinceClock < kClockEvery) return true;
    sinceClock = 0;
    if (now() - start > seconds) spent = byClock = true;
    return !spent;
  }
  bool isSpent() const { return spent; }
  /// The clock ended it: on a faster machine it would have gone on.
  bool endedByClock() const { return byClock; }
  std::uint64_t used() const { return total - left; }
  /// Of the work or of the time, whichever is nearer its end.
  double share() const {
    const double work = static_cast<double>(used()) / static_cast<double>(std::max<std::uint64_t>(1, total));
    return std::min(1.0, std::max(work, seconds > 0 ? (now() - start) / seconds : 1.0));
  }

private:
  static constexpr std::uint64_t kClockEvery = 1'000'000;
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  }
  std::uint64_t total, left, sinceClock = 0;
  double seconds, start;
  bool spent = false, byClock = false;
};

/// Searches with a cover (PairCover, TupleCover). Every row it ever has is valid. One class: building, climbing and mending are
/// moves on the same rows and counts.
template <class Cover>
class CoverSearch {
public:
  using Row = std::vector<std::uint32_t>;
  /// Told of rows and of a share (CoveringOptions); may be empty.
  using Told = std::function<void(std::size_t rows, double share)>;
  CoverSearch(Cover& cover, ValidRows& valid, std::uint64_t seed, Told told = {})
      : cover(cover), valid(valid), random(seed), told(std::move(told)) {}

  /// Appends rows until all is covered: each the best of some candidates, which begin with an uncovered tuple in a random row and
  /// climb cell by cell (the one-row-at-a-time scheme of AETG: Cohen, Dalal, Fredman, Patton 1997). A spent budget leaves one
  /// candidate a row, and a spent `grace` rows that are not searched for at all but built level by level (`denseRow`): so it ends
  /// soon whatever the size. False: that would be more than `mostRows` rows.
  bool fill(Budget& budget, Budget& grace, std::size_t mostRows) {
    while (cover.uncovered() != 0) {
      if (cover.rows() >= mostRows) return false;
      if (told)
        told(cover.rows(),
             1 - static_cast<double>(cover.uncovered()) / static_cast<double>(std::max<std::uint64_t>(1, cover.required())));
      if (!budget.isSpent()) {
        cover.append(bestCandidate(budget, kCandidates));
      } else if (!grace.isSpent()) {
        cover.append(bestCandidate(grace, 1));
      } else {
        if (unsearched++ == 0) cover.startDense();
        cover.appendDense(denseRow());
      }
    }
    return true;
  }
  /// Rows that `fill` built without a search. Where there are some the cover takes no other changes any more.
  std::size_t unsearchedRows() const { return unsearched; }

  /// Takes rows away while the rest can be mended (tabu search: Galinier, Kpodjedo, Antoniol 2017; Lin et al. 2015): draws an
  /// uncovered tuple and puts it into the row where that covers most. The smallest full cover found; stops at `enough` rows.
  std::vector<Row> shrink(Budget& budget, std::uint64_t enough) {
    std::vector<Row> best = allRows();
    while (best.size() > enough) {
      while (cover.uncovered() == 0) {
        best = allRows();
        if (best.size() <= enough || !budget.spend(cover.rows() * cover.appendCost())) return best;
        cover.drop(leastUseful());
      }
      if (told) told(best.size(), budget.share());
      if (!mend(budget)) break;
    }
    return best;
  }

private:
  static constexpr std::uint64_t kPlacing = 5'000'000;  ///< work of placing random levels in a row that is not searched for
  static constexpr int kCandidates = 10, kSweeps = 3, kRepairs = 2;
  static constexpr std::uint32_t kTenure = 1,
                                 kTenureSpread = 4;  ///< steps for which a changed cell stays, random beyond the first
  static constexpr std::uint64_t kRowCost = 3;       ///< of looking at a row, in words

  std::vector<Row> allRows() const {
    std::vector<Row> rows;
    for (std::size_t r = 0; r < cover.rows(); ++r) rows.push_back(cover.row(r));
    return rows;
  }

  Row bestCandidate(Budget& budget, int candidates) {
    Row best;
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (int i = 0; i < candidates; ++i) {
      Row row = randomRow();
      valid.place(cover.pick(random), row);
      cover.append(row);
      climb(cover.rows() - 1, budget);
      if (cover.uncovered() < least) {
        least = cover.uncovered();
        best = cover.row(cover.rows() - 1);
      }
      cover.drop(cover.rows() - 1);
      if (!budget.spend(1 + valid.takeWork() + 2 * cover.appendCost())) break;
    }
    return best;
  }

  /// A row with an uncovered tuple whose other factors take, one after the other, the level with which they complete the most
  /// uncovered tuples with the factors before it (the idea of the density algorithm: Bryce and Colbourn 2007). It looks at each
  /// choice of factors once.
  Row denseRow() {
    const auto factors = static_cast<std::uint32_t>(valid.factors());
    Row row = cover.rows() != 0 ? cover.row(cover.rows() - 1) : *valid.anyRow();
    std::vector<std::uint32_t> constrained;
    for (std::uint32_t f = 0; f < factors; ++f) {
      if (valid.constrained(f))
        constrained.push_back(f);
      else
        row[f] = random.below(valid.constraints().levels[f]);
    }
    // To place a level may take a look at each pair of factors.
    const std::uint64_t pairs = std::max<std::uint64_t>(1, std::uint64_t{factors} * factors);
    for (std::uint64_t i = std::clamp<std::uint64_t>(kPlacing / pairs, 4, factors); i-- > 0 && !constrained.empty();) {
      const std::uint32_t f = constrained[random.below(static_cast<std::uint32_t>(constrained.size()))];
      const Literal any{f, random.below(valid.constraints().levels[f])};
      valid.place({&any, 1}, row);
    }
    const Combination tuple = cover.pick(random);
    valid.place(tuple, row);
    std::vector<std::uint32_t> gains;
    for (std::uint32_t f = 0; f < factors; ++f) {
      const bool isGiven = std::any_of(tuple.begin(), tuple.end(), [&](const Literal& l) { return l.factor == f; });
      if (isGiven) continue;
      cover.denseGains(row, f, gains);
      row[f] = bestLevel(row, f, gains);
    }
    return row;
  }

  /// The level with the largest gain of those that leave the row valid, of equals any.
  std::uint32_t bestLevel(const Row& row, std::uint32_t factor, const std::vector<std::uint32_t>& gains) {
    std::uint32_t chosen = row[factor], most = gains[chosen], ties = 1;
    for (std::uint32_t level = 0; level < gains.size(); ++level) {
      const Literal to{factor, level};
      if (level == row[factor] || gains[level] < most || !allows(row, {&to, 1})) continue;
      ties = gains[level] > most ? 1 : ties + 1;
      if (random.below(ties) == 0) chosen = level;
      most = gains[level];
    }
    return chosen;
  }

  Row randomRow() {
    Row row = *valid.anyRow();
    for (std::uint32_t f = 0; f < row.size(); ++f) {
      const Literal one{f, random.below(valid.constraints().levels[f])};
      if (!valid.constrained(f)) {
        row[f] = one.level;
      } else {
        valid.place({&one, 1}, row);
      }
    }
    return row;
  }

  bool allows(const Row& row, std::span<const Literal> changes) const {
    return std::none_of(changes.begin(), changes.end(), [&](const Literal& l) { return valid.constrained(l.factor); }) ||
           valid.allowsChange(row, changes);
  }

  /// Gives each cell of a row the level that covers most, in a random order, until nothing gets better.
  void climb(std::size_t index, Budget& budget) {
    const auto factors = static_cast<std::uint32_t>(valid.factors());
    std::vector<std::uint32_t> order(factors);
    for (std::uint32_t f = 0; f < factors; ++f) order[f] = f;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (std::uint32_t i = factors; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      bool better = false;
      for (const std::uint32_t f : order) {
        if (budget.isSpent()) return;
        better = climbCell(index, f, budget) || better;
      }
      if (!better) return;
    }
  }

  bool climbCell(std::size_t index, std::uint32_t factor, Budget& budget) {
    std::int64_t most = 0;
    std::uint32_t chosen = cover.row(index)[factor], ties = 1;
    for (std::uint32_t level = 0; level < valid.constraints().levels[factor]; ++level) {
      const Literal to{factor, level};
      if (level == cover.row(index)[factor] || !allows(cover.row(index), {&to, 1})) continue;
      const std::int64_t gain = cover.gain(index, {&to, 1});
      budget.spend(cover.gainCost());
      if (gain < most) continue;
      ties = gain > most ? 1 : ties + 1;
      if (random.below(ties) == 0) chosen = level;
      most = gain;
    }
    if (chosen == cover.row(index)[factor]) return false;
    const Literal to{factor, chosen};
    cover.change(index, {&to, 1});
    budget.spend(cover.changeCost());
    return most > 0;
  }

  std::size_t leastUseful() const {
    std::size_t index = 0;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t r = 0; r < cover.rows(); ++r) {
      const std::uint64_t useful = cover.onlyIn(r);
      if (useful < least) {
        least = useful;
        index = r;
      }
    }
    return index;
  }

  /// One way to put a tuple into a row.
  struct Move {
    std::size_t row = 0;
    std::vector<Literal> changes;
    std::int64_t gain = std::numeric_limits<std::int64_t>::min();
  };

  /// Covers all with the rows that there are. False: the budget ended.
  bool mend(Budget& budget) {
    tabu.assign(cover.rows() * valid.factors(), 0);
    step = 0;
    while (cover.uncovered() != 0) {
      ++step;
      const Move move = choose(cover.pick(random), budget);
      cover.change(move.row, move.changes);
      for (const Literal& l : move.changes)
        tabu[move.row * valid.factors() + l.factor] = step + kTenure + 1 + random.below(kTenureSpread);
      if (!budget.spend(1 + cover.changeCost() * move.changes.size() + valid.takeWork())) return false;
    }
    return true;
  }

  bool isTabu(std::size_t row, std::span<const Literal> changes) const {
    return std::any_of(changes.begin(), changes.end(),
                       [&](const Literal& l) { return tabu[row * valid.factors() + l.factor] > step; });
  }

  /// The best move that covers a tuple, of equals any. A row in which it breaks the constraints would have to change elsewhere
  /// too: of those a few are tried. Where all is tabu, any row.
  Move choose(const Combination& tuple, Budget& budget) {
    Move best;
    std::uint32_t ties = 0;
    const auto consider = [&](std::size_t row, const std::vector<Literal>& changes) {
      const std::int64_t gain = cover.gain(row, changes);
      budget.spend(cover.gainCost() * changes.size());
      if (gain < best.gain) return;
      ties = gain > best.gain ? 1 : ties + 1;
      if (random.below(ties) == 0) best = {row, changes, gain};
      best.gain = gain;
    };
    std::vector<Literal> changes;
    closed.clear();
    for (std::size_t row = 0; row < cover.rows(); ++row) {
      changes.clear();
      for (const Literal& l : tuple) {
        if (cover.row(row)[l.factor] != l.level) changes.push_back(l);
      }
      if (changes.size() > Cover::kMostChanges || isTabu(row, changes)) continue;
      if (allows(cover.row(row), changes)) {
        consider(row, changes);
      } else {
        closed.push_back(row);
      }
    }
    budget.spend(kRowCost * cover.rows());
    for (int i = 0; i < kRepairs && !closed.empty(); ++i) {
      const std::size_t row = closed[random.below(static_cast<std::uint32_t>(closed.size()))];
      repaired(row, tuple, changes);
      if (!isTabu(row, changes)) consider(row, changes);
    }
    if (best.changes.empty()) {
      best.row = random.below(static_cast<std::uint32_t>(cover.rows()));
      repaired(best.row, tuple, best.changes);
    }
    return best;
  }

  /// The changes that put a tuple into a row and keep it valid.
  void repaired(std::size_t row, const Combination& tuple, std::vector<Literal>& changes) {
    Row to = cover.row(row);
    valid.place(tuple, to);
    changes.clear();
    for (std::uint32_t f = 0; f < to.size(); ++f) {
      if (to[f] != cover.row(row)[f]) changes.push_back({f, to[f]});
    }
  }

  Cover& cover;
  ValidRows& valid;
  Random random;
  Told told;
  std::vector<std::uint64_t> tabu;  ///< by row and factor: the step from which the cell may change again
  std::uint64_t step = 0;
  std::size_t unsearched = 0;
  std::vector<std::size_t> closed;  ///< scratch of `choose`
};

}  // namespace tbem::design
