#include "compiler/spec/tests/Vibration.h"

#include "compiler/spec/process/Predicates.h"
#include "compiler/spec/tests/Sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tbem::spec {

using sema::ExprNode;
using sema::ExprOp;

const char* word(TestCase::Kind kind) {
  switch (kind) {
    case TestCase::Kind::Seed:
      return "seed";
    case TestCase::Kind::Vibration:
      return "vibration";
    case TestCase::Kind::Outside:
      return "outside";
    case TestCase::Kind::Branch:
      return "branch";
  }
  return "";
}

namespace {

constexpr std::size_t kMaxConjunctions = 64;
constexpr unsigned kSeedMoves = 40, kMoves = 16;  ///< that draw anew what a case leaves open
constexpr int kRounds = 3;                        ///< cases of each distance on the wrong side, and tries to find a new one

std::vector<SymbolId> inputsOf(const ProcessModel& model) {
  std::vector<SymbolId> inputs;
  for (std::size_t s = 0; s < model.unknowns.size(); ++s) {
    if (!model.unknowns[s].isOutput) inputs.push_back(static_cast<SymbolId>(s));
  }
  return inputs;
}

/// Makes the cases of one process. One class: drives, neighbours, branches and refused inputs are four uses of one list of cases,
/// one solver's variables and one set of what was tried.
class Maker {
public:
  Maker(ProcessModel& model, const std::vector<Scenario>& scenarios, const TestOptions& options)
      : model(model),
        pool(model.pool),
        scenarios(scenarios),
        options(options),
        inputs(inputsOf(model)),
        sampler(pool, model.domains, inputs, options.seed) {}

  TestSuite run() {
    for (std::size_t i = 0; i < scenarios.size(); ++i) makeScenario(i);
    makeRefused();
    std::stable_sort(made.cases.begin(), made.cases.end(), [&](const TestCase& a, const TestCase& b) {
      return a.scenario.value_or(scenarios.size()) < b.scenario.value_or(scenarios.size());
    });
    return std::move(made);
  }

private:
  /// A boundary and where its values stand.
  struct Drive {
    const Predicate* atom = nullptr;
    Wanted wanted;     ///< but for the distance
    ExprId margin{};   ///< what is driven
    Rational unit;     ///< of distances
    Rational nearest;  ///< the value of `margin` next to the boundary
    Point at;
    std::vector<Rational> unreachable;
  };

