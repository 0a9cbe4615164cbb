// Which of several fits of one model differ: contrasts with simultaneous intervals.
#pragma once

#include "runtime/regress/Fit.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tbem::regress {

/// The difference of one coefficient between two fits.
struct Contrast {
  std::string term;                 ///< "" of the mean response over the rows
  std::size_t left = 0, right = 0;  ///< positions of the fits
  double difference = 0;            ///< left minus right
  Interval interval;                ///< simultaneous with those of all other contrasts
  bool differs() const { return interval.low > 0 || interval.high < 0; }
};

/// All pairs of fits, for the mean response and for each coefficient but the constant. The fits are of one model on the same
/// rows, and their errors are assumed independent, normal and of equal variance, which is pooled. Within a term the intervals are
/// Tukey's (the coefficients of one term have equal variance and are independent), over the terms Bonferroni's, so that all hold
/// at once with `confidence`. Errors: why there are none (fewer than two fits, no degrees of freedom, rows that differ).
/// J. W. Tukey, The problem of multiple comparisons, 1953; R. G. Miller, Simultaneous Statistical Inference, 1981, 2.1 and 2.2.
tl::expected<std::vector<Contrast>, std::string> contrasts(std::span<const Result> fits, double confidence = 0.95);

/// P(Q <= q) of the studentized range of `groups` >= 2 means with `degrees` > 0 degrees of freedom, by quadrature of its double
/// integral; absolute error below 1e-8.
double studentizedRangeCdf(double q, std::size_t groups, double degrees);
/// The q with P(Q <= q) = probability, 0 < probability < 1.
double studentizedRangeQuantile(double probability, std::size_t groups, double degrees);

}  // namespace tbem::regress
