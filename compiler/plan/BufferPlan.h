// A plan for the buffers of a file: what was found, and what is known of plans that are lower.
#pragma once

#include "compiler/plan/PlanFile.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tbem::estimate {

struct PlanWish {
  std::optional<std::uint64_t> capacity;  ///< a plan that fits is enough
  std::uint64_t alignment = 1;            ///< of offsets, bytes
  std::uint64_t effort = 20'000'000;      ///< placements that the search tries
};

struct BufferPlan {
  PlanFile file;             ///< with offsets
  std::uint64_t peak = 0;    ///< one past the highest byte in use
  std::uint64_t bound = 0;   ///< the largest sum of live buffers
  std::uint64_t proved = 0;  ///< no plan is lower
  enum class Verdict : std::uint8_t {
    Fits,      ///< or no capacity was given
    NoneFits,  ///< that was shown
    NoneFound
  } verdict = Verdict::Fits;
  bool isLowest() const { return peak == proved; }
};

/// Looks longer than every estimate does. What it returns was checked for overlaps, but for those that do not fit.
BufferPlan planBuffers(PlanFile buffers, const PlanWish& wish);

/// What no plan is below, in bytes: of the buffers that live at one step all but the uppermost take multiples of the alignment.
std::uint64_t bytesBound(std::span<const Request> requests, std::uint64_t alignment);

}  // namespace tbem::estimate