  ExprId isNot(ExprId expr) { return pool.make(ExprOp::Not, expr); }
  std::vector<ExprId> with(std::vector<ExprId> more) const {
    for (const ExprId axiom : model.axioms) {
      if (!model.mentionsOutputs(axiom)) more.push_back(axiom);
    }
    return more;
  }
  static std::vector<ExprId> exprsOf(const Conjunction& conjunction, const Predicate* but = nullptr) {
    std::vector<ExprId> list;
    for (const Predicate& atom : conjunction) {
      if (&atom != but) list.push_back(atom.expr);
    }
    return list;
  }
  static std::vector<ExprId> joined(std::vector<ExprId> a, const std::vector<ExprId>& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  // ---- Cases ----------------------------------------------------------------------------------------------------------

  /// The scenario that applies; nothing where `pre` does not hold. False: `pre` holds, and no scenario applies.
  bool attribute(const Point& point, std::optional<std::size_t>& scenario) {
    if (!conditions) {
      std::vector<ExprId> roots{model.pre};
      for (const Scenario& one : scenarios) roots.push_back(one.guard);
      conditions.emplace(pool, roots);
    }
    conditions->at(point);
    scenario.reset();
    if (!conditions->holds(0)) return true;
    for (std::size_t i = 0; i < scenarios.size() && !scenario; ++i) {
      if (conditions->holds(i + 1)) scenario = i;
    }
    return scenario.has_value();
  }

  bool add(TestCase::Kind kind, Point point, const std::string& atom, std::optional<Rational> distance) {
    model.normalize(point);
    TestCase made;
    made.kind = kind;
    made.atom = atom;
    made.distance = distance;
    std::vector<std::pair<std::int64_t, std::int64_t>> key;
    for (const SymbolId symbol : inputs) {
      const auto s = static_cast<std::size_t>(symbol);
      const Rational value = point[s].value_or(Rational{});
      const bool exact = (value.den & (value.den - 1)) == 0;  // as a double
      if (!exact && model.domains[s].levels.empty()) return false;
      made.inputs.emplace_back(symbol, value);
      const std::optional<std::size_t> port = model.unknowns[s].port;
      const bool absent = port && point[*port] == Rational{};  // of a port without data
      key.emplace_back(absent ? 0 : value.num, absent ? 0 : value.den);
    }
    if (!attribute(point, made.scenario) || !known.insert(std::move(key)).second) return false;
    this->made.cases.push_back(std::move(made));
    return true;
  }

  void gap(const std::string& what, const std::string& why) { made.gaps.push_back(what + ": " + why); }

  std::vector<Conjunction> split(ExprId condition, const std::string& what) {
    std::optional<std::vector<Conjunction>> found = conjunctionsOf(pool, condition, kMaxConjunctions);
    if (found) return std::move(*found);
    gap(what, fmt::format("more than {} alternatives: its boundaries are left out", kMaxConjunctions));
    return {{}};
  }

  // ---- Scenarios ------------------------------------------------------------------------------------------------------

  void makeScenario(std::size_t i) {
    const Scenario& scenario = scenarios[i];
    const std::string name = fmt::format("scenario {}", i + 1);
    const std::vector<ExprId> test = with({model.pre, scenario.guard});
    const std::vector<Conjunction> all = split(pool.make(ExprOp::And, model.pre, scenario.guard), name);
    const std::size_t begin = made.cases.size();
    std::vector<Drive> drives;
    std::optional<Point> first;
    for (const Conjunction& conjunction : all) {
      const Wanted wanted{joined(test, exprsOf(conjunction)), sema::kNoExpr};
      std::optional<Point> point = sampler.find(wanted, nullptr);
      if (!point) {
        if (sampler.undecided()) gap(name, "no solution was found for " + text(conjunction));
        continue;
      }
      *point = sampler.wander(wanted, std::move(*point), kSeedMoves);
      add(TestCase::Kind::Seed, *point, {}, {});
      for (const Predicate& atom : conjunction) addDrive(drives, atom, wanted, *point);
      if (!first) first = std::move(point);
    }
    if (first) {
      branches(scenario, test, *first);
      neighbours(scenario, *first, name);
    }
    vibrate(drives, begin, name);
  }

  std::string text(const Conjunction& conjunction) const {
    std::string all;
    for (const Predicate& atom : conjunction) all += (all.empty() ? "`" : " and ") + pool.str(atom.expr);
    return all.empty() ? "it" : all + "`";
  }

  void addDrive(std::vector<Drive>& drives, const Predicate& atom, const Wanted& wanted, const Point& seed) {
    if (isOfWords(atom)) return;
    Drive drive;
    drive.atom = &atom;
    drive.wanted = wanted;
    drive.at = seed;
    const bool whole = pool.isWhole(atom.left) && pool.isWhole(atom.right);
    drive.unit = whole ? Rational::of(options.step) : Rational::make(options.step, 8).value_or(Rational::of(1));
    drive.margin = marginOf(atom);
    switch (atom.relation) {
      case Relation::LessEqual:
        break;
      case Relation::Less:
      case Relation::Unequal:
        drive.nearest = whole ? Rational::of(1) : drive.unit;
        break;
      case Relation::Equal: {  // the distance is 0: both sides move together
        drive.margin = pool.constantValue(atom.left) ? atom.right : atom.left;
        const std::vector<ExprId> root{drive.margin};
        Points value(pool, root);
        value.at(seed);
        if (value.errorOf(0) != sema::EvalError::None) return;
        drive.nearest = value[0];
        break;
      }
    }
    drives.push_back(std::move(drive));
  }

  /// Whether there is no near and far: of truth values, members of enumerations.
  bool isOfWords(const Predicate& atom) const {
    const std::vector<SymbolId> symbols = pool.symbolsOf(atom.expr);
    return atom.isTruth || std::any_of(symbols.begin(), symbols.end(),
                                       [&](SymbolId symbol) { return model.unknowns[static_cast<std::size_t>(symbol)].isWord; });
  }

  ExprId marginOf(const Predicate& atom) {
    const bool ordered = atom.relation == Relation::LessEqual || atom.relation == Relation::Less;
    return ordered ? pool.make(ExprOp::Sub, atom.right, atom.left) : pool.make(ExprOp::Sub, atom.left, atom.right);
  }

  /// Away from each boundary and back, all boundaries at the same pace.
  void vibrate(std::vector<Drive>& drives, std::size_t begin, const std::string& name) {
    const std::int64_t turn = std::max<std::int64_t>(1, options.distance / options.step);
    for (std::int64_t place = 0; place <= 2 * turn; ++place) {
      const std::int64_t steps = place <= turn ? place : 2 * turn - place;
      for (Drive& drive : drives) {
        if (made.cases.size() - begin >= options.cases) {
          gap(name, fmt::format("ended at {} cases: --cases allows no more", options.cases));
          return;
        }
        const bool below = drive.atom->relation == Relation::Unequal && place % 2 == 1;
        drive1(drive, steps, below);
      }
    }
  }

  void drive1(Drive& drive, std::int64_t steps, bool below) {
    const auto far = mul(drive.unit, Rational::of(steps));
    auto value = far ? tbem::add(drive.nearest, *far) : std::nullopt;
    if (value && below) value = mul(*value, Rational::of(-1));
    if (!value || std::find(drive.unreachable.begin(), drive.unreachable.end(), *value) != drive.unreachable.end()) return;
    Wanted wanted = drive.wanted;
    wanted.zero = pool.make(ExprOp::Sub, drive.margin, pool.constant(*value));
    std::optional<Point> point = sampler.find(wanted, &drive.at);
    if (!point) {
      drive.unreachable.push_back(*value);
      return;
    }
    const bool equal = drive.atom->relation == Relation::Equal;
    drive.at = std::move(*point);
    for (int turn = 0; turn < kRounds; ++turn) {  // drawn again where there is such a case already
      drive.at = sampler.wander(wanted, std::move(drive.at), kMoves);
      if (add(TestCase::Kind::Vibration, drive.at, pool.str(drive.atom->expr), equal ? Rational{} : *value)) return;
    }
  }

  /// Beside the boundaries of a guard, where `pre` holds: another scenario, or none.
  void neighbours(const Scenario& scenario, const Point& seed, const std::string& name) {
    for (const Conjunction& conjunction : split(scenario.guard, name)) {
      for (const Predicate& atom : conjunction) outside(with({model.pre}), conjunction, atom, seed);
    }
  }

  /// The conditions by which a definition tells inputs apart, each once true and once false; what a floor cuts off, and nothing.
  void branches(const Scenario& scenario, const std::vector<ExprId>& test, const Point& seed) {
    for (const ExprId condition : conditionsIn(scenario.definition)) {
      for (const ExprId side : {condition, isNot(condition)}) {
        const Wanted wanted{joined(test, {side}), sema::kNoExpr};
        std::optional<Point> point = sampler.find(wanted, &seed);
        if (point) add(TestCase::Kind::Branch, sampler.wander(wanted, std::move(*point), kMoves), pool.str(side), {});
      }
    }
  }

  std::vector<ExprId> conditionsIn(ExprId definition) {
    std::vector<ExprId> found;
    for (const ExprId id : pool.cone(definition)) {
      const ExprNode node = pool[id];
      ExprId condition = sema::kNoExpr;
      if (node.op == ExprOp::Select)
        condition = node.a;
      else if (node.op == ExprOp::Min || node.op == ExprOp::Max)
        condition = pool.make(ExprOp::LessEqual, node.a, node.b);
      else if (node.op == ExprOp::FloorDiv || node.op == ExprOp::CeilDiv || node.op == ExprOp::Mod)
        condition = pool.make(ExprOp::Equal, pool.make(ExprOp::Mod, node.a, node.b), pool.constant(0));
      if (condition != sema::kNoExpr && !pool.constantValue(condition) && !model.mentionsOutputs(condition))
        found.push_back(condition);
    }
    return found;
  }

  // ---- On the wrong side ----------------------------------------------------------------------------------------------

  void makeRefused() {
    const std::string name = "cases to be refused";
    std::size_t begin = made.cases.size();
    for (const Conjunction& conjunction : split(model.pre, name)) {
      const Wanted wanted{joined(with({model.pre}), exprsOf(conjunction)), sema::kNoExpr};
      std::optional<Point> seed = sampler.find(wanted, nullptr);
      if (!seed) continue;
      for (int round = 0; round < kRounds; ++round) {
        *seed = sampler.wander(wanted, std::move(*seed), kSeedMoves);
        for (const Predicate& atom : conjunction) {
          if (made.cases.size() - begin >= options.cases) {
            gap(name, fmt::format("ended at {} cases: --cases allows no more", options.cases));
            return;
          }
          outside(with({isNot(model.pre)}), conjunction, atom, *seed);
        }
      }
    }
  }

  /// Cases at which `context` holds and the atom does not, next to its boundary; what else the conjunction says is kept, as far
  /// as that can be.
  void outside(const std::vector<ExprId>& context, const Conjunction& conjunction, const Predicate& atom, const Point& seed) {
    const std::vector<ExprId> kept = exprsOf(conjunction, &atom);
    const std::vector<SymbolId> symbols = pool.symbolsOf(atom.expr);
    std::vector<ExprId> apart;
    for (const ExprId one : kept) {
      const std::vector<SymbolId> other = pool.symbolsOf(one);
      const bool shares = std::any_of(other.begin(), other.end(),
                                      [&](SymbolId s) { return std::find(symbols.begin(), symbols.end(), s) != symbols.end(); });
      if (!shares) apart.push_back(one);
    }
    const std::vector<ExprId> base = joined(context, {isNot(atom.expr)});
    for (const std::optional<Rational>& distance : wrongDistances(atom)) {
      const auto key = std::make_pair(joined(context, {atom.expr}), distance ? distance->str() : std::string());
      if (unreachable.count(key) != 0) continue;
      bool found = false;
      for (const std::vector<ExprId>& others : {kept, apart, std::vector<ExprId>{}}) {
        Wanted wanted{joined(base, others), sema::kNoExpr};
        if (distance) wanted.zero = pool.make(ExprOp::Sub, marginOf(atom), pool.constant(*distance));
        std::optional<Point> point = sampler.find(wanted, &seed);
        if (!point) continue;
        add(TestCase::Kind::Outside, sampler.wander(wanted, std::move(*point), kMoves), pool.str(atom.expr), distance);
        found = true;
        break;
      }
      if (!found) unreachable.insert(key);
    }
  }

  std::vector<std::optional<Rational>> wrongDistances(const Predicate& atom) const {
    if (isOfWords(atom)) return {std::nullopt};
    const bool whole = pool.isWhole(atom.left) && pool.isWhole(atom.right);
    const Rational step = whole ? Rational::of(options.step) : Rational::make(options.step, 8).value_or(Rational::of(1));
    const Rational first = whole ? Rational::of(1) : step;
    const auto minus = [](const Rational& value) { return mul(value, Rational::of(-1)); };
    const auto second = tbem::add(first, step);
    switch (atom.relation) {
      case Relation::LessEqual:
        return {minus(first), second ? minus(*second) : second};
      case Relation::Less:
        return {Rational{}, minus(step)};
      case Relation::Equal:
        return {first, minus(first), std::nullopt};  // and anywhere: remainders that other divisors share
      case Relation::Unequal:
        break;
    }
    return {Rational{}};
  }

  ProcessModel& model;
  sema::ExprPool& pool;
  const std::vector<Scenario>& scenarios;
  const TestOptions& options;
  std::vector<SymbolId> inputs;
  Sampler sampler;
  std::optional<Points> conditions;
  std::set<std::vector<std::pair<std::int64_t, std::int64_t>>> known;
  std::set<std::pair<std::vector<ExprId>, std::string>> unreachable;
  TestSuite made;
};

}  // namespace

TestSuite makeTests(ProcessModel& model, const std::vector<Scenario>& scenarios, const TestOptions& options) {
  return Maker(model, scenarios, options).run();
}

}  // namespace tbem::spec
