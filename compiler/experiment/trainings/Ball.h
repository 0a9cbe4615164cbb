// Where points may lie, of the program's text for the run.
#pragma once

#include "compiler/graph/perturb/Method.h"
#include "runtime/perturb/Perturb.h"

namespace tbem::driver {

/// The plan's norm, radius and box.
void takeBall(perturb::Plan& plan, const graph::Ball& ball);

}  // namespace tbem::driver
