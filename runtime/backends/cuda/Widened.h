// Operators of bf16 and f16 whose family takes some operands in f32 alone: those are copied into the workspace as f32, and
// results are rounded from there.
#pragma once

#include "runtime/backends/cuda/device/Op.h"

namespace tbem::cuda {

Family widenedFamily();

}  // namespace tbem::cuda
