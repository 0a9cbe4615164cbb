// Which factors move a response: sums of squares over the rows of a design (analysis of variance; Fisher 1925; Box, Hunter &
// Hunter, "Statistics for Experimenters", 2nd ed. 2005, chapters 5 and 6), and over a full grid total effects (Homma & Saltelli
// 1996, "Importance measures in global sensitivity analysis", Reliability Engineering & System Safety 52).
//
// The responses screened here are computed, not measured: there is no error term, so nothing is tested for significance. A share
// says how much of the variation over these rows an effect accounts for.
#pragma once

#include "compiler/design/array/Array.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::design {

struct MainEffect {
  std::uint32_t factor = 0;
  std::vector<std::optional<double>> means;  ///< of the response, by level; nothing for a level without rows
  double squares = 0;                        ///< sum over rows of (level's mean - mean)^2
  double share = 0;                          ///< of the total: Pearson's correlation ratio, Sobol's first-order index
  double range = 0;                          ///< largest mean less smallest
  /// Full grid only: the share that remains where all other factors are known, its interactions included: 1 less the correlation
  /// ratio of the others together.
  std::optional<double> total;
};

/// Of two factors: what their cell means hold beyond their main effects.
struct Interaction {
  std::uint32_t first = 0, second = 0;
  double squares = 0, share = 0;
};

struct Screening {
  std::size_t rows = 0;
  double mean = 0, low = 0, high = 0;
  double squares = 0;                     ///< total, about the mean; 0: nothing moves the response, and all shares are 0
  std::vector<MainEffect> mains;          ///< one a factor, in order
  std::vector<Interaction> interactions;  ///< empty where the rows cannot tell them from main effects (strength below 3), and
                                          ///< where factors are nested
  std::uint32_t strength = 0;             ///< counted over these rows. 2 or more: shares of main effects do not overlap
  bool grid = false;                      ///< every combination of levels stands once
};

/// `array.strength` is not trusted but counted. `response` has one finite number a row.
Screening screen(const Array& array, std::span<const double> response);

/// The factors in falling order of total effect where it is known, else of the main effect's share; equal ones in order.
std::vector<std::uint32_t> ranking(const Screening& screening);
/// What a factor is judged by: its total effect where it is known; else its main effect's share and those of its interactions.
double influence(const Screening& screening, std::uint32_t factor);

}  // namespace tbem::design
