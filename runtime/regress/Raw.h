// A fitted basis rewritten in the factors' units. Internal to this folder.
#pragma once

#include "compiler/design/model/Basis.h"
#include "compiler/design/model/Wide.h"
#include "runtime/regress/Fit.h"

#include <vector>

namespace tbem::regress {

/// The same function as monomials of the factors' values and level effects; needs a hierarchical basis. In Wide, for the shift of
/// the origin cancels.
std::vector<RawCoefficient> rawCoefficients(const design::Basis& basis, const std::vector<design::Wide>& coefficients);

}  // namespace tbem::regress
