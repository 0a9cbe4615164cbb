#include "compiler/spec/tests/Sampler.h"

#include <algorithm>

namespace tbem::spec {

using sema::ExprOp;

namespace {
constexpr unsigned kMoves = 12;         ///< tries to reach a target by moves
constexpr std::int64_t kLargest = 512;  ///< up to which moves double values

ProofLimits searchLimits() {
  ProofLimits limits;
  limits.points = 20'000;
  limits.samples = 200;
  limits.cases = 16;
  limits.solver.steps = 400'000;
  limits.solver.seconds = 10;
  return limits;
}
}  // namespace

/// The conditions at points, and what is to become 0.
class Sampler::Judge {
public:
  Judge(const sema::ExprPool& pool, const Wanted& wanted)
      : conditions(wanted.conditions.size()), hasZero(wanted.zero != sema::kNoExpr), points(pool, rootsOf(wanted)) {
    if (hasZero) symbols = pool.symbolsOf(wanted.zero);
  }
  bool holds(const Point& point) {
    points.at(point);
    for (std::size_t i = 0; i < conditions; ++i) {
      if (!points.holds(i)) return false;
    }
    return !hasZero || isZero();
  }
  /// The value that is to become 0; nothing where it has none.
  std::optional<Rational> distance(const Point& point) {
    points.at(point);
    if (points.errorOf(conditions) != sema::EvalError::None) return std::nullopt;
    return points[conditions];
  }

