// What an array can and cannot tell apart: rank, condition, efficiency, aliases, factors that determine each other.
#pragma once

#include "compiler/design/model/Basis.h"
#include "compiler/support/Rational.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::design {

/// The model matrix of main effects: sum-to-zero contrasts of every factor, orthonormal within a factor.
struct MainEffects {
  std::size_t parameters = 0;  ///< 1 + sum(levels - 1)
  std::size_t rank = 0;
  double condition = 0;  ///< largest over smallest singular value; 1 for an orthogonal array; infinite if rank < parameters
};
MainEffects mainEffects(const Array& array);

/// The model matrix of a model at the array's rows.
struct ModelQuality {
  std::size_t parameters = 0;
  std::size_t rank = 0;
  double condition = 0;  ///< of the columns scaled to unit length
  double dEfficiency =
      0;  ///< information a row relative to the full factorial, (|X'X/n| / |F'F/N|)^(1/p); 0 if rank-deficient there
  /// p / tr(F'F/N (X'X/n)^-1): mean variance, relative to the full factorial's, of effects that are orthonormal over it, and of
  /// predictions over it (so I-efficiency as well). 0 if rank-deficient.
  double aEfficiency = 0;
  /// Largest variance inflation of a term, by the other terms: 1 where it is orthogonal to them. Of a term of d columns the d-th
  /// root of Fox and Monette's generalised factor (1992), which no coding changes. Infinite if rank-deficient; 1 without terms.
  double inflation = 1;
  std::uint32_t inflated = 0;     ///< that term, in Basis::terms()
  std::vector<double> leverages;  ///< by row; their sum is the rank
  double maxLeverage = 0;
  std::vector<std::string> dependent;  ///< "P2(batch) = 1": columns that the others determine
};
ModelQuality modelQuality(const Basis& basis, const std::vector<Point>& points);

/// An effect that a main effect or interaction shares its rows' pattern with.
struct Alias {
  std::vector<std::uint32_t> effect;  ///< factors of the effect: one for a main effect, two for an interaction
  std::vector<std::uint32_t> with;
  double share =
      0;  ///< mean squared correlation (Groemping's average R^2) of the first's contrasts with the second's span: 1 is complete
  std::string text;  ///< "the main effect of `batch` is aliased completely with `depth` x `width`"
};
/// Main effects against main effects and two-factor interactions that do not hold them, share above 1e-9; for up to `maxFactors`
/// factors.
std::vector<Alias> mainEffectAliases(const Array& array, const std::vector<std::string>& names, std::size_t maxFactors = 24);

/// How much of a term that a model leaves out shows up in a coefficient that it has: an entry of the alias matrix (X'X)^-1 X'Z
/// (Box and Wilson 1951).
struct Bias {
  std::string omitted;  ///< column of the basis of omitted terms: "P1(a)*P1(b)"
  std::string biased;   ///< column of the model
  double weight = 0;    ///< expected error of the coefficient, per unit of the omitted one
  bool hidden = false;  ///< the rows give no sign of the omitted term at all: it lies in the model's span
  std::string text;     ///< "if P1(a)*P1(b) matters, P1(c) takes 1 times its coefficient, and no residual shows it"
};
/// Biases of absolute weight `least` or more, by omitted column. Nothing where the model itself cannot be estimated.
std::vector<Bias> biases(const Basis& model, const std::vector<Term>& omitted, const std::vector<Point>& points,
                         double least = 0.1);

/// Two factors of which one's level determines the other's in every row.
struct Dependence {
  std::uint32_t determining = 0, determined = 0;
  bool mutual = false;  ///< each determines the other
  bool linear = false;  ///< determined = slope * determining + offset, exactly
  Rational slope, offset;
  std::string text;  ///< "`depth` = `convolutions` + 3 in every row"
};
/// Factors with one level only are left out. Exact for values that are rationals of 64 bits.
std::vector<Dependence> dependences(const std::vector<Factor>& factors, const std::vector<Point>& points);

}  // namespace tbem::design
