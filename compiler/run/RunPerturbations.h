// A perturbation in this process: its network and its methods as native code, searching among the examples of its dataset.
#pragma once

#include "compiler/run/RunEvents.h"
#include "compiler/run/State.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tbem::driver {

/// Where points are kept, and the weights that a training has left.
struct PerturbationPlaces {
  std::string checkpoint;  ///< of the training; "": it keeps none
  std::string store;       ///< "": points are not kept
  bool fresh = false;      ///< what the store has is not taken
};

/// Why nothing is searched for where there is no place for a checkpoint.
constexpr const char* kNoWeights =
    "the program is no file beside which its trainings could keep their weights; --out DIR keeps them there";

/// Lets the network under test and its movers run on one thread each: batches are searched side by side, where no thread waits
/// for another within a step, and points are the same for any number of threads. Not on a device. Before `lower`, with the
/// backend open.
void spreadSearch(const State& state, PerturbationRun& run);

/// Of a state that has passed `lower`. Request::interrupts end it after the step in hand. Failures: kRunFailed (a step failed, a
/// method left its ball), kEnvironment (data, checkpoint or store cannot be read or written), kUsage (kNoWeights), kProgramErrors
/// (no message).
Perturbed runPerturbation(RunEvents& events, State& state, const PerturbationRun& perturbation, const PerturbationPlaces& places);

/// What the store, which is there, has of a perturbation: methods without a point are left out, others may have points of some
/// examples alone. Nothing is compiled or run. Failures as above.
Perturbed storedPerturbation(State& state, const PerturbationRun& perturbation, const PerturbationPlaces& places);
/// The identities under which the store has the points of each method, in order. Of a state that has passed `lower`. Failures:
/// kEnvironment (data or checkpoint cannot be read).
tl::expected<std::vector<std::string>, Failed> storedUnder(State& state, const PerturbationRun& perturbation,
                                                           const std::string& checkpoint);

}  // namespace tbem::driver
