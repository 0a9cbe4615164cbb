// What happens while campaigns and trainings run, beside what any stage tells (Events.h). Console, JSON lines and pages are
// listeners.
#pragma once

#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/trainings/Perturbations.h"
#include "compiler/experiment/trainings/Trainings.h"
#include "compiler/run/certify/Certifications.h"
#include "compiler/run/defence/Defences.h"
#include "compiler/support/Events.h"
#include "runtime/core/Measurement.h"
#include "runtime/measure/Campaign.h"
#include "runtime/perturb/Summary.h"

#include <cstdint>
#include <string>

namespace tbem::driver {

class RunEvents : public Events {
public:
  // Campaigns
  /// Before the first row and after each. `current`: the row that is measured next; nullptr: none.
  virtual void campaign(const measure::Standing& /*standing*/, const CaseRow* /*current*/) {}
  /// A row is on its way over a data set. `what` is done so often: "example", or "gradient, step 3 of 30, point".
  virtual void overExamples(const CaseRow& /*row*/, const std::string& /*what*/, std::int64_t /*done*/, std::int64_t /*total*/) {}
  /// A row was measured and is kept.
  virtual void rowDone(const runtime::Case& /*key*/, const runtime::Measurement& /*value*/, const CaseRow& /*row*/) {}

  // Trainings
  /// `checkpoint`: where it is kept; "": nowhere.
  virtual void trainingBegins(const TrainingRun& /*training*/, const std::string& /*checkpoint*/) {}
  virtual void epoch(const TrainingRun& /*training*/, const train::EpochReport& /*report*/) {}
  virtual void step(const TrainingRun& /*training*/, const train::StepReport& /*report*/) {}
  /// `left`: seconds.
  virtual void training(const TrainingRun& /*training*/, std::int64_t /*done*/, std::int64_t /*total*/,
                        const std::string& /*what*/, double /*left*/) {}
  /// `outcome`: nullptr where it failed.
  virtual void trainingEnds(const TrainingRun& /*training*/, const train::Outcome* /*outcome*/,
                            const std::string& /*checkpoint*/) {}

  // Perturbations
  /// `victim`: what is known of the network without running it.
  virtual void perturbationBegins(const PerturbationRun& /*perturbation*/, const perturb::Victim& /*victim*/) {}
  virtual void methodBegins(const PerturbationRun& /*perturbation*/, const perturb::Method& /*method*/) {}
  virtual void perturbing(const PerturbationRun& /*perturbation*/, std::int64_t /*done*/, std::int64_t /*total*/,
                          const std::string& /*what*/) {}
  /// A method is done with all examples, or was interrupted; `summary` is of the points that there are.
  virtual void methodEnds(const PerturbationRun& /*perturbation*/, const perturb::Series& /*series*/,
                          const perturb::Summary& /*summary*/) {}
  /// Of clauses `detect` and `squeeze`, behind the end of the search.
  /// `first`: of the first method, which says what examples cost.
  virtual void defended(const PerturbationRun& /*perturbation*/, const Defences& /*defences*/,
                        const perturb::Summary& /*first*/) {}
  /// Of a clause `certify`, behind the end of the search.
  virtual void certified(const PerturbationRun& /*perturbation*/, const Certified& /*certified*/) {}
  /// `outcome`: nullptr where it failed.
  virtual void perturbationEnds(const PerturbationRun& /*perturbation*/, const perturb::Outcome* /*outcome*/) {}
};

}  // namespace tbem::driver
