// Compiled objects, loaded into this process by ORC. Internal to this folder.
#pragma once

#include "compiler/jit/glue/Cache.h"
#include "compiler/jit/glue/Jit.h"

namespace tbem::jit {

/// Fills `step`, also of the executable, and what holds it.
tl::expected<void, Error> link(const CacheEntry& entry, Compiled& compiled);

}  // namespace tbem::jit
