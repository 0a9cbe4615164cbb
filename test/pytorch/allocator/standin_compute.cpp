// What the stand-in card needs beside its allocator so that PyTorch goes through whole steps: kernels and matrix products that
// return at once and compute nothing. Linked with standin.cpp. cuDNN is not played: no convolutions.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>

namespace {
std::uint64_t launched = 0;  // kernels, matrix products, and pieces of memory that are set or copied on the card
}

// Of libcuda, what PyTorch's NVRTC library wants to find.
#define UNUSED(name) \
  int name() { return 801; } /* CUDA_ERROR_NOT_SUPPORTED */

extern "C" {

int cuCtxGetCurrent(void** context) {
  static int any;
  *context = &any;
  return 0;
}
int cuCtxSetCurrent(void*) { return 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { return cuCtxGetCurrent(context); }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDeviceGetAttribute(int* value, int, int) { return *value = 0; }
UNUSED(cuFuncGetAttribute)
UNUSED(cuFuncSetAttribute)
UNUSED(cuFuncSetCacheConfig)
UNUSED(cuLaunchCooperativeKernel)
UNUSED(cuLaunchKernel)
UNUSED(cuLinkAddData_v2)
UNUSED(cuLinkComplete)
UNUSED(cuLinkCreate_v2)
UNUSED(cuModuleGetFunction)
UNUSED(cuModuleLoad)
UNUSED(cuModuleLoadData)
UNUSED(cuModuleLoadDataEx)
UNUSED(cuModuleUnload)
UNUSED(cuOccupancyMaxActiveBlocksPerMultiprocessor)
UNUSED(cuPointerGetAttribute)
UNUSED(cuTensorMapEncodeTiled)

// ---- kernels ----
std::uint64_t standin_launched() { return launched; }
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  ++launched;
  return cudaSuccess;
}
// What compilers of CUDA 13 and later write for a launch.
cudaError_t __cudaLaunchKernel(  // NOLINT(bugprone-reserved-identifier): it is theirs
    const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  ++launched;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) {
  ++launched;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->binaryVersion = attributes->ptxVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*, int, size_t, unsigned) {
  *blocks = 2;
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void*, const void*, size_t, cudaMemcpyKind) { return cudaSuccess; }
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind kind, cudaStream_t) {
  launched += kind == cudaMemcpyDeviceToDevice ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void** at, size_t bytes, unsigned) {
  *at = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* at) {
  std::free(at);
  return cudaSuccess;
}
cudaError_t cudaMemset(void*, int, size_t) { return cudaSuccess; }
cudaError_t cudaMemsetAsync(void*, int, size_t, cudaStream_t) {
  ++launched;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }

// ---- cuBLAS ----
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = reinterpret_cast<cublasHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetMathMode(cublasHandle_t, cublasMath_t* mode) {
  *mode = CUBLAS_DEFAULT_MATH;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t, cublasPointerMode_t* mode) {
  *mode = CUBLAS_POINTER_MODE_HOST;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
                            cudaDataType, int, const void*, cudaDataType, int, const void*, void*, cudaDataType, int,
                            cublasComputeType_t, cublasGemmAlgo_t) {
  ++launched;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                          const void*, cudaDataType, int, long long, const void*, cudaDataType, int, long long,
                                          const void*, void*, cudaDataType, int, long long, int, cublasComputeType_t,
                                          cublasGemmAlgo_t) {
  ++launched;
  return CUBLAS_STATUS_SUCCESS;
}
// What older versions call for f32.
cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float*, const float*,
                              int, const float*, int, const float*, float*, int) {
  ++launched;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float*,
                                         const float*, int, long long, const float*, int, long long, const float*, float*, int,
                                         long long, int) {
  ++launched;
  return CUBLAS_STATUS_SUCCESS;
}

// ---- cuBLASLt ----
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*, cublasLtMatrixLayout_t,
                              const void*, cublasLtMatrixLayout_t, const void*, const void*, cublasLtMatrixLayout_t, void*,
                              cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t) {
  ++launched;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t* results,
                                              int* count) {
  results[0] = {};
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
