// Whether conditional work of a recording is done. The function is the driver's own, from CUDA 12.3 on: code that calls it is a
// module by itself.
#include <cstdint>

extern "C" __global__ void tbem_Condition(cudaGraphConditionalHandle handle, const std::int64_t* count) {
  cudaGraphSetConditional(handle, *count > 0 ? 1U : 0U);
}
