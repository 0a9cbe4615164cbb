#include "runtime/backends/cuda/device/Code.h"

#include "runtime/backends/cuda/device/Ledger.h"
#include "runtime/backends/cuda/device/Op.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tbem::cuda {

namespace {
bool isCubin(const void* image) { return std::memcmp(image, "\177ELF", 4) == 0; }

/// Of a card or driver for which the code was not made.
bool isOfAnother(int result) {
  constexpr std::array<int, 3> kRefused{200, 209, 222};  // CUDA_ERROR_INVALID_IMAGE, _NO_BINARY_FOR_GPU, _UNSUPPORTED_PTX_VERSION
  return std::ranges::find(kRefused, result) != kRefused.end();
}
}  // namespace

tbem_status loadCode(const Device& device, const void* image, std::string_view name, ModuleHandle& module) {
  // CU_JIT_ERROR_LOG_BUFFER takes the address of a text, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES its size in place of an address.
  constexpr int kErrorLog = 5, kErrorLogBytes = 6;
  std::array<char, 2048> log{};
  std::array<int, 2> names{kErrorLog, kErrorLogBytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const Booking booking(device, &Ledger::modules);
  const int result = device.driver->moduleLoad(&module, image, names.size(), names.data(), values.data());
  if (result == 0) return TBEM_OK;
  if (isCubin(image) && isOfAnother(result)) return fail(TBEM_UNSUPPORTED, fmt::format("{}: not made for {}", name, device.name));
  return check(device, result,
               fmt::format("compiling {} for {}{}{}", name, device.name, log[0] != '\0' ? ": " : "", log.data()).c_str());
}

}  // namespace tbem::cuda
