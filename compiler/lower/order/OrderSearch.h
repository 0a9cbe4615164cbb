// Orders of a step's operators that need less memory at once than the one at hand.
//
// Finding the best is NP-hard (Sethi 1975). Ahn et al. 2020 (arXiv 2003.02369, sections 3.1 and 3.2) search sets of finished
// operators by dynamic programming, in pieces between operators that all others depend on; here the pieces are windows around the
// operator during which most is live. A window is searched best first over such sets, so its answer is the best one for the
// window; beside that, single operators are moved from one end of what they depend on to the other. Every change must lower the
// peak of the whole order (or end a tie), so what comes out is never worse. Effort is counted, not timed: the same on every
// machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tbem::estimate {

constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

/// Operators are numbers in the order at hand, which is topological.
struct OrderProblem {
  std::vector<std::vector<std::uint32_t>> after;  ///< by operator: those that must come later
  std::vector<std::uint64_t> workspace;           ///< by operator: bytes while it runs
  std::vector<bool> inPlace;  ///< by operator: a result may take the place of an operand of its size that dies
  /// Lives from its maker to its last reader, both included.
  struct Value {
    std::uint64_t bytes = 0;
    std::uint32_t maker = kNobody;       ///< kNobody: there from the start
    std::vector<std::uint32_t> readers;  ///< each once
    bool kept = false;                   ///< to the end
  };
  std::vector<Value> values;
  std::size_t size() const { return after.size(); }
};

/// Sums of live bytes during the operators, in the order at hand.
std::vector<std::uint64_t> liveOf(const OrderProblem& problem);

/// Largest sum of live bytes over the operators, in this order.
std::uint64_t peakOf(const OrderProblem& problem, const std::vector<std::uint32_t>& order);

struct OrderEffort {
  std::size_t window = 24;                              ///< operators; at most 64
  std::size_t states = 4000;                            ///< sets of finished operators, a window
  std::size_t rounds = 48;                              ///< changes
  std::size_t moves = 200;                              ///< of single operators that are tried, a round
  std::function<void(std::size_t round)> changed = {};  ///< told of each round but the first; may be empty
};
/// An order with a lower peak than 0, 1, 2, ...; empty where none was found.
std::vector<std::uint32_t> lowerPeak(const OrderProblem& problem, const OrderEffort& effort = {});

}  // namespace tbem::estimate
