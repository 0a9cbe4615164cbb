// What a clause `checkpoint` has computed again, for people.
#pragma once

#include "compiler/lower/recompute/Recompute.h"
#include "compiler/show/Out.h"

#include <string>

namespace tbem::driver {

/// A table of the blocks, and what they cost and save.
void printRecomputation(show::Out& out, const estimate::Recomputation& recomputation, const std::string& levels);

}  // namespace tbem::driver
