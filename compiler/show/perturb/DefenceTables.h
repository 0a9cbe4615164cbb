// What helps against the points of a perturbation, as tables and JSON.
#pragma once

#include "compiler/run/defence/Defences.h"
#include "compiler/show/Out.h"
#include "runtime/perturb/Summary.h"

#include <string>

namespace tbem::driver {

/// How well points are told from examples and what that costs; what squeezed examples and points cost. `first`: of the first
/// method, which says what examples cost.
void printDefences(show::Out& out, const std::string& name, const Defences& defences, const perturb::Summary& first);

/// One object for each method, and one for each squeezer and method.
void defencesJson(show::Out& out, const std::string& name, const Defences& defences);

}  // namespace tbem::driver
