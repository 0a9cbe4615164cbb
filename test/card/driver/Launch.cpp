// Functions of the driver: modules, kernels, launches.
#include "test/card/driver/Api.h"
#include "test/standin/JitLink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

using namespace tbem::card;  // NOLINT: the functions are C's

namespace {

/// What cuModuleLoadDataEx was told: where to write what is wrong.
struct JitLog {
  char* text = nullptr;
  std::size_t bytes = 0;
};

JitLog errorLogOf(unsigned count, const int* names, void* const* values) {
  constexpr int kErrorLog = 5, kErrorLogBytes = 6;  // CU_JIT_ERROR_LOG_BUFFER, _SIZE_BYTES
  JitLog log;
  for (unsigned at = 0; at < count; ++at) {
    if (names[at] == kErrorLog) log.text = static_cast<char*>(values[at]);
    if (names[at] == kErrorLogBytes) log.bytes = reinterpret_cast<std::uintptr_t>(values[at]);
  }
  return log;
}

int resultOf(LoadError::Kind kind) {
  switch (kind) {
    case LoadError::Kind::Text:
    case LoadError::Kind::Target:
      return CUDA_ERROR_INVALID_PTX;
    case LoadError::Kind::Version:
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case LoadError::Kind::Memory:
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_ERROR_UNKNOWN;
}

/// The PTX of an image, which is PTX or what the nvJitLink of the tests made of it. Else the error that a driver gives.
tl::expected<const char*, int> ptxOf(const Card& card, const char* image) {
  constexpr char kElf = '\177';
  if (image == nullptr) return tl::unexpected(CUDA_ERROR_INVALID_IMAGE);
  if (image[0] != kElf) return image;
  if (std::strncmp(image, tbem::standin::kCodeOf.data(), tbem::standin::kCodeOf.size()) != 0)
    return tl::unexpected(CUDA_ERROR_INVALID_IMAGE);
  const std::string_view rest(image + tbem::standin::kCodeOf.size());
  const std::size_t line = rest.find('\n');
  if (rest.substr(0, line) != "sm_" + std::to_string(card.settings.computeCapability))
    return tl::unexpected(CUDA_ERROR_NO_BINARY_FOR_GPU);
  return rest.data() + line + 1;
}

/// Why a kernel cannot be started so; empty if it can.
std::string refusal(const Card& card, const KernelHandle& kernel, const Shape& shape) {
  const unsigned *grid = shape.grid, *threads = shape.threads;
  if (std::any_of(grid, grid + 3, [](unsigned size) { return size == 0; })) return "the grid has no blocks";
  if (std::any_of(threads, threads + 3, [](unsigned size) { return size == 0; })) return "blocks have no threads";
  if (grid[0] > 0x7fff'ffffU || grid[1] > 65535 || grid[2] > 65535) return "the grid is too large";
  const std::uint64_t all = static_cast<std::uint64_t>(threads[0]) * threads[1] * threads[2];
  if (threads[0] > 1024 || threads[1] > 1024 || threads[2] > 64 || all > 1024)
    return fmt::format("blocks of {} threads are too large", all);
  const Function& function = *kernel.function;
  if (function.mostThreads != 0 && (all > function.mostThreads || (function.exactThreads && all != function.mostThreads)))
    return fmt::format("the kernel is compiled for {} threads, not for {}", function.mostThreads, all);
  const std::uint64_t most =
      std::max<std::uint64_t>(kernel.mostDynamicShared, 48ULL * 1024 - std::min<std::uint64_t>(function.sharedBytes, 48 << 10));
  if (shape.sharedBytes > most || function.sharedBytes + shape.sharedBytes > mostSharedOf(card.settings))
    return fmt::format("{} bytes of shared memory and {} of the kernel's own are more than it may have", shape.sharedBytes,
                       function.sharedBytes);
  return "";
}

int runKernel(Card& card, Launch launch) {
  if (card.sticky != CUDA_SUCCESS) return card.sticky;
  launch.conditions = &card.conditions;
  const LaunchEnd end = runLaunch(launch, card.memory, card.settings, ++card.launches);
  card.executed += end.executed;
  if (end.fault) {
    // As on a card, a launch itself succeeds: what happened is told by the calls that follow.
    card.sticky = static_cast<int>(end.fault->kind);
    report(card, end.fault->what());
  }
  return CUDA_SUCCESS;
}

std::vector<std::byte> argumentsOf(const Function& kernel, void* const* values) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at < kernel.parameters.size(); ++at) {
    const Parameter& parameter = kernel.parameters[at];
    bytes.resize(parameter.offset + parameter.bytes);
    std::memcpy(bytes.data() + parameter.offset, values[at], parameter.bytes);
  }
  return bytes;
}

KernelHandle* findKernel(const Card& card, const void* handle) {
  for (const auto& module : card.modules)
    for (const auto& [name, kernel] : module->kernels)
      if (kernel.get() == handle) return kernel.get();
  return nullptr;
}

}  // namespace

