#include "compiler/spec/network/Levels.h"

#include "compiler/spec/network/BreachTable.h"
#include "compiler/spec/size/Tabulate.h"

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

using Levels = std::vector<std::uint32_t>;

Levels firstOf(const LevelBox& box) {
  Levels first;
  for (const Levels& levels : box) first.push_back(levels.front());
  return first;
}

/// Proves conditions for boxes of levels. One class: boxes that are split, covered or left all count towards one result and one
/// limit of work.
class LevelProver {
public:
  explicit LevelProver(const LevelQuestion& question)
      : question(question), spec(*question.spec), experiment(question.experiment), breaches(question) {}

  LevelProof run() {
    if (prepare()) search();
    proof.breaches = breaches.finish();
    if (!proof.breaches.empty()) proof.verdict = Verdict::Refuted;
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
  std::uint64_t unbuilt = 0;               ///< combinations with which nothing can be built, and nothing says why
  BreachTable breaches;

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

  bool isSpent() const { return question.work != nullptr && question.work->isSpent(); }
  void spend(std::uint64_t units) const {
    if (question.work != nullptr) question.work->spend(units);
  }

  bool isExhausted() const {
    return isSpent() || attempts >= kAttempts * question.maxStructures || operators > kOperators * question.maxStructures;
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
    leave((isSpent() ? Work::kReason : "the levels make more structures than are looked at") + std::string(": ") +
          std::to_string(left) + " of " + std::to_string(proof.combinations) + " combinations are left");
  }

  void leave(std::string reason) {
    proof.verdict = Verdict::Residual;
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
    const std::size_t most = combinationsOf(box) == 1 ? 1 : 24;
    for (std::size_t tries = 0; tries < most && structure == nullptr && !isExhausted(); ++tries, ++attempts) {
      if (tries != 0) {
        for (std::size_t f = 0; f < box.size(); ++f)
          at[f] = box[f][tries <= box.size() ? (f + 1 == tries ? box[f].size() - 1 : 0) : (tries * 7 + f * 13) % box[f].size()];
      }
      structure = experiment->structureAt(at);
      if (structure != nullptr) largest = std::max(largest, structure->graph.ops.size());
      operators += largest;
      spend(Work::kOfOperator * (1 + largest));
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
    if (wide == box.end()) return addUnbuilt(box);
    const auto factor = static_cast<std::size_t>(wide - box.begin());
    const auto half = static_cast<std::ptrdiff_t>(box[factor].size() / 2);
    LevelBox other = box;
    other[factor].erase(other[factor].begin(), other[factor].begin() + half);
    box[factor].resize(static_cast<std::size_t>(half));
    boxes.push_back(std::move(box));
    boxes.push_back(std::move(other));
  }

  /// A single combination with which nothing can be built: what ends the elaboration is what breaks there.
  void addUnbuilt(const LevelBox& box) {
    const Levels levels = firstOf(box);
    if (question.allowed && !question.allowed(levels)) return;
    const std::deque<Diagnostic> told = question.reportsAt ? question.reportsAt(levels) : std::deque<Diagnostic>();
    const auto mistake =
        std::find_if(told.begin(), told.end(), [](const Diagnostic& one) { return one.severity == Severity::Error; });
    if (mistake == told.end()) {
      ++unbuilt;
      return;
    }
    Breach breach;
    breach.mistake = breach.text = mistake->message;
    breach.use = mistake->range;
    breach.range = mistake->labels.empty() ? mistake->range : mistake->labels.front().range;
    std::vector<std::uint32_t> factors(box.size());
    std::iota(factors.begin(), factors.end(), 0U);
    breaches.add(breach, box, factors, {levels});
  }

  /// Where a duty breaks: by the levels of its cone, the last symbol running fastest.
  struct Failure {
    const Duty* duty = nullptr;
    std::vector<std::uint32_t> cone;
    std::vector<bool> at;
  };

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
    // A call in a loop meets the same condition in each turn: one breach.
    std::map<std::pair<Loc, Loc>, std::vector<Failure>> failures;
    table.run(roots, [&](ExprId root, const Column* column) {
      for (const Duty* duty : open.at(static_cast<std::uint32_t>(root))) {
        if (column == nullptr) {
          leave(structure, *duty);
          continue;
        }
        Failure failure = failureOf(*duty, *column);
        if (!failure.at.empty()) failures[{duty->use.begin, duty->range.begin}].push_back(std::move(failure));
      }
      if (column != nullptr) {
        proof.points += column->size();
        spend(column->size());
      }
    });
    for (auto& [place, list] : failures) {
      std::sort(list.begin(), list.end(), [](const Failure& a, const Failure& b) { return a.duty < b.duty; });
      add(structure, box, list);
    }
  }

  static bool holdsAt(const Duty& duty, const Column& column, std::size_t i) {
    if (!column.hasValue(i)) return false;
    const Rational value = column.at(i);
    return duty.isDimension ? value.isInt() && value.num >= 1 : value.num != 0;
  }

  /// Where the duty breaks; `at` is empty where it holds everywhere.
  static Failure failureOf(const Duty& duty, const Column& column) {
    Failure failure{&duty, column.cone, {}};
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (holdsAt(duty, column, i)) continue;
      if (failure.at.empty()) failure.at.assign(column.size(), false);
      failure.at[i] = true;
    }
    return failure;
  }

