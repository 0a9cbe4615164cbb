// The step of a program whose arena the host cannot reach: host code that asks the runtime for one launch, call or copy after the
// other.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/lower/program/Program.h"

#include <llvm/IR/Module.h>

#include <cstdint>
#include <vector>

namespace tbem::jit {

/// A loop, and the number of the kernel that runs it.
struct DeviceLoop {
  LoopNest nest;
  std::uint32_t kernel = 0;
};

/// Adds `tbem_step` (rt.h) to `module`. `marks`: as in JitOptions.
void emitDeviceStep(llvm::Module& module, const estimate::Program& program, const std::vector<DeviceLoop>& loops, bool marks);

/// Adds what the runtime finds by name: `tbem_image`, the code for the device with a zero behind it, and `tbem_kernels`, how many
/// kernels it has.
void emitImage(llvm::Module& module, const std::string& image, std::uint32_t kernels);

}  // namespace tbem::jit
