// Inputs of a step that may lie where the caller has them, outside of the arena: they are read there, and not copied first.
#pragma once

#include "compiler/lower/program/Program.h"

#include <string>

namespace tbem::jit {

/// Why the step needs this buffer's bytes in the arena, as the end of a sentence ("the step writes over it"); "" where it does
/// not. What may lie outside is row-major, is only read, for the whole batch at once, and shares its bytes with nothing else
/// while it is needed.
std::string whyInside(const estimate::Program& program, estimate::BufferId buffer);

/// From now on the program takes the buffer, and all views of it, from an address that stands in its place. `whyInside` is "".
void moveOutside(estimate::Program& program, estimate::BufferId buffer);

}  // namespace tbem::jit
