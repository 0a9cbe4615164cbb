// softmax, log_softmax and their gradients of bf16.
#include "runtime/backends/cuda/kernels/Softmax.cuh"

TBEM_SOFTMAX(SoftmaxBf16, tbem::cuda::Bfloat16)
