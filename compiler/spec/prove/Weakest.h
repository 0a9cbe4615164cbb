// The weakest condition, in a program's own words, under which something holds.
#pragma once

#include "compiler/spec/prove/Prove.h"

#include <optional>
#include <string>
#include <vector>

namespace tbem::spec {

/// A condition that makes a claim true.
struct Remedy {
  ExprId condition = sema::kNoExpr;
  std::string text;      ///< "h >= 33 and h mod 32 = 0"
  bool isExact = false;  ///< where it is false the claim is too
};

/// Of a claim over one symbol: `s >= c`, `s <= c`, `s mod m = r`, found by looking at the first thousand values and then proved
/// for all; of others, and where none fits, the claim itself. Conjunctions are taken part by part; a part that the hypotheses or
/// the parts before it give is left out. Nothing where no part says more than `true`, or one cannot be written in a line, or
/// `work` (ProofLimits) is spent.
std::optional<Remedy> remedyFor(sema::ExprPool& pool, const std::vector<Domain>& domains, const std::vector<ExprId>& hypotheses,
                                const std::vector<ExprId>& claims, Work* work = nullptr);

}  // namespace tbem::spec
