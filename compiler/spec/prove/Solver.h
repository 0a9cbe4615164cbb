// Questions to Z3, in a process of its own that can be killed.
//
// What a question costs is bounded by Z3's own count of steps (`rlimit`), so that the answer does not depend on the machine. Time
// bounds the process only where Z3 does not heed that count (issue 206 of Z3: non-linear arithmetic may ignore limits).
#pragma once

#include "compiler/spec/size/Normal.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tbem::spec {

/// Is there an assignment that meets all `facts`, the normaliser's own, and the domains?
struct Question {
  const Normalizer* context = nullptr;
  std::vector<Formula> facts;
  std::vector<Interval> ranges;  ///< by symbol
  /// Symbols with finitely many levels are whole numbers between the least and the largest only: what cannot be met so cannot be
  /// met at all.
  bool relaxed = false;
};

struct Answer {
  enum class Kind : std::uint8_t {
    Unknown,
    None,  ///< there is no such assignment
    Found
  } kind = Kind::Unknown;
  std::vector<std::optional<Rational>> values;  ///< Found: by symbol
  std::string reason;                           ///< Unknown: "step limit", "killed after 20 s", ...
  std::uint64_t steps = 0;                      ///< that it took; of a question whose process was killed, all that it may
};

struct SolverLimits {
  unsigned steps = 4'000'000;           ///< Z3's rlimit a question
  std::uint64_t allSteps = UINT64_MAX;  ///< of all questions together: those behind are not asked
  unsigned seconds = 30;                ///< of a question after which its process is killed
  std::uint64_t memory = 2ULL << 30;    ///< bytes of address space beyond what the process has
  std::function<void()> waiting = {};   ///< called now and then until there is an answer; may be empty
};

/// Asks all questions, in order, in one child process (another after one that had to be killed).
std::vector<Answer> ask(const std::vector<Question>& questions, const SolverLimits& limits);

}  // namespace tbem::spec
