#include "runtime/backends/cpu/ops/Parallel.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace tbem::cpu {

namespace {

/// What is left of the pieces that a thread begins with.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

constexpr std::int64_t kMostShares = 64, kPartsOfShare = 8;
constexpr std::int64_t kLine = 64;  ///< long ranges begin at multiples of it: whole cache lines and vectors of any element type

/// How many pieces a thread takes of a share at once.
std::int64_t takenAtOnce(std::int64_t share) {
  const std::int64_t part = std::max<std::int64_t>(1, share / kPartsOfShare);
  return part < kLine ? part : (part + kLine - 1) / kLine * kLine;
}

}  // namespace

void takeInTurn(int threads, std::int64_t count, void (*body)(void*, std::int64_t, std::int64_t), void* context) {
  std::array<Share, kMostShares> shares;
  const std::int64_t of = std::min<std::int64_t>({threads, count, kMostShares});
  std::int64_t even = (count + of - 1) / of;
  if (even >= kLine) even = (even + kLine - 1) / kLine * kLine;
  const std::int64_t atOnce = takenAtOnce(even);
  for (std::int64_t s = 0; s < of; ++s) {
    Share& share = shares[static_cast<std::size_t>(s)];
    share.next = std::min(count, s * even);
    share.end = std::min(count, (s + 1) * even);
  }
#pragma omp parallel num_threads(static_cast <int>(std::min <std::int64_t>(threads, count)))
  {
    const std::int64_t me = omp_get_thread_num();
    for (std::int64_t s = 0; s < of; ++s) {
      Share& share = shares[static_cast<std::size_t>((me + s) % of)];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        const std::int64_t begin = share.next.fetch_add(atOnce, std::memory_order_relaxed);
        if (begin < share.end) body(context, begin, std::min(begin + atOnce, share.end));
      }
    }
  }
}

}  // namespace tbem::cpu
