// What is proved of a program: of its processes, of its networks for all sizes, of its designs for all levels.
#pragma once

#include "compiler/spec/prove/Scenarios.h"
#include "compiler/verify/LevelProofs.h"
#include "compiler/verify/NetworkProofs.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tbem::driver {

struct ProofRequest {
  std::string only;  ///< the process or network of this name; "": all, and the designs
};

/// What was asked and neither proved nor refuted: conditions, and networks and designs that were not looked at, or not wholly.
struct Residual {
  std::size_t conditions = 0, networks = 0, designs = 0;
  std::size_t count() const { return conditions + networks + designs; }
};

struct Proofs {
  std::vector<spec::CheckedProcess> processes;
  std::vector<NetworkProof> networks;
  std::vector<DesignProof> designs;
  bool nothing = false;      ///< all was asked for, and there is nothing to prove
  bool endedByWork = false;  ///< the limit of work was reached

  Residual residual() const;
  /// Whether they speak against the program: something is refuted, or where `strict`, neither proved nor refuted.
  bool against(bool strict) const;
};

/// Of a state that has passed `design`. What is refuted is reported in the session. Errors: nothing has the name.
tl::expected<Proofs, Failed> prove(State& state, const ProofRequest& request);

}  // namespace tbem::driver
