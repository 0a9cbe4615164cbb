#include "compiler/spec/Levels.h"

#include "compiler/spec/Causes.h"
#include "compiler/spec/NestedLevels.h"
#include "compiler/spec/Tabulate.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>

namespace tbem::spec {

namespace {

// For each structure that may be looked at.
constexpr std::size_t kAttempts = 8;
constexpr std::size_t kOperators = 400;
constexpr std::size_t kAtOnce = 256;  // structures in memory
constexpr std::size_t kMaxListed = std::size_t{1} << 20;

using Levels = std::vector<std::uint32_t>;

Levels firstOf(const LevelBox& box) {
  Levels first;
  for (const Levels& levels : box) first.push_back(levels.front());
  return first;
}

class LevelProver {
public:
  explicit LevelProver(const LevelQuestion& question)
      : question(question), spec(*question.spec), experiment(question.experiment) {}

  LevelProof run() {
    if (prepare()) search();
    if (!proof.breaches.empty()) proof.verdict = Verdict::Refuted;
    std::sort(proof.breaches.begin(), proof.breaches.end(), [](const Breach& a, const Breach& b) {
      return a.use.begin != b.use.begin ? a.use.begin < b.use.begin : a.range.begin < b.range.begin;
    });
    // A dimension that is lost where a condition breaks follows from it.
    const auto follows = [&](const Breach& dimension) {
      return dimension.isDimension && std::any_of(proof.breaches.begin(), proof.breaches.end(), [&](const Breach& other) {
               return !other.isDimension && other.nearest == dimension.nearest;
             });
    };
    std::vector<Breach> own;
    std::copy_if(proof.breaches.begin(), proof.breaches.end(), std::back_inserter(own),
                 [&](const Breach& b) { return !follows(b); });
    proof.breaches = std::move(own);
    if (unbuilt != 0 && proof.reason.empty()) leave(std::to_string(unbuilt) + " combinations cannot be built at all");
    return std::move(proof);
  }

private:
  const LevelQuestion& question;
  const graph::ExperimentSpec& spec;
  graph::Experiment* experiment;
  std::unique_ptr<graph::Experiment> own;
  LevelProof proof;
  std::deque<LevelBox> boxes;
  std::size_t attempts = 0;
  std::size_t operators = 0, largest = 0;  ///< elaborated so far; of the largest structure
  std::uint64_t unbuilt = 0;
  std::map<std::pair<Loc, Loc>, std::size_t> told;  ///< breach by its use and condition

  /// Boxes of all combinations that exist; false where they are not looked at.
  bool prepare() {
    LevelBox whole;
    for (const graph::FactorSpec& factor : spec.factors) {
      Levels all(factor.levels.size());
      std::iota(all.begin(), all.end(), 0U);
      whole.push_back(std::move(all));
    }
    boxes = branchesOf(spec, std::move(whole), question.maxStructures);
    if (boxes.empty()) {
      leave("nested factors have too many combinations");
      return false;
    }
    proof.combinations = 0;
    for (const LevelBox& box : boxes) {
      std::uint64_t combinations = 1;
      for (const Levels& levels : box) {
        combinations *= levels.size();
        if (combinations > (std::uint64_t{1} << 40)) {
          leave("there are too many combinations");
          return false;
        }
      }
      proof.combinations += combinations;
    }
    return true;
  }

  void search() {
    while (!boxes.empty()) {
      const LevelBox box = std::move(boxes.front());
      boxes.pop_front();
      if (proof.structures == question.maxStructures || isExhausted()) return leaveRest(box);
      if (proof.structures != 0 && proof.structures % kAtOnce == 0 && question.fresh) {
        own = question.fresh();
        experiment = own.get();
      }
      cover(box);
    }
  }

  bool isExhausted() const {
    return attempts >= kAttempts * question.maxStructures || operators > kOperators * question.maxStructures;
  }

  static std::uint64_t combinationsOf(const LevelBox& box) {
    std::uint64_t count = 1;
    for (const Levels& levels : box) count *= levels.size();
    return count;
  }

  /// The box and all that are still listed are not looked at.
  void leaveRest(const LevelBox& box) {
    std::uint64_t left = combinationsOf(box);
    for (const LevelBox& other : boxes) left += combinationsOf(other);
    leave("the levels make more structures than are looked at: " + std::to_string(left) + " of " +
          std::to_string(proof.combinations) + " combinations are left");
  }

  void leave(std::string reason) {
    proof.verdict = proof.breaches.empty() ? Verdict::Residual : Verdict::Refuted;
    proof.reason = std::move(reason);
  }

