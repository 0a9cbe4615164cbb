#include "runtime/core/Native.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <dlfcn.h>
#include <unistd.h>

namespace tbem::runtime {

namespace {

/// A name without a slash would be searched for in the system's folders.
std::string pathOf(const std::string& library) {
  std::error_code ignored;
  return std::filesystem::absolute(library, ignored).string();
}

/// The loader would wait for who writes into a pipe.
bool isFile(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// What the loader says, without the path that it begins with.
std::string loaderText(const std::string& path) {
  const char* text = dlerror();
  const std::string all = text != nullptr ? text : "the loader gives no reason";
  return all.starts_with(path + ": ") ? all.substr(path.size() + 2) : all;
}

template <class Function>
Function find(void* handle, const std::string& name) {
  dlerror();
  return reinterpret_cast<Function>(dlsym(handle, name.c_str()));
}

}  // namespace

bool isNativeLoaded(const std::string& library) {
  const std::string path = pathOf(library);
  void* const handle = isFile(path) ? dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD) : nullptr;
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

tl::expected<NativeCode, NativeProblem> loadNative(const std::string& library, const std::string& symbol) {
  using Kind = NativeProblem::Kind;
  const std::string path = pathOf(library);
  if (access(path.c_str(), R_OK) != 0) return tl::unexpected(NativeProblem{Kind::NoFile, std::strerror(errno)});
  if (!isFile(path)) return tl::unexpected(NativeProblem{Kind::NoFile, "it is no regular file"});
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);  // counted: the same file is loaded once
  if (handle == nullptr) return tl::unexpected(NativeProblem{Kind::NotLoadable, loaderText(path)});
  const auto* abi = find<const std::uint32_t*>(handle, "tbem_native_abi");
  if (abi == nullptr || *abi != TBEM_NATIVE_ABI) {
    const std::string has = abi == nullptr ? "it has no TBEM_NATIVE_LIBRARY" : fmt::format("it was written for version {}", *abi);
    return tl::unexpected(NativeProblem{Kind::OtherAbi, fmt::format("{}; this is version {}", has, TBEM_NATIVE_ABI)});
  }
  NativeCode code;
  code.run = find<tbem_native_function>(handle, symbol);
  if (code.run == nullptr) return tl::unexpected(NativeProblem{Kind::NoSymbol, loaderText(path)});
  code.workspace = find<tbem_native_workspace>(handle, symbol + "_workspace");
  return code;
}

}  // namespace tbem::runtime
