// softmax, log_softmax and their gradients of f32.
#include "runtime/backends/cuda/kernels/Softmax.cuh"

TBEM_SOFTMAX(Softmax, float)
