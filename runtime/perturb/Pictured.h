// Examples beside what methods made of them: what a page shows.
#pragma once

#include "runtime/perturb/Perturb.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::perturb {

/// An example, and its place among the points of every series.
struct Pictured {
  std::int64_t example = 0;
  std::vector<float> numbers;
  std::vector<std::size_t> places;         ///< by series, of Series::points
  std::vector<std::vector<float>> points;  ///< by series, the numbers of these points
};

/// Of the examples that all series have points of and that these raise, those that they raise most, in the sum of their FLOPs;
/// `most` of them at most, and the first of equal ones. Without their points. Errors: Environment (data).
tl::expected<std::vector<Pictured>, Failure> pictured(const Plan& plan, const data::Dataset& dataset,
                                                      const std::vector<Series>& series, std::size_t most);

/// Reads their points from the store that has the series; those of one method after the other are in memory. Errors: Environment
/// (the store).
tl::expected<void, Failure> readPoints(const Plan& plan, const std::vector<Series>& series, const std::vector<Method>& methods,
                                       const std::string& store, std::vector<Pictured>& pictured);

}  // namespace tbem::perturb
