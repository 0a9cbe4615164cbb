// The inner loops for any x86-64.
#include "runtime/backends/cpu/loops/ChannelLoops.h"
#include "runtime/backends/cpu/loops/PoolLoops.h"
#include "runtime/backends/cpu/loops/ProductLoops.h"
#include "runtime/backends/cpu/loops/RowLoops.h"
#include "runtime/backends/cpu/loops/SoftmaxLoops.h"
#include "runtime/backends/cpu/loops/ThinLoops.h"

#define TBEM_ISA generic
#define TBEM_LANES 4
#include "runtime/backends/cpu/loops/Vector.inc"

#include "runtime/backends/cpu/loops/ChannelLoops.inc"
#include "runtime/backends/cpu/loops/PoolLoops.inc"
#include "runtime/backends/cpu/loops/ProductLoops.inc"
#include "runtime/backends/cpu/loops/RowLoops.inc"
#include "runtime/backends/cpu/loops/SoftmaxLoops.inc"
#include "runtime/backends/cpu/loops/ThinLoops.inc"
