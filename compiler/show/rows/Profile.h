// Where the time of a step goes: `tbemc step --profile`.
#pragma once

#include "compiler/run/State.h"
#include "compiler/show/Out.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

/// Runs the row's step again and again, timing each step of its program, and prints the table (with --json one `profile` object).
/// The row must be compiled with marks. Errors: in words.
tl::expected<void, std::string> printProfile(show::Out& out, const State& state, const RowState& row);

}  // namespace tbem::driver
