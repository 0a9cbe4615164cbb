// Places of buffers in one arena: offline dynamic storage allocation.
//
// Requests are rectangles: bytes high, [first, last] wide. Finding the lowest arena is NP-hard (Garey & Johnson 1979, SR2), so
// several greedy orders are placed by first fit, as TFLite and TVM's USMP do, and the best is bettered by hill climbing over
// orders, by placing whatever can lie lowest, and then by complete search (Pack.h). It stops as soon as the arena is as low as
// the largest sum of live bytes, which nothing can pass below.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::estimate {

constexpr std::uint64_t kAlignment = 64;
constexpr std::uint64_t alignUp(std::uint64_t bytes, std::uint64_t alignment = kAlignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Lives during steps first..last, both included. A request of 0 bytes takes no place.
struct Request {
  std::uint64_t bytes = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

struct Plan {
  std::vector<std::uint64_t> offsets;  ///< by request; multiples of the alignment
  std::uint64_t peak = 0;              ///< one past the highest byte in use, rounded up to the alignment
  std::uint64_t bound = 0;             ///< largest sum of live bytes, each rounded up to the alignment
  std::uint64_t proved = 0;            ///< no plan is lower: the bound, or more where complete search has shown it
  bool isLowest() const { return peak == proved; }
};

/// How long a plan may be looked for, in steps, so that the same requests give the same plan on every machine.
struct PlanEffort {
  std::uint64_t looks = 4'000'000;  ///< at a request that lies beside another: greedy orders and hill climbing
  std::uint64_t nodes = 20'000;     ///< placements that complete search tries
};
Plan planOffsets(std::span<const Request> requests, const PlanEffort& effort = {}, std::uint64_t alignment = kAlignment);

/// Largest sum of live bytes, each request rounded up to `alignment`; `step`, where asked for: when (the first such step).
std::uint64_t liveBound(std::span<const Request> requests, std::uint64_t alignment = kAlignment, std::uint32_t* step = nullptr);

/// What is wrong with a plan: two live requests that share bytes, or an offset that is not aligned; nothing where it is sound.
/// Sweeps over time with an ordered set of live intervals, which is not how plans are made.
std::optional<std::string> checkOverlap(std::span<const Request> requests, std::span<const std::uint64_t> offsets,
                                        std::uint64_t alignment = kAlignment);

}  // namespace tbem::estimate
