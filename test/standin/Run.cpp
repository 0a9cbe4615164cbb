#include "test/standin/Run.h"

#include <embedded/tbem_standin_kernels.h>

#include <cstring>

#include <dlfcn.h>

namespace tbem::standin {

namespace {

struct Driver {
  int (*load)(void** module, const void* image, unsigned options, int* names, void** values);
  int (*find)(void** function, void* module, const char* name);
  int (*launch)(void* function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ,
                unsigned sharedBytes, void* stream, void** arguments, void** extra);
  int (*set)(std::uint64_t memory, unsigned char value, std::size_t bytes, void* stream);
};

/// Null: the process has opened none.
const Driver* driver() {
  static Driver functions;
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  const auto take = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
  };
  take(functions.load, "cuModuleLoadDataEx");
  take(functions.find, "cuModuleGetFunction");
  take(functions.launch, "cuLaunchKernel");
  take(functions.set, "cuMemsetD8Async");
  return &functions;
}

template <class Work>
Outcome launch(const Driver& cuda, const char* name, Work work, void* stream) {
  constexpr std::int64_t kThreads = 128;
  static void* module = nullptr;
  void* function = nullptr;
  if (standin_kernels::files().empty()) return {1, "looking for kernels, of which there are none without nvcc"};
  if (module == nullptr) {
    if (const int error = cuda.load(&module, standin_kernels::files().front().text.data(), 0, nullptr, nullptr); error != 0)
      return {error, "loading the stand-in's kernels"};
  }
  if (const int error = cuda.find(&function, module, name); error != 0) return {error, "looking for the stand-in's kernel"};
  void* arguments[] = {&work};
  const auto blocks = static_cast<unsigned>((countOf(work) + kThreads - 1) / kThreads);
  return {cuda.launch(function, blocks, 1, 1, kThreads, 1, 1, 0, stream, arguments, nullptr), "starting the stand-in's kernel"};
}

template <class Work>
Outcome runAnywhere(const char* name, const Work& work, void* stream) {
  if (const Driver* const cuda = driver()) return launch(*cuda, name, work, stream);
  for (std::int64_t at = 0; at < countOf(work); ++at) compute(work, at);
  return {};
}

}  // namespace

Outcome run(const ProductWork& work, void* stream) { return runAnywhere("standin_product", work, stream); }
Outcome run(const ConvWork& work, void* stream) { return runAnywhere("standin_convolution", work, stream); }
Outcome run(const StepWork& work, void* stream) { return runAnywhere("standin_step", work, stream); }

Outcome spoil(void* workspace, std::size_t bytes, void* stream) {
  if (const Driver* const cuda = driver())
    return {cuda->set(reinterpret_cast<std::uint64_t>(workspace), 0xFF, bytes, stream), "spoiling a workspace"};
  std::memset(workspace, 0xFF, bytes);
  return {};
}

}  // namespace tbem::standin
