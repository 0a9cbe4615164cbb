// Functional scenario form (Liu, Nakajima 2010; Liu 2011): `post` as (C1 and D1) or ... or (Cn and Dn), where the guards C
// mention no output and the definitions D do. The conditions under which `pre` holds and a guard applies are what tests are made
// from.
#pragma once

#include "compiler/spec/process/Process.h"
#include "compiler/spec/prove/Prove.h"

#include <string>
#include <vector>

namespace tbem::spec {

struct Scenario {
  ExprId guard{}, definition{};  ///< true where there is none
  std::string guardText, definitionText;
  SrcRange range;  ///< the alternative in `post`
};

/// Alternatives with equal guards are one scenario, whose definition is either of theirs. What mentions no outputs, or nothing
/// but outputs, is not taken apart. Empty after a report.
std::vector<Scenario> deriveScenarios(Session& session, ProcessModel& model);

/// Something that a process must fulfil, and whether it does.
struct Finding {
  enum class Kind : std::uint8_t {
    Preconditions,  ///< something meets `pre`
    Defined,        ///< `pre` and `post` have values wherever they are read
    Exclusive,      ///< `first` and `second` never apply together
    Complete,       ///< some scenario applies wherever `pre` holds
    Satisfiable     ///< some input of `first` has an output
  } kind{};
  std::size_t first = 0, second = 0;  ///< scenarios
  Verdict verdict{};                  ///< Proved: as it should be
  Proof proof;
  std::string text;  ///< "scenarios 1 and 2 exclude each other"
};

struct CheckedProcess {
  ProcessModel model;
  std::vector<Scenario> scenarios;  ///< without those that no input meets
  std::size_t unreachable = 0;      ///< alternatives that the derivation made and no input meets
  bool parenthesesLost = false;     ///< reported; nothing was proved
  std::vector<Finding> findings;
  bool refuted() const;
};

/// Reads a process, derives its scenarios and proves what a process must fulfil; what is wrong is reported with values. Nothing
/// where it could not be read. `work`: of all proofs of the command (ProofLimits).
std::optional<CheckedProcess> checkProcess(Session& session, const sema::Program& program, const sema::Module& module,
                                           const ast::Process& process, Work* work = nullptr);

}  // namespace tbem::spec
