// The kinds of diagnostics of `Syntax.def`, by name. Included where they are reported, so that a new one recompiles those files
// alone.
#pragma once

#include "compiler/support/Diagnostics.h"

namespace tbem::diag {
#define DIAG(code, name, severity, message) inline constexpr Diag name = kindOf(code);
#include "compiler/support/diagnostics/Syntax.def"
#undef DIAG
}  // namespace tbem::diag
