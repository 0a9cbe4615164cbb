#include "compiler/jit/nvptx/MachineCode.h"

#include "runtime/cudnn/Places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

namespace tbem::jit {

namespace {

constexpr std::array<const char*, 2> kNames{"libnvJitLink.so.13", "libnvJitLink.so.12"};

using LinkHandle = void*;
constexpr int kPtx = 2;  // NVJITLINK_INPUT_PTX

/// Each gives 0 where it is well.
struct Functions {
  int (*version)(unsigned* major, unsigned* minor) = nullptr;
  int (*create)(LinkHandle* handle, std::uint32_t count, const char** options) = nullptr;
  int (*destroy)(LinkHandle* handle) = nullptr;
  int (*add)(LinkHandle handle, int kind, const void* data, std::size_t bytes, const char* name) = nullptr;
  int (*complete)(LinkHandle handle) = nullptr;
  int (*cubinBytes)(LinkHandle handle, std::size_t* bytes) = nullptr;
  int (*cubin)(LinkHandle handle, void* into) = nullptr;
};

template <class Function>
bool take(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool takeAll(void* library, Functions& functions) {
  take(library, "nvJitLinkVersion", functions.version);  // the first releases lack it
  return take(library, "nvJitLinkCreate", functions.create) && take(library, "nvJitLinkDestroy", functions.destroy) &&
         take(library, "nvJitLinkAddData", functions.add) && take(library, "nvJitLinkComplete", functions.complete) &&
         take(library, "nvJitLinkGetLinkedCubinSize", functions.cubinBytes) &&
         take(library, "nvJitLinkGetLinkedCubin", functions.cubin);
}

/// A library, which stays open.
struct Opened {
  std::optional<Functions> functions;
  std::string identity;  ///< path, size, time of change
  std::string why;       ///< there is none
};

std::string identityOf(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto time = std::filesystem::last_write_time(path, error).time_since_epoch().count();
  return fmt::format("{} {} {}", path, size, error ? 0 : time);
}

/// The first that can be used.
Opened open() {
  Opened opened;
  for (const char* name : kNames) {
    for (const std::string& place : cudnn::jitLinkPlaces()) {
      const std::string path = cudnn::fileIn(place, name);
      if (path.empty()) continue;
      void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      const char* reason = library == nullptr ? ::dlerror() : nullptr;
      Functions functions;
      if (library != nullptr && takeAll(library, functions)) return {functions, identityOf(path), {}};
      if (opened.why.empty())
        opened.why = fmt::format("{} cannot be used: {}", path, reason != nullptr ? reason : "a function is not in it");
    }
  }
  if (opened.why.empty()) opened.why = fmt::format("no {}", fmt::join(kNames, " and no "));
  return opened;
}

const Opened& library() {
  static const Opened kOpened = open();
  return kOpened;
}

}  // namespace

std::optional<std::string> machineCodeOf(const std::string& ptx, const std::string& architecture) {
  const std::optional<Functions>& link = library().functions;
  constexpr std::size_t kLeast = std::string_view("sm_75").size();
  if (!link || architecture.size() < kLeast) return std::nullopt;  // for one with a single digit it ends the process
  const std::string option = "-arch=" + architecture;
  const char* options = option.c_str();
  LinkHandle handle = nullptr;
  if (link->create(&handle, 1, &options) != 0) return std::nullopt;
  const auto destroy = [&](LinkHandle* opened) { link->destroy(opened); };
  const std::unique_ptr<LinkHandle, decltype(destroy)> owner(&handle, destroy);
  std::size_t bytes = 0;
  const bool isLinked = link->add(handle, kPtx, ptx.c_str(), ptx.size() + 1, "tbem") == 0 && link->complete(handle) == 0 &&
                        link->cubinBytes(handle, &bytes) == 0;
  if (!isLinked) return std::nullopt;
  std::string code(bytes, '\0');
  return link->cubin(handle, code.data()) == 0 ? std::optional(std::move(code)) : std::nullopt;
}

const std::string& assemblerIdentity() { return library().identity; }

tl::expected<std::string, std::string> assemblerVersion() {
  const std::optional<Functions>& link = library().functions;
  if (!link) return tl::unexpected(library().why);
  unsigned major = 0, minor = 0;
  const bool isKnown = link->version != nullptr && link->version(&major, &minor) == 0;
  return isKnown ? fmt::format("nvJitLink {}.{}", major, minor) : std::string("nvJitLink");
}

}  // namespace tbem::jit
