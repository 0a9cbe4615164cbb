// What the stages' results look like to a person (or as JSON): designs and estimates.
#pragma once

#include "compiler/driver/Pipeline.h"

namespace tbem::driver {

/// The designs of a state that has passed `design`: rows, and what counting shows of the array.
void printDesigns(const State& state);
/// The estimates of a state that has passed `lower`. True: a row takes more than --max.
bool printEstimates(State& state);

}  // namespace tbem::driver
