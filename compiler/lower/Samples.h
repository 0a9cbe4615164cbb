// The sample axis, followed through shapes: which rows of a tensor belong to which sample.
//
// A tensor *has samples* where its first dimension (that is not 1) is r rows a sample, the samples in order. What stands behind a
// gate must work sample by sample: an operator that mixes samples (a mean over the batch) would see another batch there.
#pragma once

#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::estimate {

/// What an operator does with samples.
struct SampleUse {
  bool has = false;                   ///< an input has samples
  std::vector<bool> along;            ///< by input: its first dimension runs along the result's samples
  std::vector<std::int64_t> results;  ///< by result: rows a sample; 0: no samples
  std::string mixes;                  ///< why it cannot be computed sample by sample; "" if it can
};

/// `dims`: by tensor. `rows`: rows a sample by tensor, 0 without samples. `samples`: of the batch, more than 1. `attributes`: of
/// a native operator, as primitives.def lists them.
SampleUse sampleUse(const graph::Op& op, const std::vector<std::vector<std::int64_t>>& dims,
                    const std::vector<std::int64_t>& rows, std::int64_t samples, const std::vector<std::int64_t>& attributes);

/// Numbers of samples for which a native call behind a gate is prepared: all up to 32, then so many that at most 1/32 of the rows
/// are computed in vain; `samples` itself is the last.
std::vector<std::int64_t> sampleSizes(std::int64_t samples);

}  // namespace tbem::estimate
