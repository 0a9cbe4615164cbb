// One goal on its way to a verdict. Internal to this folder.
#pragma once

#include "compiler/spec/prove/Prove.h"
#include "compiler/spec/size/Points.h"

#include <memory>
#include <optional>

namespace tbem::spec {

/// Hypotheses and claim of a goal in a pool of their own, evaluated at points.
class Evaluation {
public:
  Evaluation(const sema::ExprPool& from, const Goal& goal);
  enum class Outcome : std::uint8_t { Outside, Holds, Fails, NoValue };
  /// Outside: a hypothesis is false. NoValue: numbers beyond 64 bits.
  Outcome at(std::span<const std::optional<Rational>> values);
  std::size_t nodes() const { return points.nodes(); }

private:
  Points points;  ///< the hypotheses, then the claim
};

class Attempt {
public:
  Attempt(sema::ExprPool& pool, std::vector<Domain> domains, const ProofLimits& limits, const Goal& goal);

  /// Everything but Z3. True: there is a verdict.
  bool tryAlone();
  Question question(bool relaxed) const;
  /// Takes Z3's answer; true: there is a verdict.
  bool take(const Answer& answer, bool relaxed);
  /// Where the claim was shown: whether anything meets the hypotheses; a question if that is not known yet.
  std::optional<Question> vacuity();
  void takeVacuity(const Answer& answer);
  /// Symbols with several levels on which the goal depends, and so how many cases there are; 0: none.
  std::uint64_t cases(std::vector<SymbolId>& symbols) const;
  Proof proof;

private:
  void spend(std::uint64_t units) const;
  bool enumerate();
  bool sample(bool forVacuity);
  bool confirm(std::vector<std::optional<Rational>> values);
  void shrink(std::vector<std::optional<Rational>>& values);
  bool fails(std::vector<std::optional<Rational>>& values);
  std::vector<Rational> candidates(std::size_t symbol) const;
  void refute(const std::vector<std::optional<Rational>>& values, Method method);

  sema::ExprPool& pool;
  std::vector<Domain> domains;
  const ProofLimits& limits;
  std::unique_ptr<Normalizer> normal;
  std::unique_ptr<Evaluation> evaluation;
  std::vector<SymbolId> symbols;  ///< of hypotheses and claim
  Formula claim;
  bool satisfiable = false;  ///< a point that meets the hypotheses was seen
};

}  // namespace tbem::spec
