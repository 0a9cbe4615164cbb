// The kinds of diagnostics of `Import.def`, by name. Included where they are reported, so that a new one recompiles those
// files alone.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

namespace tbem::diag {
#define DIAG(code, name, severity, message) inline constexpr Diag name = kindOf(code);
#include "compiler/diagnostics/tables/Import.def"
#undef DIAG
}  // namespace tbem::diag
