#include "compiler/spec/network/Sizes.h"

#include <algorithm>
#include <map>

namespace tbem::spec {

namespace {

using sema::ExprOp;

/// Whether one more follows from these is no longer asked: each question costs up to the solver's limit of steps.
constexpr std::size_t kMaxBreaches = 8;
/// Refuted conditions beyond which no `pre` is looked for.
constexpr std::size_t kMaxMended = 512;

class SizeProver {
public:
  SizeProver(const graph::Structure& structure, std::vector<Domain> domains, SrcRange call, Work* work)
      : pool(structure.pool), domains(std::move(domains)), limits(limitsWith(work)) {
    for (const graph::Obligation& one : structure.graph.obligations) {
      const bool isPromise = one.kind == graph::Obligation::Kind::Post || one.kind == graph::Obligation::Kind::RequiresOfResult;
      if (one.use == call && !isPromise) given.push_back(one.condition);
    }
    for (Duty& duty : dutiesOf(structure)) {
      if (std::find(given.begin(), given.end(), duty.expr) == given.end()) open.push_back({claimOf(duty), std::move(duty)});
    }
  }

  SizeProof run() {
    SizeProof made;
    made.conditions = open.size();
    if (Prover(pool, domains, limits).find(given).verdict == Verdict::Proved) {
      made.verdict = Verdict::Vacuous;
      return made;
    }
    const std::vector<Proof> proofs = prove(given);
    std::vector<Claim> refuted;
    std::vector<Proof> reasons;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const Duty& duty = open[i].duty;
      if (proofs[i].verdict == Verdict::Residual)
        made.doubts.push_back({duty.subject, textOf(pool, duty), duty.use, proofs[i].reason});
      if (proofs[i].verdict != Verdict::Refuted) continue;
      refuted.push_back(open[i]);
      reasons.push_back(proofs[i]);
    }
    const std::vector<ExprId> roots = rootsOf(refuted, reasons, made);
    made.verdict = !made.breaches.empty() ? Verdict::Refuted : made.doubts.empty() ? Verdict::Proved : Verdict::Residual;
    if (made.verdict == Verdict::Refuted) made.remedy = remedy(made.unasked == 0 ? roots : lastFirst(refuted));
    return made;
  }

private:
  struct Claim {
    ExprId claim{};
    Duty duty;
  };
  sema::ExprPool pool;
  std::vector<Domain> domains;
  ProofLimits limits;
  std::vector<ExprId> given;
  std::vector<Claim> open;

  ExprId claimOf(const Duty& duty) {
    if (!duty.isDimension) return duty.expr;
    const ExprId positive = pool.make(ExprOp::LessEqual, pool.constant(1), duty.expr);
    if (pool.isWhole(duty.expr)) return positive;
    const ExprId whole = pool.make(ExprOp::Equal, pool.make(ExprOp::Mod, duty.expr, pool.constant(1)), pool.constant(0));
    return pool.make(ExprOp::And, whole, positive);
  }

  std::vector<Proof> prove(const std::vector<ExprId>& hypotheses) {
    std::vector<Goal> goals;
    for (const Claim& one : open) goals.push_back({hypotheses, one.claim});
    return Prover(pool, domains, withoutVacuity()).prove(goals);
  }

  /// Whether anything meets the hypotheses is asked once, by `find`: of all claims it would be the same question again.
  ProofLimits withoutVacuity() const {
    ProofLimits without = limits;
    without.vacuity = false;
    return without;
  }

  /// Those of the refuted claims that do not follow from the ones before them.
  std::vector<ExprId> rootsOf(const std::vector<Claim>& refuted, const std::vector<Proof>& reasons, SizeProof& made) {
    std::vector<ExprId> with = given, roots;
    for (std::size_t i = 0; i < refuted.size(); ++i) {
      if (roots.size() == kMaxBreaches) {
        made.unasked = refuted.size() - i;
        break;
      }
      const Duty& duty = refuted[i].duty;
      Proof reason = reasons[i];
      if (!roots.empty()) {
        const Proof again = Prover(pool, domains, withoutVacuity()).prove(Goal{with, refuted[i].claim});
        if (again.verdict == Verdict::Proved || again.verdict == Verdict::Vacuous) continue;
        if (again.verdict == Verdict::Refuted) reason = again;
      }
      SizeBreach breach{duty.subject, textOf(pool, duty), duty.range, duty.use, {}};
      for (const auto& [symbol, value] : reason.values) breach.values.emplace_back(pool[symbol].name, value);
      made.breaches.push_back(std::move(breach));
      with.push_back(refuted[i].claim);
      roots.push_back(refuted[i].claim);
    }
    return roots;
  }

  /// Claims about one size each, from the last on, then the others: along a chain of layers the last asks most, so that one
  /// bound a size gives all before it without a question to the solver.
  std::vector<ExprId> lastFirst(const std::vector<Claim>& refuted) const {
    std::map<SymbolId, std::vector<ExprId>> ofOne;
    std::vector<ExprId> ofMany, all;
    for (auto claim = refuted.rbegin(); claim != refuted.rend(); ++claim) {
      const std::vector<SymbolId> symbols = pool.symbolsOf(claim->claim);
      (symbols.size() == 1 ? ofOne[symbols.front()] : ofMany).push_back(claim->claim);
    }
    for (const auto& [symbol, claims] : ofOne) all.insert(all.end(), claims.begin(), claims.end());
    all.insert(all.end(), ofMany.rbegin(), ofMany.rend());
    return all;
  }

  std::optional<Remedy> remedy(const std::vector<ExprId>& roots) {
    if (roots.size() > kMaxMended) return std::nullopt;
    std::optional<Remedy> found = remedyFor(pool, domains, given, roots, limits.work);
    if (!found) return std::nullopt;
    std::vector<ExprId> with = given;
    with.push_back(found->condition);
    if (Prover(pool, domains, limits).find(with).verdict != Verdict::Refuted) return std::nullopt;  // it may leave nothing
    for (const Proof& proof : prove(with)) {
      if (proof.verdict == Verdict::Refuted) return std::nullopt;
    }
    return found;
  }
};

}  // namespace

SizeProof proveSizes(const graph::Structure& structure, std::vector<Domain> domains, SrcRange call, Work* work) {
  return SizeProver(structure, std::move(domains), call, work).run();
}

}  // namespace tbem::spec
