// What a row will cost, in one struct: the object that `tbemc estimate --json` prints.
#pragma once

#include "compiler/count/Conventions.h"
#include "compiler/count/Flops.h"
#include "compiler/count/Static.h"
#include "compiler/diagnostics/Source.h"
#include "compiler/estimate/GateMemory.h"
#include "compiler/estimate/GateSeconds.h"
#include "compiler/estimate/Roofline.h"
#include "compiler/lower/program/Program.h"
#include "compiler/lower/recompute/Recompute.h"

#include <optional>
#include <string>

namespace tbem::estimate {

/// The operator during which memory is highest.
struct PeakAt {
  std::string name;   ///< "conv2d", "batch_norm+relu"
  SrcRange range;     ///< in the user's own text
  SrcRange use;       ///< the call itself, which may stand in a library
  std::string scope;  ///< path of the block instance that it stands in; "" for the network
};

/// What a device adds to a static estimate. Bytes.
struct DeviceMemory {
  std::uint64_t live = 0;            ///< largest sum of live bytes: no plan can be below
  std::uint64_t arena = 0;           ///< of the plan that runs
  std::uint64_t kinds[kKinds] = {};  ///< bytes live at the peak, by Kind
  std::uint64_t gaps = 0;            ///< arena - sum of kinds
  std::uint64_t arenaAsWritten = 0;  ///< with the operators in the program's order
  std::string backend;
  tbem_device_info info{};
  std::uint32_t timed = 0;              ///< calls whose algorithm was chosen by timing on this machine
  std::uint32_t unknownWorkspaces = 0;  ///< calls of own code without whose workspaces live and arena are
  std::uint32_t assumed = 0;            ///< calls with several algorithms that were not timed: the default is assumed
};

struct Estimate {
  std::string network;
  Flops flops;
  std::uint32_t unknownFlops = 0;              ///< operators whose FLOPs nobody knows (graph/ir/Opaque.h)
  StaticMemory memory;                         ///< from shapes alone
  std::optional<DeviceMemory> device;          ///< where the row was lowered for a device
  std::optional<Roofline> roofline;            ///< where one was asked for
  std::optional<Recomputation> recomputation;  ///< where clause `checkpoint` asks for it
  PeakAt peak;                                 ///< of the plan if there is one, else of the static estimate
  std::optional<GateMemory> paths;             ///< of the arena, where there are gates and the row was lowered
  std::optional<GateSeconds> seconds;          ///< of the paths on the roofline's device
  std::optional<double> expectedSeconds;       ///< likewise, at these probabilities
  std::optional<double> expectedMemory;        ///< bytes of the arena that a step reaches at these probabilities
  std::optional<double> expected;              ///< FLOPs of a step at assumed probabilities of the gates
};

/// The place of an operator in the user's text and in the network.
PeakAt peakAt(const graph::Graph& graph, const graph::Op& op);

/// `program`: the row lowered for a device, or null. `order`: of this graph.
tl::expected<Estimate, NoValue> estimateRow(const graph::Graph& graph, const sema::Values& values, const Program* program,
                                            const StaticOrder& order, const Convention& convention = fullConvention());
tl::expected<Estimate, NoValue> estimateRow(const graph::Graph& graph, const sema::Values& values, const Program* program);

/// Where the row comes from.
struct RowLabel {
  std::string design;
  std::size_t row = 0;
  std::string levels = "{}";  ///< JSON object: level by factor
  std::string budgets;        ///< JSON list of the design's budgets; empty: it has none
};

/// One line of JSON with the fields that docs/cli.md lists for `estimate`; no line end. `device` and the device's bytes are
/// null where the row was not lowered; `paths` is there where the network has gates, with `flops_expected` null where nothing was
/// assumed of how many samples take which arm. `budgets`, `roofline` and `checkpoint` are there where they were asked for.
std::string toJson(const Estimate& estimate, const RowLabel& label, const SourceManager& sources);

}  // namespace tbem::estimate
