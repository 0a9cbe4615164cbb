// Proofs: does a claim follow from hypotheses for all values that symbols may take?
//
// In this order: normal forms, intervals and divisibility; every combination of values, where what the claim depends on has
// finitely many; small values that refute; Z3 (Solver.h), with finitely many levels relaxed to the whole numbers between them
// first, then exactly, then one by one. All steps are deterministic: the verdict is the same on every machine.
#pragma once

#include "compiler/sema/Symbolic.h"
#include "compiler/spec/prove/Solver.h"
#include "compiler/spec/prove/Work.h"
#include "compiler/spec/size/Domain.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tbem::spec {

/// `claim` wherever all `hypotheses` are true. A hypothesis without a value (a division by 0) does not hold; a claim without a
/// value is false.
struct Goal {
  std::vector<ExprId> hypotheses;
  ExprId claim = sema::kNoExpr;
};

enum class Verdict : std::uint8_t {
  Proved,
  Refuted,  ///< by values that evaluation of the very expressions confirmed
  Vacuous,  ///< nothing meets the hypotheses
  Residual  ///< neither; has to be checked at run time
};
enum class Method : std::uint8_t { Rules, Enumeration, Sampling, Solver };

struct Proof {
  Verdict verdict = Verdict::Residual;
  Method method = Method::Rules;
  std::uint64_t points = 0;  ///< Enumeration: combinations that were evaluated
  /// Refuted: values of the symbols in hypotheses and claim, in order of the pool's symbols.
  std::vector<std::pair<SymbolId, Rational>> values;
  std::string reason;  ///< Residual: why
};
const char* word(Verdict verdict);
const char* word(Method method);

struct ProofLimits {
  std::uint64_t points = 100'000;  ///< combinations up to which all are evaluated
  unsigned samples = 1'500;
  unsigned cases = 128;  ///< combinations of levels up to which the solver is asked one by one
  /// Tell Vacuous from Proved where only a question to the solver does; false: both are Proved.
  bool vacuity = true;
  SolverLimits solver;
  /// Of this goal and others together: what comes when it is spent is Residual. nullptr: there is no such limit.
  Work* work = nullptr;
};

/// The usual limits, and those of the command together.
inline ProofLimits limitsWith(Work* work) {
  ProofLimits limits;
  limits.work = work;
  return limits;
}

class Prover {
public:
  /// `domains` by symbol; the pool grows by what proofs need.
  Prover(sema::ExprPool& pool, std::vector<Domain> domains, ProofLimits limits = {});
  /// Verdicts in the order of the goals. What needs Z3 is asked in one process.
  std::vector<Proof> prove(const std::vector<Goal>& goals);
  Proof prove(const Goal& goal) { return prove(std::vector<Goal>{goal}).front(); }
  /// Values that meet all conditions: Refuted with the values, Proved where there are none, or Residual.
  Proof find(std::vector<ExprId> conditions) { return prove(Goal{std::move(conditions), pool.constant(0)}); }

private:
  sema::ExprPool& pool;
  std::vector<Domain> domains;
  ProofLimits limits;
};

/// The condition under which `expr` has a value: no division by 0, no negative exponent, where it is reached.
ExprId definedness(sema::ExprPool& pool, ExprId expr);

}  // namespace tbem::spec
