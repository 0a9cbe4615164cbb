// How often a measured step runs.
#pragma once

#include <cstdint>

namespace tbem::runtime {

/// It is part of a row's identity.
struct ProtocolSettings {
  std::uint32_t warmup = 3;        ///< steps before the timed ones; they count for memory, not for latency
  std::uint32_t steps = 20;        ///< at least so many timed steps,
  double minSeconds = 0.5;         ///< and at least so long,
  std::uint32_t maxSteps = 10000;  ///< but never more steps than this (>= steps)
};

}  // namespace tbem::runtime