  /// The failures that can be listed together, as one breach: a combination that several of them break counts once.
  void add(const graph::Structure& structure, const LevelBox& box, const std::vector<Failure>& failures) {
    const auto sizeOf = [&](std::uint32_t symbol) { return box[structure.symbolFactor[symbol]].size(); };
    std::vector<std::uint32_t> cone;
    std::vector<const Failure*> listed;
    std::size_t count = 1;
    for (const Failure& failure : failures) {
      std::vector<std::uint32_t> with;
      std::set_union(cone.begin(), cone.end(), failure.cone.begin(), failure.cone.end(), std::back_inserter(with));
      std::size_t size = 1;
      for (const std::uint32_t symbol : with) size = std::min(size * sizeOf(symbol), kMaxListed + 1);
      if (size > kMaxListed) continue;
      cone = std::move(with);
      count = size;
      listed.push_back(&failure);
    }
    const Duty& duty = *failures.front().duty;
    if (listed.empty()) return leave(structure, duty);
    std::vector<std::uint32_t> factors;
    for (const std::uint32_t symbol : cone) factors.push_back(structure.symbolFactor[symbol]);
    std::vector<Levels> failing;
    std::vector<std::size_t> digits(structure.symbolFactor.size(), 0);
    for (std::size_t entry = 0; entry < count; ++entry) {
      std::size_t rest = entry;
      for (std::size_t k = cone.size(); k-- > 0; rest /= sizeOf(cone[k])) digits[cone[k]] = rest % sizeOf(cone[k]);
      const bool breaks = std::any_of(listed.begin(), listed.end(), [&](const Failure* failure) {
        std::size_t position = 0;
        for (const std::uint32_t symbol : failure->cone) position = position * sizeOf(symbol) + digits[symbol];
        return failure->at[position];
      });
      if (!breaks) continue;
      failing.push_back(firstOf(box));
      for (const std::uint32_t symbol : cone)
        failing.back()[structure.symbolFactor[symbol]] = box[structure.symbolFactor[symbol]][digits[symbol]];
    }
    Breach breach;
    breach.subject = duty.subject;
    breach.text = textOf(structure.pool, duty);
    breach.isDimension = duty.isDimension;
    breach.range = duty.range;
    breach.use = duty.use;
    breach.isLeast = listed.size() < failures.size();
    if (!breaches.add(breach, box, factors, failing)) leave(structure, duty);
  }
};

}  // namespace

LevelProof proveLevels(const LevelQuestion& question) { return LevelProver(question).run(); }

}  // namespace tbem::spec
