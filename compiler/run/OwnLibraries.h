// Libraries of a program's own operators (`native "lib.so:f"`): which commands open them, and what is told then.
//
// To open a library runs code of it. Only commands that run steps do so; all others take what the declarations say.
#pragma once

#include "compiler/experiment/Request.h"
#include "compiler/lower/Lower.h"
#include "compiler/support/Events.h"

#include <cstdint>
#include <string>

namespace tbem::driver {

/// How the workspaces of own code are found: by opening the libraries where the command runs steps, else not at all.
/// A library that this user never opened, or whose content has changed since, is told with its path and SHA-256 before it is
/// opened; the folder of caches remembers which were told. `events` must outlive the result.
estimate::OwnWorkspace ownWorkspaces(Events& events, const Target& target);

/// "the arena is without the workspaces of 2 calls of the program's own code (...)"; "" for none.
std::string withoutWorkspaces(std::uint32_t calls);
/// A note of that, unless there is nothing to say.
void noteUnknownWorkspaces(Events& events, std::uint32_t calls);

}  // namespace tbem::driver
