#include "runtime/core/Poison.h"

#include <algorithm>
#include <vector>

namespace tbem::runtime {
namespace {
constexpr std::uint64_t kChunk = 1U << 20U;  // multiple of 4
}

tbem_status poisonDevice(const tbem_backend& backend, char* device, std::uint64_t bytes) {
  const std::vector<std::uint32_t> pattern(std::min(bytes, kChunk) / 4 + 1, kPoison);
  for (std::uint64_t at = 0; at < bytes; at += kChunk) {
    const tbem_status status = backend.copy_in(device + at, pattern.data(), std::min(kChunk, bytes - at));
    if (status != TBEM_OK) return status;
  }
  return TBEM_OK;
}

tl::expected<PoisonScan, tbem_status> scanDevice(const tbem_backend& backend, const char* device, std::uint64_t bytes,
                                                 std::span<const Written> allowed) {
  std::vector<Written> ranges(allowed.begin(), allowed.end());
  std::sort(ranges.begin(), ranges.end(), [](const Written& a, const Written& b) { return a.begin < b.begin; });
  PoisonScan scan;
  std::vector<unsigned char> host(std::min(bytes, kChunk));
  std::size_t next = 0;            // first range that begins behind the byte at hand
  std::uint64_t allowedUntil = 0;  // highest end of the ranges before it
  for (std::uint64_t at = 0; at < bytes; at += kChunk) {
    const std::uint64_t count = std::min(kChunk, bytes - at);
    if (tbem_status status = backend.copy_out(host.data(), device + at, count); status != TBEM_OK)
      return tl::make_unexpected(status);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto pattern = static_cast<unsigned char>(kPoison >> (8U * (i % 4U)));  // little-endian
      if (host[i] == pattern) continue;
      const std::uint64_t byte = at + i;
      scan.end = byte + 1;
      while (next < ranges.size() && ranges[next].begin <= byte) allowedUntil = std::max(allowedUntil, ranges[next++].end);
      if (byte >= allowedUntil && scan.stray == kAbsent) scan.stray = byte;
    }
  }
  return scan;
}

}  // namespace tbem::runtime
