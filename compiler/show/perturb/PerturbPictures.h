// Examples, and beside each what every method made of it, as images.
#pragma once

#include "compiler/run/Measured.h"
#include "runtime/report/Pictures.h"

namespace tbem::driver {

/// Of Perturbed::pictured, which are there: a row for each example, a column for the examples and one for each method, with the
/// point and its change; what each costs, what the network predicts of it, and what its gates decided.
report::PictureGrid picturesOf(const Perturbed& perturbed);

}  // namespace tbem::driver
