// The least time that a device can take for a lowered step: the roofline model (Williams, Waterman & Patterson 2009,
// "Roofline: an insightful visual performance model for multicore architectures", CACM 52(4)).
//
// A step of the program (a native call or a fused loop) takes at least its FLOPs over the device's rate for its element type, and
// at least its bytes over the device's bandwidth: the larger of the two. Bytes are those of its operands in their layouts, each
// read or written once; what stays in registers inside a fused loop moves nothing, and neither do workspaces. Steps run one
// after another, so their least times add up.
//
// Devices have no rates of whole numbers: a step that computes in them takes at least the time of its bytes. So does a step in an
// element type for which the device's record has no rate; that is told, for its arithmetic may take longer.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/estimate/Device.h"
#include "compiler/lower/program/Program.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace tbem::estimate {

enum class Bound : std::uint8_t { Compute, Memory };

/// One step of the program.
struct StepCost {
  std::string name;  ///< "conv2d", "batch_norm+relu", "reorder"
  SrcRange range;
  Count flops = 0;  ///< 2 a multiply-add, 1 any other
  std::uint64_t bytes = 0;
  double seconds = 0;
  Bound bound = Bound::Memory;
  std::uint32_t branch = 0;                            ///< of the program: behind a gate
  bool perSample = false;                              ///< it computes for those samples alone that are there
  double arithmetic = 0, moving = 0, movingWhole = 0;  ///< seconds; of `moving`, what does not grow with the branch's samples
  /// Where this share of the branch's samples is there, 0 to 1.
  double secondsOf(double share) const {
    if (share <= 0 || !perSample) return share <= 0 ? 0 : seconds;
    return std::max(arithmetic * share, movingWhole + (moving - movingWhole) * share);
  }
  double intensity() const { return bytes == 0 ? 0 : toDouble(flops) / static_cast<double>(bytes); }  ///< FLOPs a byte
};

/// Arithmetic in an element type of which the device has no rate: these steps count by their bytes alone.
struct LeftOut {
  std::string type;                    ///< "bf16"
  std::vector<std::string> operators;  ///< the steps' names, each once
  Count flops = 0;
};

struct Roofline {
  std::string device;
  std::string type;  ///< "tf32" where f32 products run at that rate, else ""
  Count flops = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;         ///< of the whole step; of a gated network on its dearest path (GateSeconds.h)
  double stepSeconds = 0;     ///< the sum over `steps`, of which a gated network leaves some out
  double computeSeconds = 0;  ///< of the steps that are bound by arithmetic
  Count wholeNumbers = 0;     ///< of `flops`, operations on whole numbers and truth values
  std::vector<LeftOut> leftOut;
  std::vector<StepCost> steps;   ///< in the order of the schedule
  std::vector<Branch> branches;  ///< the program's; empty without gates
  double intensity() const { return bytes == 0 ? 0 : toDouble(flops) / static_cast<double>(bytes); }
};

/// `tf32`: f32 operators with multiply-adds run at the device's TF32 rate. Errors, in words: the device has no such rate, a count
/// without a value, bytes beyond 2^62.
tl::expected<Roofline, std::string> roofline(const graph::Graph& graph, const sema::Values& values, const Program& program,
                                             const Device& device, bool tf32);

}  // namespace tbem::estimate
