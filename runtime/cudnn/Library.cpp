#include "runtime/cudnn/Library.h"

#include "runtime/core/Symbol.h"
#include "runtime/cudnn/Places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace tbem::cudnn {

using runtime::findSymbol;

namespace {

constexpr const char* kName = "libcudnn.so.9";
constexpr std::size_t kOldest = 90800;  // the first that answers for devices that are not there

/// The name of a function that the library lacks, or nothing.
const char* loadAll(void* library, api::Functions& f) {
  if (!findSymbol(library, "cudnnGetVersion", f.version)) return "cudnnGetVersion";
  if (!findSymbol(library, "cudnnGetErrorString", f.errorString)) return "cudnnGetErrorString";
  if (!findSymbol(library, "cudnnGetLastErrorString", f.lastError)) return "cudnnGetLastErrorString";
  if (!findSymbol(library, "cudnnBackendCreateDescriptor", f.create)) return "cudnnBackendCreateDescriptor";
  if (!findSymbol(library, "cudnnBackendDestroyDescriptor", f.destroy)) return "cudnnBackendDestroyDescriptor";
  if (!findSymbol(library, "cudnnBackendFinalize", f.finalize)) return "cudnnBackendFinalize";
  if (!findSymbol(library, "cudnnBackendSetAttribute", f.set)) return "cudnnBackendSetAttribute";
  if (!findSymbol(library, "cudnnBackendGetAttribute", f.get)) return "cudnnBackendGetAttribute";
  if (!findSymbol(library, "cudnnCreate", f.createHandle)) return "cudnnCreate";
  if (!findSymbol(library, "cudnnDestroy", f.destroyHandle)) return "cudnnDestroy";
  if (!findSymbol(library, "cudnnSetStream", f.setStream)) return "cudnnSetStream";
  return findSymbol(library, "cudnnBackendExecute", f.execute) ? nullptr : "cudnnBackendExecute";
}

}  // namespace

/// cuDNN asks for `libcuda.so.1` by that name: one that is loaded already under it, from wherever, is what it gets.
LibcudaFound openLibcuda(const std::vector<std::string>& stubs) {
  for (const std::string& stub : stubs) {  // opened before in this process
    if (::dlopen(stub.c_str(), RTLD_NOW | RTLD_NOLOAD) != nullptr) return {Libcuda::Stub, stub};
  }
  if (::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL) != nullptr) return {Libcuda::Real, ""};
  for (const std::string& stub : stubs) {
    if (::dlopen(stub.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return {Libcuda::Stub, stub};
  }
  return {};
}

std::string describe(const LibcudaFound& found) {
  if (found.kind == Libcuda::Real) return "the driver's";
  return found.kind == Libcuda::Stub ? fmt::format("the toolkit's stub ({})", found.path)
                                     : "none, so engines compiled at run time are missing";
}

tl::expected<std::string, std::string> findLibrary(const std::string& given, const std::vector<std::string>& places) {
  std::error_code ignored;
  if (!given.empty()) {
    if (std::filesystem::is_regular_file(given, ignored)) return given;
    if (std::string found = fileIn(given, kName); !found.empty()) return found;
    return tl::unexpected(fmt::format("{} holds no {}, nor does lib or lib64 in it", given, kName));
  }
  for (const std::string& place : places) {
    if (std::string found = fileIn(place, kName); !found.empty()) return found;
  }
  return tl::unexpected(
      fmt::format("there is no {} in {}", kName,
                  places.empty() ? std::string("any place that is known") : fmt::format("{}", fmt::join(places, ", "))));
}

tl::expected<Library, std::string> openLibrary(const std::string& path) {
  Library library;
  library.path = path;
  if (::dlopen(kName, RTLD_NOW | RTLD_NOLOAD) != nullptr && ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) == nullptr)
    return tl::unexpected(fmt::format("{}: another cuDNN is open in this process, and a process has one", path));
  void* opened = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* why = ::dlerror();
    return tl::unexpected(fmt::format("{} cannot be loaded: {}", path, why != nullptr ? why : "no reason is given"));
  }
  if (const char* missing = loadAll(opened, library.functions); missing != nullptr)
    return tl::unexpected(fmt::format("{} has no {}: cuDNN 9.8 or later is needed", path, missing));
  const std::size_t version = library.functions.version();
  library.version = fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
  if (version < kOldest)
    return tl::unexpected(fmt::format("{} is cuDNN {}: it answers for absent devices from 9.8 on", path, library.version));
  return library;
}

}  // namespace tbem::cudnn
