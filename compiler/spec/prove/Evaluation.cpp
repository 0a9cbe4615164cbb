#include "compiler/spec/prove/Attempt.h"

namespace tbem::spec {

namespace {
std::vector<ExprId> rootsOf(const Goal& goal) {
  std::vector<ExprId> roots = goal.hypotheses;
  roots.push_back(goal.claim);
  return roots;
}
bool isBeyond(sema::EvalError error) { return error == sema::EvalError::Overflow || error == sema::EvalError::Unassigned; }
}  // namespace

Evaluation::Evaluation(const sema::ExprPool& from, const Goal& goal) : points(from, rootsOf(goal)) {}

Evaluation::Outcome Evaluation::at(std::span<const std::optional<Rational>> values) {
  points.at(values);
  const std::size_t claim = points.size() - 1;
  for (std::size_t i = 0; i < claim; ++i) {
    if (isBeyond(points.errorOf(i))) return Outcome::NoValue;
    if (!points.holds(i)) return Outcome::Outside;
  }
  if (isBeyond(points.errorOf(claim))) return Outcome::NoValue;
  return points.holds(claim) ? Outcome::Holds : Outcome::Fails;
}

}  // namespace tbem::spec
