#include "runtime/backends/cuda/device/Code.h"

#include "runtime/backends/cuda/device/Ledger.h"

#include <fmt/format.h>

#include <array>

namespace tbem::cuda {

tbem_status loadCode(const Device& device, const void* ptx, std::string_view name, ModuleHandle& module) {
  // CU_JIT_ERROR_LOG_BUFFER takes the address of a text, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES its size in place of an address.
  constexpr int kErrorLog = 5, kErrorLogBytes = 6;
  std::array<char, 2048> log{};
  std::array<int, 2> names{kErrorLog, kErrorLogBytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const Booking booking(device, &Ledger::modules);
  const int result = device.driver->moduleLoad(&module, ptx, names.size(), names.data(), values.data());
  if (result == 0) return TBEM_OK;
  return check(device, result,
               fmt::format("compiling {} for {}{}{}", name, device.name, log[0] != '\0' ? ": " : "", log.data()).c_str());
}

}  // namespace tbem::cuda
