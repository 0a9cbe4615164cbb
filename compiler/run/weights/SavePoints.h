// The points of a program's perturbations as a file of arrays: what `tbemc perturb --save` writes.
#pragma once

#include "compiler/run/State.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

/// Writes, of each perturbation that ended, PERTURBATION/N.WORD for its N-th method (from 1): f32 [examples, ...an example's
/// shape]; and PERTURBATION/example: the examples' numbers, i64. Of a state that has passed `perturb` without an interruption.
/// The numbers come from the store `store`, found now or before. Errors: kEnvironment (the store cannot be read or lacks a point,
/// the file cannot be written).
tl::expected<void, Failed> savePoints(State& state, const std::string& store, const std::string& path);

}  // namespace tbem::driver
