// On which devices a step fits in eager PyTorch, and what changes of it would save: as tables, or a JSON object for each answer.
#pragma once

#include "compiler/explore/WhatIf.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

/// As JSON those that there are, as a table where all are there.
void printDeviceAnswers(show::Out& out, const WhatIf& question, const Answers<DeviceAnswer>& answers);
void printChangeAnswers(show::Out& out, const WhatIf& question, const Answers<ChangeAnswer>& answers);

}  // namespace tbem::driver
