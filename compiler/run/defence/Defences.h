// What the clauses `detect` and `squeeze` of a perturbation ask for, once its points were found.
#pragma once

#include "compiler/experiment/trainings/Perturbations.h"
#include "compiler/graph/ir/Graph.h"

#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct Defences {
  std::optional<perturb::Detection> detection;  ///< of a clause `detect`
  std::vector<perturb::Squeezed> squeezed;      ///< of a clause `squeeze`
  std::string stoppedIn;                        ///< the clause at which it was ended, which has nothing; "": it was not
};

/// The victim with its first layer kept.
struct KeptLayer {
  const graph::Graph* graph = nullptr;
  const runtime::Executable* network = nullptr;
};

/// Why nothing could learn what a clause `detect` asks for, before anything is searched for: there is no liblinear, or not enough
/// memory; "": it can, or there is no such clause.
std::string whyNoDetector(const PerturbationRun& run, const runtime::Executable* layer);

/// `layer`: where there is a clause `detect`. Errors name the clause.
tl::expected<Defences, perturb::Failure> defend(const PerturbationRun& run, const KeptLayer& layer,
                                                const perturb::Searched& searched, const perturb::DefenceProgress& progress);

}  // namespace tbem::driver
