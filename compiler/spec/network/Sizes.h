// The conditions of a network, for all sizes of its inputs at once.
#pragma once

#include "compiler/spec/network/Duties.h"
#include "compiler/spec/prove/Weakest.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::spec {

/// Something that does not hold at every size that the network's own conditions allow.
struct SizeBreach {
  std::string subject, text;                             ///< "conv2d", "h >= 3"
  SrcRange range, use;                                   ///< the condition, the call that must meet it
  std::vector<std::pair<std::string, Rational>> values;  ///< {"h", 2}
};
struct SizeProof {
  Verdict verdict = Verdict::Proved;  ///< Vacuous: nothing meets the network's own `pre`
  std::size_t conditions = 0;
  std::vector<SizeBreach> breaches;  ///< each follows from none before it
  std::size_t unasked = 0;           ///< refuted ones behind the last of `breaches`, which may follow from it
  std::vector<Doubt> doubts;
  /// A `pre` with which all of it holds, proved.
  std::optional<Remedy> remedy;
};

/// `structure` was elaborated with sizes as symbols that may take `domains`; `call` is the range of the call of the network in
/// it: conditions of that call are what is given. What the structure has fixed must be fixed in `domains` too. `work`: of all
/// proofs of the command (ProofLimits).
SizeProof proveSizes(const graph::Structure& structure, std::vector<Domain> domains, SrcRange call, Work* work = nullptr);

}  // namespace tbem::spec
