// On which devices a step fits in eager PyTorch, and what changes of it would save: as tables, or a JSON object for each answer.
#pragma once

#include "compiler/explore/WhatIf.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

/// As JSON those answers that there are, as a table where all of a kind are there.
void printWhatIf(show::Out& out, const WhatIfRequest& request, const WhatIfAnswers& answers);

}  // namespace tbem::driver
