// The inner loops for any x86-64.
#include "runtime/backends/cpu/ChannelLoops.h"
#include "runtime/backends/cpu/PoolLoops.h"
#include "runtime/backends/cpu/ProductLoops.h"
#include "runtime/backends/cpu/RowLoops.h"
#include "runtime/backends/cpu/SoftmaxLoops.h"
#include "runtime/backends/cpu/ThinLoops.h"

#define TBEM_ISA generic
#define TBEM_LANES 4
#include "runtime/backends/cpu/Vector.inc"

#include "runtime/backends/cpu/ChannelLoops.inc"
#include "runtime/backends/cpu/PoolLoops.inc"
#include "runtime/backends/cpu/ProductLoops.inc"
#include "runtime/backends/cpu/RowLoops.inc"
#include "runtime/backends/cpu/SoftmaxLoops.inc"
#include "runtime/backends/cpu/ThinLoops.inc"
