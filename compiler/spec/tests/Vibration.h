// Test cases from functional scenarios: the vibration method (Liu, Nakajima, APSEC 2011 and IEEE TSE 48(2), 2022).
//
// A scenario's test condition is T = pre and guard. It is a disjunction of conjunctions of atoms E1 R E2. From a solution of each
// conjunction values are driven away from each atom's boundary and back: |E1 - E2| grows by a step from case to case, then
// shrinks, while T stays true and everything else is drawn anew. Beside each boundary stand cases for which the atom is false: of
// `pre` they are to be refused, of a guard they belong to another scenario.
#pragma once

#include "compiler/spec/prove/Scenarios.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::spec {

struct TestOptions {
  std::size_t cases = 256;    ///< of a scenario, at most; and as many to be refused
  std::int64_t step = 1;      ///< by which the distance grows; a step's eighth where E1 or E2 is no whole number
  std::int64_t distance = 4;  ///< where it turns back
  std::uint64_t seed = 0;
};

struct TestCase {
  enum class Kind : std::uint8_t {
    Seed,       ///< a solution of a conjunction
    Vibration,  ///< at `distance` of the boundary of `atom`, which holds
    Outside,    ///< at `distance` on the other side
    Branch      ///< a condition inside the definition, `atom`, holds
  } kind{};
  std::optional<std::size_t> scenario;  ///< that applies; nothing: `pre` is false, to be refused
  std::string atom;
  std::optional<Rational> distance;                   ///< E2 - E1 (E1 - E2 where the atom is `=` or `<>`)
  std::vector<std::pair<SymbolId, Rational>> inputs;  ///< by symbol, all of them
};
const char* word(TestCase::Kind kind);

struct TestSuite {
  std::vector<TestCase> cases;
  std::vector<std::string> gaps;  ///< what has no case, and why
};

/// Cases in order of the scenarios, those to be refused last. Deterministic.
TestSuite makeTests(ProcessModel& model, const std::vector<Scenario>& scenarios, const TestOptions& options);

}  // namespace tbem::spec
