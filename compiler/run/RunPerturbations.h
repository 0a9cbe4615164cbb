// A perturbation in this process: its network and its methods as native code, searching among the examples of its dataset.
#pragma once

#include "compiler/run/RunEvents.h"
#include "compiler/run/State.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace tbem::driver {

/// Where points are kept, and the weights that a training has left.
struct PerturbationPlaces {
  std::string checkpoint;   ///< of the training
  std::string store;        ///< "": points are not kept
  bool fresh = false;       ///< what the store has is not taken
  bool storedOnly = false;  ///< nothing is searched for: what the store has is all
};

/// What the gates of a perturbed network decide about: its methods' objectives weigh them so. `victim`: its elaborated row.
/// Reports a network without gates; false then.
bool weighGates(PerturbationRun& perturbation, const graph::Row& victim, DiagnosticSink& sink);

/// Of a state that has passed `lower`. Request::interrupts end it after the step in hand. Failures: kRunFailed (a step failed, a
/// method left its ball), kEnvironment (data, checkpoint or store cannot be read or written), kProgramErrors (no message).
Perturbed runPerturbation(RunEvents& events, State& state, const PerturbationRun& perturbation, const PerturbationPlaces& places);

/// The identities under which the store has the points of each method, in order. Of a state that has passed `lower`. Failures:
/// kEnvironment (data or checkpoint cannot be read).
tl::expected<std::vector<std::string>, Failed> storedUnder(State& state, const PerturbationRun& perturbation,
                                                           const std::string& checkpoint);

}  // namespace tbem::driver
