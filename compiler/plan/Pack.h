// Places of buffers below a given height, by complete search.
//
// Moffitt, "MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023: buffers are
// placed from below, each as low as what lies there allows, in order of their places (section 4: every solution can be pushed
// down into one of that form). A branch ends where some moment's buffers no longer fit above its floor (section 5), where a
// buffer would leave a gap that another fits (section 6), and what no open buffer connects is solved apart.
#pragma once

#include "compiler/plan/Plan.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tbem::estimate {

enum class Fit : std::uint8_t {
  Found,
  None,    ///< shown: nothing places them so low
  Unknown  ///< the search was ended
};

struct Packing {
  Fit fit = Fit::Unknown;
  std::vector<std::uint64_t> offsets;  ///< Found: by request, multiples of the alignment
  std::uint64_t nodes = 0;             ///< placements that were tried
};

/// The search keeps what grows with the square of the requests: for more than these it does not begin (Unknown).
constexpr std::size_t kMostSearched = 8192;

/// Places in [0, capacity), multiples of `alignment`; sizes are rounded up to it. At most `nodes` placements are tried, in the
/// same order on every machine. A request of 0 bytes takes no place.
Packing packWithin(std::span<const Request> requests, std::uint64_t capacity, std::uint64_t nodes,
                   std::uint64_t alignment = kAlignment);

}  // namespace tbem::estimate
