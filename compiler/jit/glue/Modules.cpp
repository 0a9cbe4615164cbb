#include "compiler/jit/glue/Modules.h"

#include "compiler/jit/cpu/Kernel.h"
#include "compiler/jit/glue/DeviceGlue.h"
#include "compiler/jit/glue/HostGlue.h"
#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/loop/Types.h"
#include "compiler/jit/nvptx/DeviceKernel.h"
#include "compiler/jit/nvptx/Ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace tbem::jit {
namespace {

using estimate::Program;

bool isOnDevice(const Program& program) { return !program.target.empty(); }

/// The kernels of a module: loops of equal shape share one.
class Kernels {
public:
  struct Kernel {
    llvm::Function* function = nullptr;
    std::uint32_t number = 0;
  };
  Kernels(llvm::Module& module, bool onDevice) : module(module), onDevice(onDevice) {}

  tl::expected<Kernel, std::string> of(const LoopNest& nest) {
    auto [place, fresh] = known.try_emplace(kernelKey(nest), Kernel{nullptr, size()});
    if (!fresh) return place->second;
    const auto types = inferTypes(nest);
    if (!types) return tl::make_unexpected(types.error());
    const std::string name = fmt::format("tbem_kernel_{}", place->second.number);
    place->second.function = onDevice ? emitDeviceKernel(module, nest, *types, name) : emitKernel(module, nest, *types, name);
    return place->second;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(known.size()); }

private:
  llvm::Module& module;
  bool onDevice;
  std::unordered_map<std::string, Kernel> known;
};

void emitLoopsOnHost(llvm::Module& glue, const LoopNest& nest, llvm::Function* kernel, std::uint32_t index) {
  emitLoop(glue, nest, kernel, loopName(index));
  if (std::any_of(nest.parts.begin(), nest.parts.end(), [](std::uint64_t part) { return part != 0; }))
    emitLoop(glue, nest, kernel, partLoopName(index), true);
}

}  // namespace

tl::expected<Modules, std::string> emitModules(llvm::LLVMContext& context, const Program& program, bool marks) {
  Modules result;
  result.loops = std::make_unique<llvm::Module>("tbem.loops", context);
  result.glue = std::make_unique<llvm::Module>("tbem.step", context);
  const bool onDevice = isOnDevice(program);
  if (onDevice) {
    if (auto ready = targetPtx(*result.loops); !ready) return tl::make_unexpected(ready.error());
  }
  Kernels kernels(*result.loops, onDevice);
  std::vector<DeviceLoop> onDevices;
  for (std::uint32_t i = 0; i < program.loops.size(); ++i) {
    auto wrong = [&](const std::string& what) { return tl::make_unexpected(fmt::format("loop {}: {}", i, what)); };
    auto nest = planLoop(program, program.loops[i]);
    if (!nest) return wrong(nest.error());
    Kernels::Kernel kernel;
    if (nest->count != 0) {
      const auto made = kernels.of(*nest);
      if (!made) return wrong(made.error());
      kernel = *made;
    }
    result.reports.push_back({nest->count, nest->parallel, kernel.number, nest->perSample});
    if (onDevice)
      onDevices.push_back({std::move(*nest), kernel.number});
    else if (kernel.function != nullptr)
      emitLoopsOnHost(*result.glue, *nest, kernel.function, i);
  }
  result.kernels = kernels.size();
  if (onDevice)
    emitDeviceStep(*result.glue, program, onDevices, marks);
  else
    emitHostStep(*result.glue, program, result.reports, marks);
  return result;
}

}  // namespace tbem::jit
