// Whether a fused loop is one: what lowering promises of it, looked at again before code is made of it. Internal to this folder.
#pragma once

#include "compiler/lower/program/Program.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::jit {

/// Shapes and layouts that go together, element types that have code, and no output over an input but in place. An error is our
/// own bug or an unsupported element type, in words.
tl::expected<void, std::string> checkLoop(const estimate::Program& program, const estimate::FusedLoop& loop);

}  // namespace tbem::jit
