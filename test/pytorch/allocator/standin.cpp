// A card that is not there, as far as PyTorch's caching allocator looks: preloaded in front of libcudart, and found as
// libcuda.so.1 and libnvidia-ml.so.1, it hands out addresses, counts bytes against a capacity, and completes events when told to.
// Nothing can be computed on it.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace {

constexpr std::uint64_t kPage = 2U << 20U;

std::uint64_t capacity = std::uint64_t{8} << 30U, total = std::uint64_t{8} << 30U, used = 0;
std::uint64_t next = 0x7f0000000000ULL;
bool reuse = false;
std::map<std::uint64_t, std::uint64_t> pieces;                  // address -> bytes
std::multimap<std::uint64_t, std::uint64_t> given;              // bytes -> address, given back
std::map<CUmemGenericAllocationHandle, std::uint64_t> handles;  // -> bytes
std::uint64_t lastHandle = 0, recorded = 0, completed = 0;
cudaError_t last = cudaSuccess;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::uint64_t addresses(std::uint64_t bytes) {
  if (reuse) {
    if (auto found = given.find(bytes); found != given.end()) {
      const std::uint64_t address = found->second;
      given.erase(found);
      return address;
    }
  }
  const std::uint64_t address = next;
  next += bytes;
  return address;
}

struct Event {
  std::uint64_t number;
};

CUresult reserve(CUdeviceptr* at, size_t bytes, size_t, CUdeviceptr, unsigned long long) {
  *at = addresses(pages(bytes));
  return CUDA_SUCCESS;
}
CUresult release(CUdeviceptr, size_t) { return CUDA_SUCCESS; }
CUresult create(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp*, unsigned long long) {
  if (used + pages(bytes) > capacity) return CUDA_ERROR_OUT_OF_MEMORY;
  used += pages(bytes);
  *handle = ++lastHandle;
  handles[*handle] = pages(bytes);
  return CUDA_SUCCESS;
}
CUresult drop(CUmemGenericAllocationHandle handle) {
  used -= handles.at(handle);
  handles.erase(handle);
  return CUDA_SUCCESS;
}
CUresult map(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long) { return CUDA_SUCCESS; }
CUresult unmap(CUdeviceptr, size_t) { return CUDA_SUCCESS; }
CUresult access(CUdeviceptr, size_t, const CUmemAccessDesc*, size_t) { return CUDA_SUCCESS; }
CUresult granularity(size_t* bytes, const CUmemAllocationProp*, CUmemAllocationGranularity_flags) {
  *bytes = kPage;
  return CUDA_SUCCESS;
}
CUresult attribute(int* value, CUdevice_attribute, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult device(CUdevice* value, int) {
  *value = 0;
  return CUDA_SUCCESS;
}
CUresult words(CUresult, const char** text) {
  *text = "an error of the stand-in";
  return CUDA_SUCCESS;
}
CUresult unknown() { return CUDA_SUCCESS; }

}  // namespace

extern "C" {

// What a test sets. Addresses of freed pieces are given again if `reuseAddresses`, as the driver does; else never.
void standin_set(std::uint64_t capacityBytes, std::uint64_t totalBytes, int reuseAddresses) {
  capacity = capacityBytes;
  total = totalBytes;
  reuse = reuseAddresses != 0;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  *flags = 0;
  *active = 1;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorString(CUresult, const char** text) { return words(CUDA_SUCCESS, text); }
// What versions before 2.8 look up by name.
CUresult cuMemAddressReserve(CUdeviceptr* at, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags) {
  return reserve(at, bytes, alignment, wanted, flags);
}
CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes) { return release(at, bytes); }
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  return create(handle, bytes, properties, flags);
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) { return drop(handle); }
CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return map(at, bytes, offset, handle, flags);
}
CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) { return unmap(at, bytes); }
CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc* wanted, size_t count) {
  return access(at, bytes, wanted, count);
}
CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags flags) {
  return granularity(bytes, properties, flags);
}
CUresult cuMemsetD32Async(CUdeviceptr, unsigned, size_t, CUstream) { return CUDA_SUCCESS; }
#undef cuStreamWriteValue32
CUresult cuStreamWriteValue32(CUstream, CUdeviceptr, unsigned, unsigned) { return CUDA_SUCCESS; }
CUresult cuMulticastCreate(CUmemGenericAllocationHandle*, const CUmulticastObjectProp*) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle, CUdevice) { return CUDA_ERROR_NOT_SUPPORTED; }
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t,
                            unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemExportToShareableHandle(void*, CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle*, void*, CUmemAllocationHandleType) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp*, CUmemGenericAllocationHandle) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
