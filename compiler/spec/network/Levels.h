// The conditions of a design's network, for all combinations of its levels at once.
//
// Each structure's conditions and dimensions are expressions over the factors that steer nothing. What intervals do not decide is
// evaluated at every combination of the levels of the factors on which it depends, not at every row.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/spec/network/Duties.h"
#include "compiler/spec/prove/Prove.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::spec {

/// Some levels of a factor, in words: "stride = 2", "kernel even", "depth >= 5".
struct Cause {
  std::uint32_t factor = 0;
  std::vector<std::uint32_t> levels;  ///< positions, ascending
  std::string text;
  std::string condition;  ///< as a program would write it: "stride = 2", "kernel mod 2 = 0"
};

/// A condition that breaks at some combination.
struct Breach {
  std::string subject, text;               ///< "conv2d", "h >= 3"; a dimension's tensor and expression
  std::string mistake;                     ///< where it ends the elaboration: what is told of that; `subject` is empty then
  bool isDimension = false;                ///< a dimension that is not whole or not above 0
  SrcRange range, use;                     ///< the condition, the call that must meet it
  std::uint64_t combinations = 0;          ///< of the design's, that break it, each once
  bool isLeast = false;                    ///< those were too many to list; at least so many
  std::size_t rows = 0;                    ///< of the design's rows
  std::vector<std::uint32_t> nearest;      ///< levels that break it, with the fewest changes from the first levels
  std::vector<std::vector<Cause>> causes;  ///< each alone breaks it whatever the other factors are
  bool allCauses = false;                  ///< together they are all there is
};

struct LevelProof {
  Verdict verdict = Verdict::Proved;  ///< Residual: some combinations were not looked at
  std::uint64_t combinations = 0;     ///< of the design's levels
  std::size_t structures = 0, conditions = 0;
  std::size_t byIntervals = 0;   ///< conditions that intervals decide
  std::uint64_t points = 0;      ///< values computed for the others
  std::vector<Breach> breaches;  ///< in the order of the text
  std::vector<Doubt> doubts;     ///< conditions that were not looked at at every combination
  std::string reason;            ///< Residual: why
};

struct LevelQuestion {
  graph::Experiment* experiment = nullptr;
  const graph::ExperimentSpec* spec = nullptr;
  std::vector<std::vector<std::uint32_t>> rows;  ///< of the design
  /// Whether a combination is one of the design's (its `where`); empty: all are.
  std::function<bool(std::span<const std::uint32_t>)> allowed;
  /// What building a row with these levels reports; empty: nothing can be said of levels with which nothing can be built.
  std::function<std::deque<Diagnostic>(std::span<const std::uint32_t>)> reportsAt;
  /// Structures that are looked at; about 3 ms of processor each, for 70 operators (2.5 GHz).
  std::size_t maxStructures = 256;
  /// Makes the experiment anew. Where there are many structures it takes the place of `experiment`, so that they do not all live
  /// at once; empty: they do.
  std::function<std::unique_ptr<graph::Experiment>()> fresh;
  /// Of all proofs of the command (ProofLimits): at its end the rest is left.
  Work* work = nullptr;
};

LevelProof proveLevels(const LevelQuestion& question);

}  // namespace tbem::spec
