// The conditions of each network of a program, proved for all sizes of its inputs.
#pragma once

#include "compiler/run/State.h"
#include "compiler/spec/network/Sizes.h"

#include <string>
#include <vector>

namespace tbem::driver {

/// A network in one of its structures.
struct NetworkProof {
  const ast::Callable* network = nullptr;
  std::string name;   ///< "resnet"; as an expression calls it: "resnet(depth: 50)"
  std::string at;     ///< "depth = 18": what steers the structure; sizes that do are proved at that size only
  std::string sizes;  ///< "n, h, w": what stands for all of its values
  spec::SizeProof proof;
  std::string reason;  ///< why it was not looked at, or not at every structure: the verdict is Residual; or what `broken` says
  /// Refuted at the sizes `at`, where no size that was tried lets it be built.
  std::optional<Diagnostic> broken;
};

/// "n = 3, h = 1"; "every size" for none.
std::string valuesText(const spec::SizeBreach& breach);

/// The program's networks, all or the one of that name, each with all levels of the domains of its parameters (64 at most). What
/// breaks is reported, with a `pre` that would mend it as a fix.
std::vector<NetworkProof> proveNetworks(State& state, std::string_view only = {});

/// The network, block or operator that the expression of -e calls, with the parameters that it gives.
std::vector<NetworkProof> proveExpression(State& state);

}  // namespace tbem::driver
