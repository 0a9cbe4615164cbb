// What all proofs of a command may cost together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace tbem::spec {

/// Counted, not timed: the same work on every machine, so that what is left at its end is the same too. A unit is one node of an
/// expression evaluated at a point; what else a proof does is counted by about as many of these as take as long.
class Work {
public:
  static constexpr std::uint64_t kAll = 10'000'000'000;  ///< of a command, by default: minutes
  static constexpr std::uint64_t kOfSolverStep = 250, kOfOperator = 4'000, kOfGoal = 20'000, kOfNormalNode = 50;
  /// Why something is residual that was not looked at any more.
  static constexpr const char* kReason = "the command's limit of work for proofs was reached";

  explicit Work(std::uint64_t all = kAll) : left(all) {}
  void spend(std::uint64_t units) {
    left -= std::min(left, units);
    untold += units;
    if (untold < kTellEvery) return;
    untold = 0;
    tell();
  }
  void tell() const {
    if (told) told();
  }
  bool isSpent() const { return left == 0; }
  std::uint64_t remaining() const { return left; }

  std::function<void()> told = {};  ///< called now and then while there is work; may be empty

private:
  static constexpr std::uint64_t kTellEvery = 2'000'000;
  std::uint64_t left, untold = 0;
};

}  // namespace tbem::spec