TBEM_CARD_API cuModuleLoadDataEx(void** handle, const void* image, unsigned options, int* names, void** values) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuModuleLoadDataEx", {true, true})) return result;
  if (handle == nullptr) return CUDA_ERROR_INVALID_IMAGE;
  const auto ptx = ptxOf(card, static_cast<const char*>(image));
  if (!ptx) return ptx.error();
  keep(card, *ptx);
  auto loaded = loadProgram(*ptx, card.settings.computeCapability, card.memory);
  if (!loaded) {
    report(card, "cuModuleLoadDataEx: " + loaded.error().text);
    const JitLog log = errorLogOf(options, names, values);
    if (log.text != nullptr && log.bytes != 0) {
      const std::size_t length = std::min(log.bytes - 1, loaded.error().text.size());
      std::memcpy(log.text, loaded.error().text.data(), length);
      log.text[length] = '\0';
    }
    return resultOf(loaded.error().kind);
  }
  auto module = std::make_unique<Module>();
  module->loaded = std::move(*loaded);
  for (const auto& function : module->loaded.program.functions)
    if (function->entry)
      module->kernels[function->name] = std::make_unique<KernelHandle>(KernelHandle{module.get(), function.get(), 0});
  *handle = module.get();
  card.modules.push_back(std::move(module));
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuModuleUnload(void* handle) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuModuleUnload", {true, true})) return result;
  const Module* module = find(card.modules, handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const std::uint64_t address : module->loaded.variables) card.memory.release(address);
  std::erase_if(card.modules, [&](const auto& one) { return one.get() == module; });
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuModuleGetFunction(void** function, void* handle, const char* name) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuModuleGetFunction")) return result;
  const Module* module = find(card.modules, handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const auto entry = module->kernels.find(std::string_view(name));
  if (entry == module->kernels.end()) return CUDA_ERROR_NOT_FOUND;
  *function = entry->second.get();
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuFuncSetAttribute(void* handle, int attribute, int value) {
  constexpr int kMostDynamicShared = 8, kCarveout = 9;
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuFuncSetAttribute")) return result;
  KernelHandle* kernel = findKernel(card, handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (attribute == kCarveout) return CUDA_SUCCESS;
  if (attribute != kMostDynamicShared || value < 0) return CUDA_ERROR_INVALID_VALUE;
  if (static_cast<std::uint64_t>(value) + kernel->function->sharedBytes > mostSharedOf(card.settings))
    return CUDA_ERROR_INVALID_VALUE;
  kernel->mostDynamicShared = static_cast<std::uint64_t>(value);
  return CUDA_SUCCESS;
}

TBEM_CARD_API cuLaunchKernel(void* handle, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                             unsigned blockZ, unsigned sharedBytes, void* stream, void** arguments, void** extra) {
  Card& card = theCard();
  const std::lock_guard lock(card.mutex);
  if (const int result = enter(card, "cuLaunchKernel")) return result;
  if (extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  Work work;
  const int result = launchWork(card, handle, {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes}, arguments, work);
  return result != CUDA_SUCCESS ? result : submit(card, stream, std::move(work));
}

namespace tbem::card {

int launchWork(Card& card, const void* handle, const Shape& shape, void* const* arguments, Work& work) {
  const KernelHandle* kernel = findKernel(card, handle);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (arguments == nullptr && !kernel->function->parameters.empty()) return CUDA_ERROR_INVALID_VALUE;
  if (const std::string why = refusal(card, *kernel, shape); !why.empty()) {
    report(card, "the start of " + kernel->function->name + ": " + why);
    return CUDA_ERROR_INVALID_VALUE;
  }
  Launch launch;
  launch.program = &kernel->module->loaded.program;
  launch.kernel = kernel->function;
  std::copy_n(shape.grid, 3, launch.grid);
  std::copy_n(shape.threads, 3, launch.threads);
  launch.dynamicShared = shape.sharedBytes;
  launch.arguments = argumentsOf(*kernel->function, arguments);
  work = [launch](Card& on) { return runKernel(on, launch); };
  return CUDA_SUCCESS;
}

}  // namespace tbem::card
