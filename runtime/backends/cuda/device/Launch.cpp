#include "runtime/backends/cuda/device/Launch.h"

#include "runtime/backends/cuda/device/Code.h"
#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/device/Op.h"

#include <embedded/tbem_cuda_kernels.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace tbem::cuda {

namespace {

struct Function {
  FunctionHandle handle = nullptr;
  std::uint32_t sharedBytes = 48 * 1024;  ///< of dynamic shared memory that it may have; the first is there without asking
};

/// What is loaded so far. Names are those of `Kernel`s, which are literals.
struct Loaded {
  std::mutex mutex;
  std::map<std::string_view, ModuleHandle> modules;
  std::map<std::pair<std::string_view, std::string_view>, Function> functions;
};

Loaded& loaded() {
  static Loaded all;
  return all;
}

tbem_status moduleOf(const Device& device, const Kernel& kernel, ModuleHandle& module) {
  std::map<std::string_view, ModuleHandle>& modules = loaded().modules;
  if (const auto known = modules.find(kernel.file); known != modules.end()) {
    module = known->second;
    return TBEM_OK;
  }
  if (cuda_kernels::files().empty())
    return fail(TBEM_UNSUPPORTED, "cuda: this tbemc was built without nvcc, so it has no kernels; build it where nvcc is");
  const std::string name = fmt::format("{}.ptx", kernel.file);
  for (const cuda_kernels::File& file : cuda_kernels::files()) {
    if (file.name != name) continue;
    if (const tbem_status status = loadCode(device, file.text.data(), kernel.file, module)) return status;
    modules.emplace(kernel.file, module);
    return TBEM_OK;
  }
  return fail(TBEM_INVALID, fmt::format("cuda: there are no kernels of the name {}", kernel.file));
}

/// The function, allowed to have so much dynamic shared memory.
tbem_status functionOf(const Device& device, const Kernel& kernel, std::uint32_t sharedBytes, FunctionHandle& function) {
  constexpr int kMostShared = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
  const std::lock_guard lock(loaded().mutex);
  auto known = loaded().functions.find({kernel.file, kernel.name});
  if (known == loaded().functions.end()) {
    ModuleHandle module = nullptr;
    if (const tbem_status status = moduleOf(device, kernel, module)) return status;
    Function first;
    const Booking booking(device, &Ledger::modules);  // a driver may load code when it is looked for
    if (const int result = device.driver->moduleFunction(&first.handle, module, kernel.name); result != 0)
      return check(device, result, fmt::format("looking for the kernel {} of {}", kernel.name, kernel.file).c_str());
    known = loaded().functions.emplace(std::pair{kernel.file, kernel.name}, first).first;
  }
  Function& found = known->second;
  function = found.handle;
  if (sharedBytes <= found.sharedBytes) return TBEM_OK;
  const int result = device.driver->functionAttribute(function, kMostShared, static_cast<int>(sharedBytes));
  if (result == 0) found.sharedBytes = sharedBytes;
  return check(device, result, fmt::format("asking for {} bytes of shared memory for {}", sharedBytes, kernel.name).c_str());
}

}  // namespace

tbem_status prepareKernel(const Kernel& kernel, FunctionHandle& function) {
  const Device* device = nullptr;
  const tbem_status status = openDevice(device);
  return status != TBEM_OK ? status : functionOf(*device, kernel, 0, function);
}

tbem_status launchRaw(const Kernel& kernel, const Grid& grid, void* const* arguments) {
  const Device* device = nullptr;
  if (const tbem_status status = openDevice(device)) return status;
  FunctionHandle function = nullptr;
  if (const tbem_status status = functionOf(*device, kernel, grid.sharedBytes, function)) return status;
  const int result = device->driver->launch(function, grid.blocks, grid.blocksY, 1, grid.threads, 1, 1, grid.sharedBytes,
                                            device->stream, const_cast<void**>(arguments), nullptr);
  return result == 0 ? TBEM_OK : check(*device, result, fmt::format("starting the kernel {}", kernel.name).c_str());
}

}  // namespace tbem::cuda
