// The step of a program whose arena the host cannot reach: host code that asks the runtime for one launch, call or copy after the
// other.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/nvptx/ChannelWork.h"
#include "compiler/lower/program/Program.h"

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace tbem::jit {

/// A loop, and the number of the kernel that runs it where it has a launch of its own.
struct DeviceLoop {
  LoopNest nest;
  std::uint32_t kernel = 0;
};

/// Loops that one launch runs at the first one's step, and the number of their kernel.
struct DeviceGroup {
  std::uint32_t step = 0;
  std::int64_t places = 0;  ///< groupPlaces
  std::uint32_t kernel = 0;
};

/// Steps that one launch takes channel by channel, at the last one's place.
struct DeviceRun {
  std::uint32_t step = 0;
  std::vector<std::uint64_t> pointers;  ///< the kernel's, in the arena
  ChannelImages images;
  std::uint32_t kernel = 0;
};

/// What a step launches.
struct DeviceLoops {
  std::vector<DeviceLoop> loops;  ///< by Program::loops
  std::vector<DeviceGroup> groups;
  std::vector<DeviceRun> runs;
  std::vector<bool> taken;  ///< by Program::steps: a group or a run does what it does
};

/// Adds `tbem_step` (rt.h) to `module`. `marks`: as in JitOptions.
void emitDeviceStep(llvm::Module& module, const estimate::Program& program, const DeviceLoops& loops, bool marks);

/// The code for the device, which the runtime finds by name.
struct DeviceImage {
  std::string_view ptx;          ///< `tbem_image`, with a zero behind it
  std::string_view machineCode;  ///< `tbem_machine_code`, whose size is `tbem_machine_code_bytes`; empty: neither is there
  std::uint32_t kernels = 0;     ///< `tbem_kernels`
};
void emitImage(llvm::Module& module, const DeviceImage& image);

}  // namespace tbem::jit
