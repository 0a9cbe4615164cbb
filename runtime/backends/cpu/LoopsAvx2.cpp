// The inner loops for AVX2 and FMA.
#include "runtime/backends/cpu/ChannelLoops.h"
#include "runtime/backends/cpu/PoolLoops.h"
#include "runtime/backends/cpu/ProductLoops.h"
#include "runtime/backends/cpu/RowLoops.h"
#include "runtime/backends/cpu/SoftmaxLoops.h"
#include "runtime/backends/cpu/ThinLoops.h"

// From here on, and nothing of another header after this line.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("arch=x86-64-v3")
#define TBEM_LANES 8
#else
#define TBEM_LANES 4
#endif
#define TBEM_ISA avx2
#include "runtime/backends/cpu/Vector.inc"

#include "runtime/backends/cpu/ChannelLoops.inc"
#include "runtime/backends/cpu/PoolLoops.inc"
#include "runtime/backends/cpu/ProductLoops.inc"
#include "runtime/backends/cpu/RowLoops.inc"
#include "runtime/backends/cpu/SoftmaxLoops.inc"
#include "runtime/backends/cpu/ThinLoops.inc"
