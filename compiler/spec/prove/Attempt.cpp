#include "compiler/spec/prove/Attempt.h"

#include "compiler/support/Random.h"

#include <algorithm>
#include <array>

namespace tbem::spec {

namespace {
constexpr std::array<std::int64_t, 12> kOffsets = {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 223};
}  // namespace

Attempt::Attempt(sema::ExprPool& pool, std::vector<Domain> given, const ProofLimits& limits, const Goal& goal)
    : pool(pool), domains(std::move(given)), limits(limits) {
  domains.resize(pool.symbolCount());
  std::vector<ExprId> roots = goal.hypotheses;
  roots.push_back(goal.claim);
  for (const ExprId root : roots) {
    for (const SymbolId symbol : pool.symbolsOf(root)) {
      if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) symbols.push_back(symbol);
    }
  }
  std::sort(symbols.begin(), symbols.end());
  evaluation = std::make_unique<Evaluation>(pool, goal);
  spend(Work::kOfGoal + Work::kOfNormalNode * evaluation->nodes());
  std::vector<ExprId> facts;
  for (const ExprId one : goal.hypotheses) {
    facts.push_back(definedness(pool, one));
    facts.push_back(one);
  }
  const ExprId wanted = pool.make(sema::ExprOp::And, definedness(pool, goal.claim), goal.claim);
  normal = std::make_unique<Normalizer>(pool, domains);
  for (const ExprId fact : facts) normal->assume(normal->formula(fact));
  claim = normal->simplify(normal->formula(wanted));
}

void Attempt::spend(std::uint64_t units) const {
  if (limits.work != nullptr) limits.work->spend(units);
}

bool Attempt::tryAlone() {
  if (!normal->failed()) {
    if (normal->contradiction()) {
      proof.verdict = Verdict::Vacuous;
      return true;
    }
    if (claim.isTrue()) {
      proof.verdict = Verdict::Proved;
      return true;
    }
  }
  if (enumerate()) return true;
  if (sample(false)) return true;
  if (!normal->failed()) return false;
  proof.reason = "its numbers leave 64 bits";
  return true;
}

// ---- Points -----------------------------------------------------------------------------------------------------------

bool Attempt::enumerate() {
  std::vector<std::vector<Rational>> axes;
  std::uint64_t count = 1;
  for (const SymbolId symbol : symbols) {
    Domain domain = domains[static_cast<std::size_t>(symbol)];
    if (domain.levels.empty() && !normal->failed() && !normal->isReplaced(symbol)) {
      const Interval& range = normal->rangeOf(symbol);
      if (range.low && range.low->isInt()) domain.low = range.low->num;
      if (range.high && range.high->isInt()) domain.high = range.high->num;
    }
    const auto values = domain.values(limits.points);
    if (!values || values->empty()) return false;
    count *= values->size();
    if (count > limits.points) return false;
    axes.push_back(*values);
  }
  std::vector<std::optional<Rational>> values(pool.symbolCount());
  std::vector<std::size_t> at(axes.size(), 0);
  bool inside = false;
  for (std::uint64_t point = 0; point < count; ++point) {
    for (std::size_t i = 0; i < axes.size(); ++i) values[static_cast<std::size_t>(symbols[i])] = axes[i][at[i]];
    spend(evaluation->nodes());
    switch (evaluation->at(values)) {
      case Evaluation::Outcome::Fails:
        refute(values, Method::Enumeration);
        proof.points = count;
        return true;
      case Evaluation::Outcome::NoValue:
        return false;
      case Evaluation::Outcome::Holds:
        inside = true;
        break;
      case Evaluation::Outcome::Outside:
        break;
    }
    for (std::size_t i = axes.size(); i-- > 0;) {
      if (++at[i] < axes[i].size()) break;
      at[i] = 0;
    }
  }
  satisfiable = inside;
  proof.verdict = inside ? Verdict::Proved : Verdict::Vacuous;
  proof.method = Method::Enumeration;
  proof.points = count;
  return true;
}

/// Values near the ends of what a symbol may take, the simplest first.
std::vector<Rational> Attempt::candidates(std::size_t symbol) const {
  const Domain& domain = symbol < domains.size() ? domains[symbol] : normal->allDomains()[symbol];
  if (!domain.levels.empty()) return domain.levels;
  const Interval& range = normal->allRanges()[symbol];
  std::vector<Rational> list;
  const auto offer = [&](const std::optional<Rational>& value) {
    if (!value || (range.low && compare(*value, *range.low) < 0) || (range.high && compare(*value, *range.high) > 0)) return;
    if (std::find(list.begin(), list.end(), *value) == list.end()) list.push_back(*value);
  };
  for (const std::int64_t offset : kOffsets) {
    if (range.low)
      offer(add(*range.low, Rational::of(offset)));
    else if (range.high)
      offer(sub(*range.high, Rational::of(offset)));
    else
      offer(Rational::of(offset));
    if (!range.low && !range.high) offer(Rational::of(-offset));
  }
  offer(range.high);
  if (domain.isReal) offer(range.low ? add(*range.low, {1, 2}) : std::optional<Rational>({1, 2}));
  return list;
}

/// Whether the claim fails at these values of the symbols that are not replaced; the others are filled in.
bool Attempt::fails(std::vector<std::optional<Rational>>& values) {
  spend(evaluation->nodes());
  if (!normal->complete(values)) return false;
  for (const SymbolId symbol : symbols) {
    const auto s = static_cast<std::size_t>(symbol);
    if (!values[s] || !domains[s].contains(*values[s])) return false;
  }
  const Evaluation::Outcome outcome = evaluation->at(std::span(values).first(pool.symbolCount()));
  satisfiable = satisfiable || outcome == Evaluation::Outcome::Holds || outcome == Evaluation::Outcome::Fails;
  return outcome == Evaluation::Outcome::Fails;
}

