// Examples beside what methods made of them: what a page shows.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <vector>

namespace tbem::perturb {

/// An example, and its place among the points of every series.
struct Pictured {
  std::int64_t example = 0;
  std::vector<float> numbers;
  std::vector<std::size_t> places;  ///< by series, of Series::points
};

/// Of the examples that all series have points of, those that these raise most, in the sum of their FLOPs; `most` of them at
/// most, and the first of equal ones. Errors: Environment (data).
tl::expected<std::vector<Pictured>, Failure> pictured(const Plan& plan, const data::Dataset& dataset,
                                                      const std::vector<Series>& series, std::size_t most);

}  // namespace tbem::perturb
