// Blocks: observations that were made under equal circumstances, such as on the same card of several, and what a block adds to
// all of its responses (Box, Hunter & Hunter 2005, "Statistics for Experimenters", section 4.2).
#pragma once

#include "runtime/regress/Fit.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbem::regress {

/// The effects of `count` blocks, whose sum is 0, beside the model's terms, by least squares; `blocks[i]` is that of observation
/// i. A fit of the model to the responses less these effects has the coefficients and the residuals of the fit with both.
/// Refusals: as of `fit`, which says so where blocks and terms cannot be told apart.
tl::expected<std::vector<double>, Refusal> blockEffects(const std::vector<Factor>& factors, const std::vector<Point>& rows,
                                                        std::span<const double> response, const Model& model,
                                                        const std::vector<std::uint32_t>& blocks, std::size_t count);

/// An observation of a row, in a block.
struct InBlock {
  std::size_t row = 0;
  std::uint32_t block = 0;
};

/// Of each row, by how much more of its observations are in a block than in the last one: the columns with which a fit to the
/// means or medians of rows, less the effects, counts what the effects took. They are 0 where every row is in all blocks as
/// often.
Nuisance blockShares(std::span<const InBlock> observations, std::size_t rows, std::size_t count);

}  // namespace tbem::regress