void standin_complete() { completed = recorded; }

// Of NVML: it starts and knows the card; of the card's links and processes it knows nothing (NVML_ERROR_NOT_SUPPORTED).
int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** handle) {
  *handle = &capacity;
  return 0;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return 3; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return 3; }
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned*, void*) { return 3; }
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13020;
  return 0;
}
int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return 3; }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "stand-in");
  if (const char* bytes = std::getenv("STANDIN_TOTAL")) total = std::strtoull(bytes, nullptr, 10);
  properties->totalGlobalMem = total;
  properties->major = 9;
  if (const char* major = std::getenv("STANDIN_MAJOR")) properties->major = std::atoi(major);
  properties->multiProcessorCount = 132;
  properties->warpSize = 32;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxThreadsPerBlock = 1024;
  properties->sharedMemPerBlock = 48U << 10U;
  for (int axis = 0; axis < 3; ++axis) {
    properties->maxGridSize[axis] = 65535;
    properties->maxThreadsDim[axis] = axis < 2 ? 1024 : 64;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 0;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** at, size_t bytes) {
  if (used + pages(bytes) > capacity) return last = cudaErrorMemoryAllocation;
  used += pages(bytes);
  const std::uint64_t address = addresses(pages(bytes));
  pieces[address] = pages(bytes);
  *at = reinterpret_cast<void*>(address);
  return cudaSuccess;
}
cudaError_t cudaFree(void* at) {
  const auto piece = pieces.find(reinterpret_cast<std::uint64_t>(at));
  if (piece == pieces.end()) return cudaSuccess;
  used -= piece->second;
  given.emplace(piece->second, piece->first);
  pieces.erase(piece);
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* freeBytes, size_t* totalBytes) {
  *freeBytes = capacity - used;
  *totalBytes = total;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last; }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event{0});
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  reinterpret_cast<Event*>(event)->number = ++recorded;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (reinterpret_cast<Event*>(event)->number <= completed) return cudaSuccess;
  return last = cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t*,
                                     const cudaGraphNode_t**, const cudaGraphEdgeData**, size_t*) {
#else
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t*,
                                        const cudaGraphNode_t**, size_t*) {
#endif
  *status = cudaStreamCaptureStatusNone;
  if (id != nullptr) *id = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13020;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  static std::uint64_t streams = 0x5000;
  *stream = reinterpret_cast<cudaStream_t>(streams += 0x10);
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  static const std::map<std::string_view, void*> kFunctions = {
      {"cuMemAddressReserve", reinterpret_cast<void*>(reserve)},
      {"cuMemAddressFree", reinterpret_cast<void*>(release)},
      {"cuMemCreate", reinterpret_cast<void*>(create)},
      {"cuMemRelease", reinterpret_cast<void*>(drop)},
      {"cuMemMap", reinterpret_cast<void*>(map)},
      {"cuMemUnmap", reinterpret_cast<void*>(unmap)},
      {"cuMemSetAccess", reinterpret_cast<void*>(access)},
      {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(granularity)},
      {"cuDeviceGetAttribute", reinterpret_cast<void*>(attribute)},
      {"cuDeviceGet", reinterpret_cast<void*>(device)},
      {"cuGetErrorString", reinterpret_cast<void*>(words)},
  };
  const auto found = kFunctions.find(symbol);
  *function = found == kFunctions.end() ? reinterpret_cast<void*>(unknown) : found->second;
  if (status != nullptr) *status = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // extern "C"
