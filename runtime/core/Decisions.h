// What the gates of a network decided in the last step.
#pragma once

#include "runtime/core/Executable.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::runtime {

/// One gate's decisions.
struct Decision {
  std::string gate;  ///< stable path: "unit[3].skip"
  bool exits = false;
  /// By sample of the batch, or by what else the gate decides about, such as places of images: 1 where its condition was true
  /// (the arm was skipped; the sample left), 0 where it was not, -1 where none came to the gate.
  std::vector<std::int8_t> of;
  std::int64_t reached() const;
  std::int64_t taken() const;
};

/// What a gate did with samples.
struct GateCount {
  std::string gate;  ///< as Decision
  bool exits = false;
  std::int64_t reached = 0;  ///< samples that came to it
  std::int64_t taken = 0;    ///< of these, those that left, or for which the arm was left out
};
std::vector<GateCount> countsOf(const std::vector<Decision>& decisions);

/// How many samples, or whatever else its gate decides about, each branch had (by Executable::branches; the first: the whole
/// batch). Empty without gates.
tl::expected<std::vector<std::int64_t>, Failure> branchSizes(const Instance& instance);
/// In program order. Empty without gates.
tl::expected<std::vector<Decision>, Failure> decisions(const Instance& instance);

}  // namespace tbem::runtime