  const std::size_t conditions;
  const bool hasZero;
  std::vector<SymbolId> symbols;  ///< on which the distance depends

private:
  static std::vector<ExprId> rootsOf(const Wanted& wanted) {
    std::vector<ExprId> roots = wanted.conditions;
    if (wanted.zero != sema::kNoExpr) roots.push_back(wanted.zero);
    return roots;
  }
  bool isZero() const { return points.errorOf(conditions) == sema::EvalError::None && points[conditions].num == 0; }
  Points points;
};

Sampler::Sampler(sema::ExprPool& pool, const std::vector<Domain>& given, std::vector<SymbolId> inputs, std::uint64_t seed)
    : pool(pool), domains(given), inputs(std::move(inputs)), random(seed) {
  domains.resize(pool.symbolCount());
}

// ---- Moves ------------------------------------------------------------------------------------------------------------

/// Another value for a symbol: near its own, or small, and now and then far.
Rational Sampler::propose(SymbolId symbol, const Rational& now) {
  const Domain& domain = domainOf(symbol);
  if (!domain.levels.empty()) return domain.levels[random.below(static_cast<std::uint32_t>(domain.levels.size()))];
  if (domain.isReal && random.below(2) == 0) return Rational::make(random.below(17), 8).value_or(now);
  const std::int64_t floor = domain.low ? *domain.low : domain.high ? *domain.high - 40 : 0;
  const std::int64_t here = floorDiv(now, Rational::of(1)).value_or(now).num;
  std::int64_t value = 0;
  switch (random.below(5)) {
    case 0:
      value = here + static_cast<std::int64_t>(random.below(9)) - 4;
      break;
    case 1:
      value = floor + static_cast<std::int64_t>(random.below(6));
      break;
    case 2:
      value = floor + static_cast<std::int64_t>(random.below(48));
      break;
    case 3:
      value = here >= kLargest / 4 ? here / 2 : here * static_cast<std::int64_t>(2 + random.below(2));
      break;
    default:
      value = domain.low || random.below(2) == 0 ? here / 2 : -here;
      break;
  }
  if (domain.low) value = std::max(value, *domain.low);
  if (domain.high) value = std::min(value, *domain.high);
  return Rational::of(value);
}

/// Changes one symbol so that the distance becomes 0: the secant method, exact on what is linear in it.
bool Sampler::correct(Judge& judge, Point& point, SymbolId symbol) {
  const Domain& domain = domainOf(symbol);
  std::optional<Rational>& value = point[static_cast<std::size_t>(symbol)];
  if (!value) return false;
  const Rational before = *value;
  for (const Rational& level : domain.levels) {
    value = level;
    if (judge.distance(point) == Rational{}) return true;
  }
  value = before;
  if (!domain.levels.empty()) return false;
  for (int turn = 0; turn < 4; ++turn) {
    const std::optional<Rational> here = judge.distance(point);
    if (here && here->num == 0) return domain.contains(*value);
    if (!here) break;
    std::optional<Rational> next;
    for (const std::int64_t by : {1, -1, 7, 32}) {
      const Rational now = *value;
      const std::optional<Rational> there = add(now, Rational::of(by));
      if (!there) break;
      value = there;
      const std::optional<Rational> far = judge.distance(point);
      value = now;
      const std::optional<Rational> slope = far ? sub(*far, *here) : std::nullopt;
      if (!slope || slope->num == 0) continue;
      const std::optional<Rational> steps = mul(*here, Rational::of(-by));
      const std::optional<Rational> change = steps ? div(*steps, *slope) : std::nullopt;
      next = change ? add(now, *change) : std::nullopt;
      break;
    }
    if (!next) break;
    if (!domain.isReal) next = floorDiv(*next, Rational::of(1));
    if (!next || *next == *value || !domain.contains(*next)) break;
    value = next;
  }
  value = before;
  return false;
}

bool Sampler::correctAny(Judge& judge, Point& point, std::optional<SymbolId> but) {
  if (judge.symbols.empty()) return false;
  const std::size_t first = random.below(static_cast<std::uint32_t>(judge.symbols.size()));
  for (std::size_t i = 0; i < judge.symbols.size(); ++i) {
    const SymbolId symbol = judge.symbols[(first + i) % judge.symbols.size()];
    if (symbol != but && correct(judge, point, symbol)) return true;
  }
  return false;
}

/// Tries to reach what is wanted from a point that may not meet it.
std::optional<Point> Sampler::moveTo(Judge& judge, const Point& from) {
  for (unsigned turn = 0; turn < kMoves; ++turn) {
    Point point = from;
    for (unsigned changes = (turn + 2) / 3; changes > 0; --changes) {
      const SymbolId symbol = inputs[random.below(static_cast<std::uint32_t>(inputs.size()))];
      std::optional<Rational>& value = point[static_cast<std::size_t>(symbol)];
      if (value) value = propose(symbol, *value);
    }
    if (judge.hasZero) correctAny(judge, point, std::nullopt);
    if (judge.holds(point)) return point;
  }
  return std::nullopt;
}

Point Sampler::wander(const Wanted& wanted, Point point, unsigned moves) {
  if (inputs.empty()) return point;
  Judge judge(pool, wanted);
  for (unsigned move = 0; move < moves; ++move) {
    Point next = point;
    const SymbolId symbol = inputs[random.below(static_cast<std::uint32_t>(inputs.size()))];
    std::optional<Rational>& value = next[static_cast<std::size_t>(symbol)];
    if (!value) continue;
    value = propose(symbol, *value);
    if (next == point) continue;
    if (!judge.holds(next) && (!judge.hasZero || !correctAny(judge, next, symbol) || !judge.holds(next))) continue;
    point = std::move(next);
  }
  return point;
}

// ---- Proofs -----------------------------------------------------------------------------------------------------------

std::optional<Point> Sampler::prove(const Wanted& wanted, const Point* from, const std::vector<SymbolId>& pinned) {
  std::vector<ExprId> conditions = wanted.conditions;
  if (wanted.zero != sema::kNoExpr) conditions.push_back(pool.make(ExprOp::Equal, wanted.zero, pool.constant(0)));
  for (const SymbolId symbol : pinned) {
    const std::optional<Rational>& value = (*from)[static_cast<std::size_t>(symbol)];
    if (value) conditions.push_back(pool.make(ExprOp::Equal, pool.symbolRef(symbol), pool.constant(*value)));
  }
  const Proof proof = Prover(pool, domains, searchLimits()).find(std::move(conditions));
  open = proof.verdict == Verdict::Residual;
  if (proof.verdict != Verdict::Refuted) return std::nullopt;
  Point point(domains.size());
  for (const SymbolId symbol : inputs) {
    const auto s = static_cast<std::size_t>(symbol);
    const Domain& domain = domains[s];
    point[s] = from != nullptr ? (*from)[s] : std::nullopt;
    if (point[s]) continue;
    const std::int64_t least = domain.low ? *domain.low : domain.high ? std::min<std::int64_t>(*domain.high, 0) : 0;
    point[s] = !domain.levels.empty() ? domain.levels.front() : Rational::of(least);
  }
  for (const auto& [symbol, value] : proof.values) point[static_cast<std::size_t>(symbol)] = value;
  return point;
}

std::optional<Point> Sampler::find(const Wanted& wanted, const Point* from) {
  open = false;
  if (from != nullptr && !inputs.empty()) {
    Judge judge(pool, wanted);
    if (std::optional<Point> point = moveTo(judge, *from)) return point;
    if (judge.hasZero) {  // the others stay
      std::vector<SymbolId> others;
      for (const SymbolId symbol : inputs) {
        if (std::find(judge.symbols.begin(), judge.symbols.end(), symbol) == judge.symbols.end()) others.push_back(symbol);
      }
      if (!others.empty()) {
        if (std::optional<Point> point = prove(wanted, from, others)) return point;
      }
    }
  }
  return prove(wanted, from, {});
}

}  // namespace tbem::spec
