#include "runtime/backends/cuda/device/Driver.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace tbem::cuda {

namespace {

struct Opened {
  Driver driver;
  std::string why;  ///< it cannot be used; "": it can
};

Opened open() {
  constexpr const char* kName = "libcuda.so.1";
  Opened opened;
  void* library = ::dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    opened.why = fmt::format("there is no driver of NVIDIA's: {}", reason != nullptr ? reason : kName);
    return opened;
  }
#define TBEM_CUDA_FUNCTION(name, symbol, parameters)                                             \
  opened.driver.name = reinterpret_cast<decltype(opened.driver.name)>(::dlsym(library, symbol)); \
  if (opened.driver.name == nullptr && opened.why.empty())                                       \
    opened.why = fmt::format("{} has no {}: a driver for CUDA 12.0 or later is needed", kName, symbol);
#define TBEM_CUDA_LATER(name, symbol, parameters) \
  opened.driver.name = reinterpret_cast<decltype(opened.driver.name)>(::dlsym(library, symbol));
#include "runtime/backends/cuda/device/functions.def"
#undef TBEM_CUDA_FUNCTION
  return opened;
}

}  // namespace

tl::expected<const Driver*, std::string> openDriver() {
  static const Opened kOpened = open();
  if (!kOpened.why.empty()) return tl::unexpected(kOpened.why);
  return &kOpened.driver;
}

}  // namespace tbem::cuda
