// The generator of searches. Internal to compiler/design.
#pragma once

#include "compiler/support/Random.h"

namespace tbem::design {
using tbem::Random;
}  // namespace tbem::design
