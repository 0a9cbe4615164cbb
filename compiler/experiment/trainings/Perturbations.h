// The `perturb` declarations of a program, read and checked: whose network, its graphs, its plan.
#pragma once

#include "compiler/experiment/trainings/Trainings.h"
#include "compiler/graph/perturb/Perturbation.h"
#include "runtime/perturb/defence/Defence.h"

#include <memory>
#include <optional>
#include <vector>

namespace tbem::driver {

/// A method's graphs.
struct MethodRun {
  graph::MethodSpec spec;
  std::unique_ptr<DesignRun> learner;        ///< null: it learns nothing
  std::unique_ptr<DesignRun> discriminator;  ///< null: nothing learns against it
  std::unique_ptr<DesignRun> mover;
};

/// One perturbation. Its graphs are designs of one row, as those of a training are.
struct PerturbationRun {
  graph::PerturbSpec spec;
  const TrainingRun* training = nullptr;  ///< whose network and weights
  const data::Reader* reader = nullptr;
  data::Settings settings;
  data::Description about;
  perturb::Plan plan;
  std::unique_ptr<DesignRun> victim;
  std::unique_ptr<DesignRun> single;  ///< of one example; null: neither latency nor energy nor certificates are wanted
  std::unique_ptr<DesignRun> layer;   ///< on one example, with its first layer kept; null: there is no clause `detect`
  std::optional<perturb::DetectorPlan> detector;
  std::vector<perturb::Squeezer> squeezers;
  std::vector<MethodRun> methods;

  explicit PerturbationRun(graph::PerturbSpec spec) : spec(std::move(spec)) {}
};

/// Those of the program's own file, in order. Mistakes go to the session; one that has any is left out.
std::vector<std::unique_ptr<PerturbationRun>> makePerturbations(Workspace& workspace,
                                                                const std::vector<std::unique_ptr<TrainingRun>>& trainings,
                                                                const Target& target);

}  // namespace tbem::driver
