#include "runtime/cudnn/Properties.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tbem::cudnn {

namespace {
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}
}  // namespace

std::string toJson(const DeviceProperties& d) {
  std::string text = "{";
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format("{}\"{}\": {}", text.size() == 1 ? "" : ", ", key, value);
  };
  const auto number = [&](const char* key, auto value) { add(key, fmt::format("{}", value)); };
  add("deviceName", quoted(d.name));
  number("deviceVer", d.capability);
  number("multiProcessorCount", d.multiprocessors);
  number("totalGlobalMem", d.memory);
  number("l2CacheSize", d.l2);
  number("smClockRateKHz", d.clockKHz);
  number("memClockRateKHz", d.memoryClockKHz);
  number("maxSharedMemoryPerBlock", d.sharedPerBlock);
  number("maxSharedMemoryPerBlockOptin", d.sharedPerBlockMost);
  number("reservedSharedMemoryPerBlock", d.sharedReserved);
  number("regsPerBlock", d.registersPerBlock);
  number("maxRegistersPerSM", d.registersPerMultiprocessor);
  number("maxThreadsPerBlock", d.threadsPerBlock);
  number("maxThreadsPerSM", d.threadsPerMultiprocessor);
  number("maxCtasPerSM", d.blocksPerMultiprocessor);
  number("warpSize", d.warp);
  add("maxBlockSize", fmt::format("[{}]", fmt::join(d.block, ", ")));
  add("maxGridSize", fmt::format("[{}]", fmt::join(d.grid, ", ")));
  number("driverVer", d.driver);
  number("cudaDeviceId", 0);
  number("pciDeviceId", 0);
  number("isTccDriver", 0);
  number("supportCoopLaunch", 1);
  return text + "}";
}

}  // namespace tbem::cudnn
