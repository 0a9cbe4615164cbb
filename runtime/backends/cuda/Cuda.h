// What the backend cuda can be told beside its table.
#pragma once

#include "runtime/cudnn/Properties.h"

namespace tbem::cuda {

/// Where the machine has no card, steps are planned for this one: `probe` names it, and cuDNN is asked about it. They cannot be
/// run. A card that is here is asked itself, whatever was told.
void planFor(const cudnn::DeviceProperties& card);

}  // namespace tbem::cuda
