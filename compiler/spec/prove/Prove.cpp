#include "compiler/spec/prove/Prove.h"

#include "compiler/spec/prove/Attempt.h"

#include <algorithm>

namespace tbem::spec {

const char* word(Verdict verdict) {
  switch (verdict) {
    case Verdict::Proved:
      return "proved";
    case Verdict::Refuted:
      return "refuted";
    case Verdict::Vacuous:
      return "vacuous";
    case Verdict::Residual:
      return "residual";
  }
  return "";
}

const char* word(Method method) {
  switch (method) {
    case Method::Rules:
      return "rules";
    case Method::Enumeration:
      return "enumeration";
    case Method::Sampling:
      return "values";
    case Method::Solver:
      return "solver";
  }
  return "";
}

namespace {

using Attempts = std::vector<std::unique_ptr<Attempt>>;

/// Asks as far as the work for all goals goes.
std::vector<Answer> askWithin(const std::vector<Question>& questions, const ProofLimits& limits) {
  SolverLimits solver = limits.solver;
  if (limits.work != nullptr) {
    solver.allSteps = limits.work->remaining() / Work::kOfSolverStep;
    solver.waiting = [work = limits.work] { work->tell(); };
  }
  return ask(questions, solver);
}

/// Asks about all open attempts; those that stay open.
std::vector<std::size_t> askAbout(const Attempts& attempts, const std::vector<std::size_t>& open, bool relaxed,
                                  const ProofLimits& limits) {
  std::vector<Question> questions;
  for (const std::size_t i : open) questions.push_back(attempts[i]->question(relaxed));
  const std::vector<Answer> answers = askWithin(questions, limits);
  std::vector<std::size_t> left;
  for (std::size_t k = 0; k < open.size(); ++k) {
    if (!attempts[open[k]]->take(answers[k], relaxed)) left.push_back(open[k]);
  }
  return left;
}

/// Each combination of levels is a goal of its own. What they say together; the attempt's own proof, where there are none, or too
/// many.
Proof proveCases(sema::ExprPool& pool, const std::vector<Domain>& domains, const ProofLimits& limits, const Goal& goal,
                 const Attempt& attempt) {
  const Proof& whole = attempt.proof;
  std::vector<SymbolId> symbols;
  const std::uint64_t count = attempt.cases(symbols);
  if (count == 0 || count > limits.cases) return whole;
  ProofLimits inner = limits;
  inner.cases = 0;
  bool proved = true, inside = false;
  for (std::uint64_t one = 0; one < count; ++one) {
    std::vector<Domain> fixed = domains;
    std::uint64_t rest = one;
    for (const SymbolId symbol : symbols) {
      std::vector<Rational>& levels = fixed[static_cast<std::size_t>(symbol)].levels;
      levels = {levels[rest % domains[static_cast<std::size_t>(symbol)].levels.size()]};
      rest /= domains[static_cast<std::size_t>(symbol)].levels.size();
    }
    Prover prover(pool, std::move(fixed), inner);
    Proof found = prover.prove(goal);
    if (found.verdict == Verdict::Refuted) return found;
    proved = proved && found.verdict != Verdict::Residual;
    inside = inside || found.verdict == Verdict::Proved;
    if (!proved) return whole;
  }
  Proof made = whole;
  made.verdict = inside ? Verdict::Proved : Verdict::Vacuous;
  made.method = Method::Solver;
  made.reason.clear();
  return made;
}

}  // namespace

Prover::Prover(sema::ExprPool& pool, std::vector<Domain> given, ProofLimits limits)
    : pool(pool), domains(std::move(given)), limits(limits) {}

std::vector<Proof> Prover::prove(const std::vector<Goal>& goals) {
  domains.resize(pool.symbolCount());
  Attempts attempts;
  std::vector<std::size_t> open, levelled;
  for (std::size_t i = 0; i < goals.size(); ++i) {
    if (limits.work != nullptr && limits.work->isSpent()) {
      attempts.push_back(nullptr);
      continue;
    }
    attempts.push_back(std::make_unique<Attempt>(pool, domains, limits, goals[i]));
    if (attempts.back()->tryAlone()) continue;
    std::vector<SymbolId> symbols;
    (attempts.back()->cases(symbols) == 0 ? open : levelled).push_back(i);
  }
  // The relaxed question first; what it leaves open is asked exactly.
  const std::vector<std::size_t> exact = askAbout(attempts, levelled, true, limits);
  open.insert(open.end(), exact.begin(), exact.end());
  std::sort(open.begin(), open.end());
  for (const std::size_t i : askAbout(attempts, open, false, limits)) {
    attempts[i]->proof = proveCases(pool, domains, limits, goals[i], *attempts[i]);
  }
  std::vector<Question> questions;
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; limits.vacuity && i < goals.size(); ++i) {
    std::optional<Question> question = attempts[i] != nullptr ? attempts[i]->vacuity() : std::nullopt;
    if (question) {
      questions.push_back(std::move(*question));
      asked.push_back(i);
    }
  }
  const std::vector<Answer> answers = askWithin(questions, limits);
  for (std::size_t k = 0; k < asked.size(); ++k) attempts[asked[k]]->takeVacuity(answers[k]);
  std::vector<Proof> proofs;
  for (const auto& attempt : attempts) {
    if (attempt == nullptr) {
      proofs.emplace_back().reason = Work::kReason;
      continue;
    }
    proofs.push_back(attempt->proof);
    if (proofs.back().verdict != Verdict::Residual) proofs.back().reason.clear();
  }
  return proofs;
}

}  // namespace tbem::spec