  void leave(const graph::Structure& structure, const Duty& duty) {
    proof.doubts.push_back({duty.subject, textOf(structure.pool, duty), duty.use, "it depends on too many factors"});
    leave("a condition depends on too many factors");
  }

  /// Finds a structure that serves part of the box; what it does not serve goes back to the list.
  void cover(LevelBox box) {
    const graph::Structure* structure = nullptr;
    Levels at = firstOf(box);
    // A condition that breaks ends the elaboration: other levels of the box may not break it.
    for (std::size_t tries = 0; tries < 24 && structure == nullptr && !isExhausted(); ++tries, ++attempts) {
      if (tries != 0) {
        for (std::size_t f = 0; f < box.size(); ++f)
          at[f] = box[f][tries <= box.size() ? (f + 1 == tries ? box[f].size() - 1 : 0) : (tries * 7 + f * 13) % box[f].size()];
      }
      structure = experiment->structureAt(at);
      if (structure != nullptr) largest = std::max(largest, structure->graph.ops.size());
      operators += largest;
    }
    if (structure == nullptr && isExhausted()) return leaveRest(box);
    if (structure == nullptr) {
      split(std::move(box));
      return;
    }
    for (const auto& [factor, level] : structure->guards) {
      Levels others;
      for (const std::uint32_t one : box[factor]) {
        if (one != level) others.push_back(one);
      }
      if (!others.empty()) {
        boxes.push_back(box);
        boxes.back()[factor] = std::move(others);
      }
      box[factor] = {level};
    }
    ++proof.structures;
    examine(*structure, box);
  }

  void split(LevelBox box) {
    const auto wide = std::find_if(box.begin(), box.end(), [](const Levels& levels) { return levels.size() > 1; });
    if (wide == box.end()) {
      ++unbuilt;
      return;
    }
    const auto factor = static_cast<std::size_t>(wide - box.begin());
    const auto half = static_cast<std::ptrdiff_t>(box[factor].size() / 2);
    LevelBox other = box;
    other[factor].erase(other[factor].begin(), other[factor].begin() + half);
    box[factor].resize(static_cast<std::size_t>(half));
    boxes.push_back(std::move(box));
    boxes.push_back(std::move(other));
  }

  void examine(const graph::Structure& structure, const LevelBox& box) {
    std::vector<std::vector<Rational>> levels;
    for (const std::uint32_t factor : structure.symbolFactor) {
      std::vector<Rational> values;
      for (const std::uint32_t level : box[factor])
        values.push_back(spec.factors[factor].levels[level].number.value_or(Rational{}));
      levels.push_back(std::move(values));
    }
    Tabulation table(structure.pool, std::move(levels));
    const std::vector<Duty> duties = dutiesOf(structure);
    std::map<std::uint32_t, std::vector<const Duty*>> open;
    std::vector<ExprId> roots;
    for (const Duty& duty : duties) {
      ++proof.conditions;
      const Interval hull = table.hull(duty.expr);
      const bool holds = hull.low && hull.low->num > 0 && (!duty.isDimension || structure.pool.isWhole(duty.expr));
      if (holds) {
        ++proof.byIntervals;
        continue;
      }
      roots.push_back(duty.expr);
      open[static_cast<std::uint32_t>(duty.expr)].push_back(&duty);
    }
    table.run(roots, [&](ExprId root, const Column* column) {
      if (column == nullptr) {
        for (const Duty* duty : open.at(static_cast<std::uint32_t>(root))) leave(structure, *duty);
        return;
      }
      proof.points += column->size();
      for (const Duty* duty : open.at(static_cast<std::uint32_t>(root))) test(structure, box, *duty, *column);
    });
  }

  static bool holdsAt(const Duty& duty, const Column& column, std::size_t i) {
    if (!column.hasValue(i)) return false;
    const Rational value = column.at(i);
    return duty.isDimension ? value.isInt() && value.num >= 1 : value.num != 0;
  }

