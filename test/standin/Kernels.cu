// What the stand-ins compute on a card: a thread for each element of the result.
#include "test/standin/Work.h"

#define TBEM_STANDIN_KERNEL(name, Work)                                                       \
  extern "C" __global__ void name(tbem::standin::Work work) {                                 \
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; \
    if (at < tbem::standin::countOf(work)) tbem::standin::compute(work, at);                  \
  }
TBEM_STANDIN_KERNEL(standin_product, ProductWork)
TBEM_STANDIN_KERNEL(standin_convolution, ConvWork)
TBEM_STANDIN_KERNEL(standin_step, StepWork)
