// A libnvJitLink whose code for a card is the PTX itself, for the card of the tests (JitLink.h).
#include "test/standin/JitLink.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr int kInvalid = 6, kUnknownOption = 1;  // NVJITLINK_ERROR_..
constexpr int kPtx = 2;

struct Link {
  std::string architecture, ptx, code;
};

}  // namespace

extern "C" {

int nvJitLinkVersion(unsigned* major, unsigned* minor) {
  *major = 13;
  *minor = 99;
  return 0;
}

int nvJitLinkCreate(void** handle, std::uint32_t count, const char** options) {
  constexpr std::string_view kArchitecture = "-arch=sm_";
  if (count != 1 || !std::string_view(options[0]).starts_with(kArchitecture)) return kUnknownOption;
  *handle = new Link{std::string("sm_") + (options[0] + kArchitecture.size()), {}, {}};
  return 0;
}

int nvJitLinkDestroy(void** handle) {
  delete static_cast<Link*>(*handle);
  *handle = nullptr;
  return 0;
}

int nvJitLinkAddData(void* handle, int kind, const void* data, std::size_t bytes, const char* name) {
  const auto* text = static_cast<const char*>(data);
  if (kind != kPtx || name == nullptr || bytes == 0 || text[bytes - 1] != '\0') return kInvalid;
  static_cast<Link*>(handle)->ptx.assign(text, bytes);
  return 0;
}

int nvJitLinkComplete(void* handle) {
  auto& link = *static_cast<Link*>(handle);
  if (link.ptx.empty()) return kInvalid;
  link.code = std::string(tbem::standin::kCodeOf) + link.architecture + "\n" + link.ptx;
  return 0;
}

int nvJitLinkGetLinkedCubinSize(void* handle, std::size_t* bytes) {
  *bytes = static_cast<Link*>(handle)->code.size();
  return 0;
}

int nvJitLinkGetLinkedCubin(void* handle, void* into) {
  const std::string& code = static_cast<Link*>(handle)->code;
  std::memcpy(into, code.data(), code.size());
  return 0;
}

}  // extern "C"
