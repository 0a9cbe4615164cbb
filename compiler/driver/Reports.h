// What the stages' results look like to a person (or as JSON): designs and estimates.
#pragma once

#include "compiler/driver/Pipeline.h"

namespace tbem::driver {

/// The designs of a state that has passed `design`: rows, and what counting shows of the array.
void printDesigns(const State& state);
/// The estimates of a state that has passed `lower`. The exit status: kOk, kVerdictAgainst where a row takes more than --max, or
/// why --roofline cannot be had.
int printEstimates(State& state);

}  // namespace tbem::driver