  void test(const graph::Structure& structure, const LevelBox& box, const Duty& duty, const Column& column) {
    bool any = false;
    for (std::size_t i = 0; i < column.size() && !any; ++i) any = !holdsAt(duty, column, i);
    if (!any) return;
    // The factors of the column's symbols, and those that the structure fixes.
    Broken broken;
    for (std::size_t f = 0; f < spec.factors.size(); ++f) {
      const auto factor = static_cast<std::uint32_t>(f);
      const bool inCone = std::any_of(column.cone.begin(), column.cone.end(),
                                      [&](std::uint32_t symbol) { return structure.symbolFactor[symbol] == factor; });
      const bool fixed = box[f].size() == 1 && spec.factors[f].levels.size() > 1;
      if (!inCone && !fixed) continue;
      broken.factors.push_back(factor);
      broken.sizes.push_back(spec.factors[f].levels.size());
    }
    std::size_t size = 1;
    for (const std::size_t one : broken.sizes) {
      size *= one;
      if (size > kMaxListed) return leave(structure, duty);
    }
    broken.at.assign(size, false);
    findExisting(spec, broken);
    std::vector<Levels> failing;
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (!holdsAt(duty, column, i)) failing.push_back(levelsOf(structure, box, column, i));
    }
    for (const Levels& levels : failing) {
      std::size_t position = 0;
      for (std::size_t k = 0; k < broken.factors.size(); ++k) position = position * broken.sizes[k] + levels[broken.factors[k]];
      broken.at[position] = true;
    }
    add(structure, box, duty, broken, failing);
  }

  /// The levels of an entry; factors outside its cone have their first level of the box.
  Levels levelsOf(const graph::Structure& structure, const LevelBox& box, const Column& column, std::size_t entry) const {
    Levels levels = firstOf(box);
    for (std::size_t k = column.cone.size(); k-- > 0;) {
      const std::uint32_t factor = structure.symbolFactor[column.cone[k]];
      levels[factor] = box[factor][entry % box[factor].size()];
      entry /= box[factor].size();
    }
    return levels;
  }

  /// Combinations of the box that agree with a failing entry in the factors it depends on, and that the design allows.
  void add(const graph::Structure& structure, const LevelBox& box, const Duty& duty, const Broken& broken,
           const std::vector<Levels>& failing) {
    std::vector<std::uint32_t> others;
    std::uint64_t each = 1;
    for (std::size_t f = 0; f < box.size(); ++f) {
      const bool listed = std::find(broken.factors.begin(), broken.factors.end(), f) != broken.factors.end();
      if (listed || box[f].size() == 1) continue;
      others.push_back(static_cast<std::uint32_t>(f));
      each *= box[f].size();
    }
    Breach breach;
    breach.subject = duty.subject;
    breach.text = textOf(structure.pool, duty);
    breach.isDimension = duty.isDimension;
    breach.range = duty.range;
    breach.use = duty.use;
    if (question.allowed && each * failing.size() <= kMaxListed) {
      for (const Levels& start : failing) {
        for (std::uint64_t one = 0; one < each; ++one) {
          Levels levels = start;
          std::uint64_t rest = one;
          for (const std::uint32_t f : others) {
            levels[f] = box[f][rest % box[f].size()];
            rest /= box[f].size();
          }
          if (question.allowed(levels)) meet(breach, levels, 1);
        }
      }
      if (breach.combinations == 0) return;
    } else {
      for (const Levels& levels : failing) meet(breach, levels, each);
    }
    for (const Levels& row : question.rows) {
      std::size_t position = 0;
      const bool inside = std::equal(row.begin(), row.end(), box.begin(), [](std::uint32_t level, const Levels& levels) {
        return std::find(levels.begin(), levels.end(), level) != levels.end();
      });
      for (std::size_t k = 0; k < broken.factors.size(); ++k) position = position * broken.sizes[k] + row[broken.factors[k]];
      if (inside && broken.at[position]) ++breach.rows;
    }
    breach.causes = causesOf(broken, spec, breach.allCauses);
    merge(std::move(breach));
  }

  std::size_t changes(const Levels& levels) const {
    std::size_t count = 0;
    for (std::uint32_t f = 0; f < levels.size(); ++f) count += levels[f] != 0 && spec.active(f, levels) ? 1 : 0;
    return count;
  }

  void meet(Breach& breach, const Levels& levels, std::uint64_t count) const {
    breach.combinations += count;
    if (breach.nearest.empty() || changes(levels) < changes(breach.nearest)) breach.nearest = levels;
  }

  /// The same condition in other structures is the same breach.
  void merge(Breach breach) {
    const auto [place, isNew] = told.emplace(std::pair(breach.use.begin, breach.range.begin), proof.breaches.size());
    if (isNew) {
      proof.breaches.push_back(std::move(breach));
      return;
    }
    Breach& same = proof.breaches[place->second];
    same.combinations += breach.combinations;
    same.rows += breach.rows;
    if (changes(breach.nearest) < changes(same.nearest)) same.nearest = breach.nearest;
    same.allCauses = false;
    if (same.causes.size() < 3) same.causes.insert(same.causes.end(), breach.causes.begin(), breach.causes.end());
  }
};

}  // namespace

LevelProof proveLevels(const LevelQuestion& question) { return LevelProver(question).run(); }

}  // namespace tbem::spec
