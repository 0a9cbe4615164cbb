// Where a point may lie: the ball around its example, and the box of valid inputs. Internal to this folder.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <limits>
#include <span>
#include <string>

namespace tbem::perturb {

/// How far a point is from its example.
struct Distance {
  double linf = 0, l2 = 0;
};
Distance distanceBetween(std::span<const float> a, std::span<const float> b);

/// What numbers lie between; those that are none (NaN) do not count.
struct Range {
  float least = std::numeric_limits<float>::infinity(), largest = -std::numeric_limits<float>::infinity();
  void add(std::span<const float> numbers);
  std::string text() const;  ///< "from 0 to 255"
};

/// Why a valid input cannot be these numbers ("has 1.5 at place 3, .."); "" where it can.
std::string outsideOfBox(const Plan& plan, std::span<const float> numbers);
/// The same of a point of this example, which is to lie in the ball too. What f32 rounds of a point on the surface is within.
std::string outsideOfBounds(const Plan& plan, std::span<const float> example, std::span<const float> point);

}  // namespace tbem::perturb
