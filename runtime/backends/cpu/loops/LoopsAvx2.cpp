// The inner loops for AVX2 and FMA.
#include "runtime/backends/cpu/loops/ChannelLoops.h"
#include "runtime/backends/cpu/loops/PoolLoops.h"
#include "runtime/backends/cpu/loops/ProductLoops.h"
#include "runtime/backends/cpu/loops/RowLoops.h"
#include "runtime/backends/cpu/loops/SoftmaxLoops.h"
#include "runtime/backends/cpu/loops/ThinLoops.h"

// From here on, and nothing of another header after this line.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("arch=x86-64-v3")
#define TBEM_LANES 8
#else
#define TBEM_LANES 4
#endif
#define TBEM_ISA avx2
#include "runtime/backends/cpu/loops/Vector.inc"

#include "runtime/backends/cpu/loops/ChannelLoops.inc"
#include "runtime/backends/cpu/loops/PoolLoops.inc"
#include "runtime/backends/cpu/loops/ProductLoops.inc"
#include "runtime/backends/cpu/loops/RowLoops.inc"
#include "runtime/backends/cpu/loops/SoftmaxLoops.inc"
#include "runtime/backends/cpu/loops/ThinLoops.inc"
