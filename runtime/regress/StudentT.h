// Student's t distribution.
#pragma once

namespace tbem::regress {

/// Regularised incomplete beta function I_x(a, b), 0 <= x <= 1, a, b > 0, by Lentz's continued fraction (DLMF 8.17.22). Relative
/// error about 1e-14.
double incompleteBeta(double a, double b, double x);

/// P(T <= t) with `degrees` > 0 degrees of freedom.
double studentCdf(double t, double degrees);

/// The t with P(T <= t) = probability, 0 < probability < 1.
double studentQuantile(double probability, double degrees);

}  // namespace tbem::regress
