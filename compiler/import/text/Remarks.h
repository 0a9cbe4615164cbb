// What a program does otherwise than the model that it was written of, and what cannot be seen in an export. Internal to
// compiler/import.
#pragma once

#include "compiler/import/Import.h"

#include <vector>

namespace tbem::imports {

/// By lines of the model, each once.
std::vector<ImportRemark> importRemarks(const Exported& exported);

}  // namespace tbem::imports
