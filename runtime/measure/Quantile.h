// Quantiles of a sample.
#pragma once

#include <span>

namespace tbem::measure {

/// The quantile `q` in [0, 1] of values in ascending order, linearly interpolated between the order statistics around
/// (n - 1) q: type 7 of Hyndman & Fan (1996), "Sample quantiles in statistical packages", The American Statistician 50(4);
/// NumPy's default method "linear". NaN for no values. O(1).
double quantileOfSorted(std::span<const double> sorted, double q);
/// The same of values in any order; copies and sorts them.
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);

}  // namespace tbem::measure
