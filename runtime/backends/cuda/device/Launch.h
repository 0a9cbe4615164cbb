// Starting the kernels of kernels/*.cu.
#pragma once

#include "runtime/backends/cuda/device/Driver.h"
#include "tbem/backend.h"

#include <array>
#include <cstdint>

namespace tbem::cuda {

struct Grid {
  std::uint32_t blocks = 1;  ///< at most 2^31 - 1
  std::uint32_t threads = 256;
  std::uint32_t sharedBytes = 0;  ///< of dynamic shared memory
  std::uint32_t blocksY = 1;      ///< at most 65535
};

/// `extern "C" __global__` function `name` of kernels/`file`.cu.
struct Kernel {
  const char* file;
  const char* name;
};

/// Puts the kernel behind what the device was asked before; its file's code is loaded when it is first asked for. `arguments`
/// point at the values of its parameters.
tbem_status launchRaw(const Kernel& kernel, const Grid& grid, void* const* arguments);

/// The kernel as the driver knows it, for a graph that it is put into.
tbem_status prepareKernel(const Kernel& kernel, FunctionHandle& function);

/// The parameters must have the kernel's types exactly: nothing converts them.
template <class... Parameters>
tbem_status launch(const Kernel& kernel, const Grid& grid, Parameters... parameters) {
  const std::array<void*, sizeof...(Parameters)> arguments{static_cast<void*>(&parameters)...};
  return launchRaw(kernel, grid, arguments.data());
}

}  // namespace tbem::cuda
