#include "runtime/cudnn/Choice.h"

#include <functional>

namespace tbem::cudnn {

bool mayTake(const Problem& problem, const Engine& engine, const Policy& policy) {
  if (!policy.nondeterministic && engine.has(Numerical::Nondeterministic)) return false;
  const bool rounds = engine.has(Numerical::TensorCore) || engine.has(Numerical::DownConvertInputs);
  return policy.tf32 || dtypeOf(problem) != TBEM_F32 || !rounds;
}

std::optional<std::size_t> first(const Problem& problem, std::span<const Engine> engines, const Policy& policy) {
  for (std::size_t i = 0; i < engines.size(); ++i) {
    if (engines[i].workspace <= policy.limit && mayTake(problem, engines[i], policy)) return i;
  }
  return std::nullopt;
}

namespace {

/// Of those that may be taken the one whose workspace comes before all others', the earlier of equals.
template <class Before>
std::optional<std::size_t> extreme(const Problem& problem, std::span<const Engine> engines, const Policy& policy, Before before) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    if (mayTake(problem, engines[i], policy) && (!best || before(engines[i].workspace, engines[*best].workspace))) best = i;
  }
  return best;
}

}  // namespace

std::optional<std::size_t> smallest(const Problem& problem, std::span<const Engine> engines, const Policy& policy) {
  return extreme(problem, engines, policy, std::less<>());
}

std::optional<std::size_t> largest(const Problem& problem, std::span<const Engine> engines, const Policy& policy) {
  return extreme(problem, engines, policy, std::greater<>());
}

}  // namespace tbem::cudnn
