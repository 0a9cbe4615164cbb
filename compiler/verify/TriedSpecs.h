// Tests of a program's specifications: made, and tried where there is something to try them on.
#pragma once

#include "compiler/run/State.h"
#include "compiler/verify/SpecTests.h"
#include "compiler/verify/Specs.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct SpecTestRequest {
  std::uint64_t cases = 256;            ///< of a scenario, at most
  std::int64_t step = 1, distance = 4;  ///< from case to case, and where it turns back
  std::string answering;                ///< the command that answers cases; "": none
  std::uint64_t rank = 2;               ///< dimensions of `..s`
  double caseTime = 10;                 ///< seconds that a case may take
};

struct TriedSpec {
  std::unique_ptr<spec::Contract> contract;  ///< of a network, block or operator: `tested` refers to it
  TestedSpec tested;
  std::vector<CaseResult> results;  ///< of each case; empty where none was tried
};

/// Of a state that has passed `names`. Nothing: it has no scenarios. `process` must outlive the result.
std::optional<TriedSpec> trySpec(State& state, spec::CheckedProcess& process, const SpecTestRequest& request);
/// The conditions of a network, block or operator. Nothing, after a note: they have no tests.
std::optional<TriedSpec> trySpec(State& state, const ast::Callable& callable, const SpecTestRequest& request);

/// Networks, blocks and operators whose declaration has conditions, or the ones called `only`.
std::vector<const ast::Callable*> withConditions(const Workspace& workspace, const std::string& only);

/// What all tests together came to.
struct TestVerdict {
  bool failed = false;  ///< a case did not pass
  bool broken = false;  ///< to a case there was no answer that can be judged
  void count(const std::vector<CaseResult>& results);
  ExitCode status() const { return failed ? kVerdictAgainst : broken ? kRunFailed : kOk; }
};

}  // namespace tbem::driver
