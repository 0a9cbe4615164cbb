// What a clause `checkpoint` has computed again, for people.
#pragma once

#include "compiler/lower/recompute/Recompute.h"
#include "compiler/show/Output.h"

#include <string>

namespace tbem::driver {

/// A table of the blocks, and what they cost and save.
void printRecomputation(const Options& options, const estimate::Recomputation& recomputation, const std::string& levels);

}  // namespace tbem::driver
