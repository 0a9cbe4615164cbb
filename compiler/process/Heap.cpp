#include "compiler/process/Heap.h"

#include <cstdlib>  // says whether the C library is GNU's

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace tbem::driver {

void growHeapInLargeSteps() {
#ifdef __GLIBC__
  constexpr int kMiB = 1 << 20;
  mallopt(M_TOP_PAD, 16 * kMiB);
  mallopt(M_MMAP_THRESHOLD, 32 * kMiB);
  mallopt(M_TRIM_THRESHOLD, 64 * kMiB);
#endif
}

}  // namespace tbem::driver
