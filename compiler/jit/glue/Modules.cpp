#include "compiler/jit/glue/Modules.h"

#include "compiler/jit/cpu/Kernel.h"
#include "compiler/jit/glue/ChannelRuns.h"
#include "compiler/jit/glue/DeviceGlue.h"
#include "compiler/jit/glue/HostGlue.h"
#include "compiler/jit/glue/LoopGroups.h"
#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/loop/Types.h"
#include "compiler/jit/nvptx/ChannelKernel.h"
#include "compiler/jit/nvptx/DeviceKernel.h"
#include "compiler/jit/nvptx/GroupKernel.h"
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
    const std::string key = kernelKey(nest);
    if (const auto there = known.find(key); there != known.end()) return there->second;
    const auto types = inferTypes(nest);
    if (!types) return tl::make_unexpected(types.error());
    const std::string name = nextName();
    llvm::Function* function = onDevice ? emitDeviceKernel(module, nest, *types, name) : emitKernel(module, nest, *types, name);
    return known[key] = {function, count++};
  }
  /// One of their own for these loops together.
  tl::expected<std::uint32_t, std::string> ofGroup(const std::vector<const LoopNest*>& nests) {
    const auto function = emitGroupKernel(module, nests, nextName());
    if (!function) return tl::make_unexpected(function.error());
    return count++;
  }
  tl::expected<std::uint32_t, std::string> ofChannels(const ChannelWork& work) {
    const std::string key = "channels " + channelKey(work);
    if (const auto there = known.find(key); there != known.end()) return there->second.number;
    const auto function = emitChannelKernel(module, work, nextName());
    if (!function) return tl::make_unexpected(function.error());
    known[key] = {*function, count};
    return count++;
  }
  std::uint32_t size() const { return count; }

private:
  std::string nextName() const { return fmt::format("tbem_kernel_{}", count); }

  llvm::Module& module;
  bool onDevice;
  std::uint32_t count = 0;
  std::unordered_map<std::string, Kernel> known;
};

/// One program's modules.
class Emission {
public:
  Emission(Modules& result, const Program& program, bool marks)
      : result(result), program(program), marks(marks), kernels(*result.loops, isOnDevice(program)) {}

  /// "", or what is wrong.
  std::string run() {
    for (std::uint32_t i = 0; i < program.loops.size(); ++i) {
      auto nest = planLoop(program, program.loops[i]);
      if (!nest) return wrong(i, nest.error());
      result.reports.push_back({nest->count, nest->parallel, 0, nest->perSample});
      nests.push_back(std::move(*nest));
    }
    std::string failed = isOnDevice(program) ? onDevice() : onHost();
    result.kernels = kernels.size();
    return failed;
  }

private:
  static std::string wrong(std::uint32_t loop, const std::string& what) { return fmt::format("loop {}: {}", loop, what); }

  std::string onHost() {
    for (std::uint32_t i = 0; i < nests.size(); ++i) {
      if (nests[i].count == 0) continue;
      const auto kernel = kernels.of(nests[i]);
      if (!kernel) return wrong(i, kernel.error());
      result.reports[i].kernel = kernel->number;
      emitLoop(*result.glue, nests[i], kernel->function, loopName(i));
      if (std::ranges::any_of(nests[i].parts, [](std::uint64_t part) { return part != 0; }))
        emitLoop(*result.glue, nests[i], kernel->function, partLoopName(i), true);
    }
    emitHostStep(*result.glue, program, result.reports, marks);
    return {};
  }

  std::string onDevice() {
    loops.taken.assign(program.steps.size(), false);
    // Where each step is timed, each has a launch of its own.
    std::string failed = marks ? std::string() : addRuns();
    if (failed.empty() && !marks) failed = addGroups();
    if (failed.empty()) failed = addLoops();
    if (failed.empty()) emitDeviceStep(*result.glue, program, loops, marks);
    return failed;
  }

  std::string addRuns() {
    for (const ChannelRun& run : channelRuns(program, nests)) {
      const auto kernel = kernels.ofChannels(run.work);
      if (!kernel) return fmt::format("step {}: {}", run.steps.back(), kernel.error());
      DeviceRun& added = loops.runs.emplace_back();
      added.step = run.steps.back();
      added.kernel = *kernel;
      added.images = run.work.images;
      for (const ChannelPart& part : run.work.parts)
        added.pointers.insert(added.pointers.end(), part.pointers.begin(), part.pointers.end());
      for (const std::uint32_t step : run.steps) take(step, *kernel);
    }
    return {};
  }

  std::string addGroups() {
    for (const LoopGroup& group : groupLoops(program, nests, loops.taken)) {
      std::vector<const LoopNest*> together;
      for (const std::uint32_t step : group.steps) together.push_back(&nests[program.steps[step].index]);
      const auto kernel = kernels.ofGroup(together);
      if (!kernel) return wrong(program.steps[group.steps.front()].index, kernel.error());
      loops.groups.push_back({group.steps.front(), groupPlaces(together), *kernel});
      for (const std::uint32_t step : group.steps) take(step, *kernel);
    }
    return {};
  }

  /// Those that nothing took.
  std::string addLoops() {
    loops.loops.resize(nests.size());
    for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
      const estimate::Step& step = program.steps[i];
      if (step.kind != estimate::Step::Kind::Loop || loops.taken[i]) continue;
      const std::uint32_t loop = step.index;
      if (nests[loop].count != 0) {
        const auto kernel = kernels.of(nests[loop]);
        if (!kernel) return wrong(loop, kernel.error());
        result.reports[loop].kernel = kernel->number;
      }
      loops.loops[loop] = {std::move(nests[loop]), result.reports[loop].kernel};
    }
    return {};
  }

  void take(std::uint32_t step, std::uint32_t kernel) {
    loops.taken[step] = true;
    if (program.steps[step].kind == estimate::Step::Kind::Loop) result.reports[program.steps[step].index].kernel = kernel;
  }

  Modules& result;
  const Program& program;
  bool marks;
  Kernels kernels;
  std::vector<LoopNest> nests;
  DeviceLoops loops;
};

}  // namespace

tl::expected<Modules, std::string> emitModules(llvm::LLVMContext& context, const Program& program, bool marks) {
  Modules result;
  result.loops = std::make_unique<llvm::Module>("tbem.loops", context);
  result.glue = std::make_unique<llvm::Module>("tbem.step", context);
  if (isOnDevice(program)) {
    if (auto ready = targetPtx(*result.loops); !ready) return tl::make_unexpected(ready.error());
  }
  if (std::string failed = Emission(result, program, marks).run(); !failed.empty()) return tl::make_unexpected(failed);
  return result;
}

}  // namespace tbem::jit