bool Attempt::sample(bool forVacuity) {
  if (normal->failed()) return false;
  std::vector<std::size_t> free;
  std::vector<std::vector<Rational>> axes;
  std::vector<bool> wanted(normal->allDomains().size(), false);
  for (const SymbolId symbol : symbols) wanted[static_cast<std::size_t>(symbol)] = true;
  std::uint64_t count = 1;
  for (std::size_t s = 0; s < wanted.size(); ++s) {
    const bool isFresh = s >= normal->firstFresh();
    if ((!wanted[s] && !isFresh) || normal->isReplaced(static_cast<SymbolId>(s))) continue;
    free.push_back(s);
    axes.push_back(candidates(s));
    if (axes.back().empty()) return false;
    count = std::min<std::uint64_t>(count * axes.back().size(), std::uint64_t{1} << 40);
  }
  const bool all = count <= limits.samples;
  for (std::uint64_t point = 0; point < (all ? count : limits.samples); ++point) {
    std::vector<std::optional<Rational>> values(wanted.size());
    std::uint64_t rest = point;
    for (std::size_t i = 0; i < free.size(); ++i) {
      std::size_t pick = 0;
      if (all) {
        pick = rest % axes[i].size();
        rest /= axes[i].size();
      } else {  // small ones more often: the smaller of two draws
        const std::uint64_t draw = Random(point * 131 + i).bits();
        pick = std::min((draw & 0xFFFFFFFFU) % axes[i].size(), (draw >> 32) % axes[i].size());
      }
      values[free[i]] = axes[i][pick];
    }
    if (fails(values)) {
      if (forVacuity) return true;
      shrink(values);
      refute(values, Method::Sampling);
      return true;
    }
    if (forVacuity && satisfiable) return true;
  }
  return false;
}

/// Simpler values that still refute.
void Attempt::shrink(std::vector<std::optional<Rational>>& values) {
  for (int round = 0; round < 2; ++round) {
    for (std::size_t s = 0; s < values.size(); ++s) {
      if (!values[s] || normal->isReplaced(static_cast<SymbolId>(s))) continue;
      for (const Rational& simpler : candidates(s)) {
        if (simpler == *values[s]) break;
        std::vector<std::optional<Rational>> trial = values;
        trial[s] = simpler;
        if (!fails(trial)) continue;
        values = std::move(trial);
        break;
      }
    }
  }
}

void Attempt::refute(const std::vector<std::optional<Rational>>& values, Method method) {
  proof.verdict = Verdict::Refuted;
  proof.method = method;
  for (const SymbolId symbol : symbols) {
    if (values[static_cast<std::size_t>(symbol)]) proof.values.emplace_back(symbol, *values[static_cast<std::size_t>(symbol)]);
  }
}

// ---- Z3 ---------------------------------------------------------------------------------------------------------------

Question Attempt::question(bool relaxed) const {
  Question made;
  made.context = normal.get();
  made.facts = normal->facts();
  made.facts.push_back(normal->negated(claim));
  made.ranges = normal->allRanges();
  made.relaxed = relaxed;
  return made;
}

bool Attempt::confirm(std::vector<std::optional<Rational>> values) {
  values.resize(normal->allDomains().size());
  for (std::size_t s = 0; s < values.size(); ++s) {
    if (values[s] || normal->isReplaced(static_cast<SymbolId>(s))) continue;
    const std::vector<Rational> any = candidates(s);
    if (!any.empty()) values[s] = any.front();
  }
  if (!fails(values)) return false;
  shrink(values);
  refute(values, Method::Solver);
  return true;
}

bool Attempt::take(const Answer& answer, bool relaxed) {
  spend(Work::kOfSolverStep * answer.steps);
  switch (answer.kind) {
    case Answer::Kind::None:
      proof.verdict = Verdict::Proved;
      proof.method = Method::Solver;
      return true;
    case Answer::Kind::Found:
      if (confirm(answer.values)) return true;
      if (!relaxed) proof.reason = "values that the solver gives do not bear evaluation";
      return false;
    case Answer::Kind::Unknown:
      proof.reason = answer.reason == Work::kReason ? answer.reason : "the solver gives up: " + answer.reason;
      return false;
  }
  return false;
}

std::optional<Question> Attempt::vacuity() {
  if (proof.verdict != Verdict::Proved || satisfiable || normal->facts().empty()) return std::nullopt;
  if (sample(true) || satisfiable) return std::nullopt;
  Question made;
  made.context = normal.get();
  made.facts = normal->facts();
  made.ranges = normal->allRanges();
  return made;
}

void Attempt::takeVacuity(const Answer& answer) {
  spend(Work::kOfSolverStep * answer.steps);
  if (answer.kind == Answer::Kind::None) proof.verdict = Verdict::Vacuous;
}

std::uint64_t Attempt::cases(std::vector<SymbolId>& list) const {
  std::uint64_t count = 1;
  for (const SymbolId symbol : symbols) {
    const std::size_t levels = domains[static_cast<std::size_t>(symbol)].levels.size();
    if (levels < 2) continue;
    list.push_back(symbol);
    count = std::min<std::uint64_t>(count * levels, std::uint64_t{1} << 40);
  }
  return list.empty() ? 0 : count;
}

}  // namespace tbem::spec
