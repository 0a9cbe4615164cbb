// softmax, log_softmax and their gradients of f16.
#include "runtime/backends/cuda/kernels/Softmax.cuh"

TBEM_SOFTMAX(SoftmaxF16, tbem::cuda::Float16)
