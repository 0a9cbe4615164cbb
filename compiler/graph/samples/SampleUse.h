// The sample axis, followed through shapes: which rows of a tensor belong to which sample.
//
// A tensor *has samples* where its first dimension (that is not 1) is r rows a sample, the samples in order. What stands behind a
// gate must work sample by sample: an operator that mixes samples (a mean over the batch) would see another batch there.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::graph {

/// What an operator does with samples.
struct SampleUse {
  bool follows = false;     ///< its results have samples, if it does not mix them: an input has, along which it computes
  std::vector<bool> along;  ///< by input: its first dimension runs along the result's samples
  std::vector<std::int64_t> results;  ///< by result: rows a sample; 0: no samples
  std::string mixes;                  ///< why its results have no rows of samples; "" if they have
  std::string byPlace;                ///< why it would give a sample other numbers at another place; "" if it would not
};

/// The first dimension that is not 1: samples lie there, where a view has put dimensions of 1 before them.
std::size_t rowDimension(const std::vector<std::int64_t>& shape);

/// What the rows of an operator's inputs are; rows are followed by these.
struct SampleRows {
  std::vector<std::int64_t> each;  ///< by input: rows a sample, 0 without samples
  std::vector<bool> isWhole;       ///< by input: it was made for all samples, and can be read as it is
};

/// `dims`: by tensor. `samples`: that could be there, more than 1. `attributes`: of a native operator, as primitives.def lists
/// them.
SampleUse sampleUse(const Op& op, const std::vector<std::vector<std::int64_t>>& dims, const SampleRows& rows,
                    std::int64_t samples, const std::vector<std::int64_t>& attributes);

/// The same with the operator's own attributes. Nothing where they have no values, which lowering says.
std::optional<SampleUse> sampleUse(const Op& op, const sema::Values& values, const std::vector<std::vector<std::int64_t>>& dims,
                                   const SampleRows& rows, std::int64_t samples);

}  // namespace tbem::graph
