#include "compiler/jit/nvptx/MachineCode.h"

#include "runtime/core/Symbol.h"
#include "runtime/cudnn/Places.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

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

bool takeAll(void* library, Functions& functions) {
  const auto find = [library](const char* name, auto& function) { return runtime::findSymbol(library, name, function); };
  find("nvJitLinkVersion", functions.version);  // the first releases lack it
  return find("nvJitLinkCreate", functions.create) && find("nvJitLinkDestroy", functions.destroy) &&
         find("nvJitLinkAddData", functions.add) && find("nvJitLinkComplete", functions.complete) &&
         find("nvJitLinkGetLinkedCubinSize", functions.cubinBytes) && find("nvJitLinkGetLinkedCubin", functions.cubin);
}

/// A library, which stays open.
struct Opened {
  std::optional<Functions> functions;
  std::string identity;  ///< path, size, time of change
  std::string why;       ///< there is none
};

/// The first that can be used.
Opened open() {
  Functions functions;
  auto file = cudnn::openFirst(kNames, cudnn::jitLinkPlaces(), [&](void* handle) { return takeAll(handle, functions); });
  if (file.handle != nullptr) return {functions, cudnn::identityOf(file.path), {}};
  return {{}, {}, file.why.empty() ? fmt::format("no {}", fmt::join(kNames, " and no ")) : std::move(file.why)};
}

const Opened& library() {
  static const Opened kOpened = open();
  return kOpened;
}

}  // namespace

namespace {
std::optional<std::string> linked(const Functions& link, const std::string& ptx, std::vector<const char*> options) {
  LinkHandle handle = nullptr;
  if (link.create(&handle, static_cast<std::uint32_t>(options.size()), options.data()) != 0) return std::nullopt;
  const auto destroy = [&](LinkHandle* opened) { link.destroy(opened); };
  const std::unique_ptr<LinkHandle, decltype(destroy)> owner(&handle, destroy);
  std::size_t bytes = 0;
  const bool isLinked = link.add(handle, kPtx, ptx.c_str(), ptx.size() + 1, "tbem") == 0 && link.complete(handle) == 0 &&
                        link.cubinBytes(handle, &bytes) == 0;
  if (!isLinked) return std::nullopt;
  std::string code(bytes, '\0');
  return link.cubin(handle, code.data()) == 0 ? std::optional(std::move(code)) : std::nullopt;
}
}  // namespace

std::optional<std::string> machineCodeOf(const std::string& ptx, const std::string& architecture) {
  const std::optional<Functions>& link = library().functions;
  constexpr std::size_t kLeast = std::string_view("sm_75").size();
  if (!link || architecture.size() < kLeast) return std::nullopt;  // for one with a single digit it ends the process
  const std::string option = "-arch=" + architecture;
  // All processors work on the kernels, where the assembler knows how.
  if (auto code = linked(*link, ptx, {option.c_str(), "-Xptxas=--split-compile=0"})) return code;
  return linked(*link, ptx, {option.c_str()});
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
