// Static memory: what a row holds at its worst moment, from shapes alone, before any device is asked.
//
// The largest sum of live storages on the unfused graph, in the order in which the step runs (Schedule.h). Persistent storages
// (weights, optimiser state, buffers, inputs, constants) live throughout; any other from the operator that writes it first to the
// one that reads it last; what the step returns (Schedule.h) to the end. Views share. Nothing is
// computed in place, nothing is padded, no library takes a workspace: that is what `lower` adds and takes away.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/count/Kinds.h"

namespace tbem::estimate {

/// A storage that is live at the peak.
struct LiveStorage {
  graph::StorageId storage{};
  std::uint64_t bytes = 0;
};

/// When a storage is there: positions in StaticOrder::ops.
struct Lifespan {
  std::uint32_t first = UINT32_MAX, last = 0;
  bool used = false;  ///< by an operator that runs
  bool persistent = false;
  Kind kind{};
  /// Whether its bytes are held at all.
  bool counts() const { return used || persistent; }
};

/// What all rows of a structure have in common.
struct StaticOrder {
  std::vector<graph::OpId> ops;  ///< in the order in which they run
  std::vector<bool> optional;    ///< by position: in an arm of a gate, or behind an exit: some samples may never come there
  std::vector<Lifespan> lives;   ///< by StorageId
};
StaticOrder staticOrder(const graph::Graph& graph);

struct StaticMemory {
  std::uint64_t bytes = 0;
  std::uint64_t kinds[kKinds] = {};  ///< at the peak, by Kind
  std::vector<LiveStorage> live;     ///< at the peak; their sum is `bytes`
  graph::OpId peak = graph::kNoOp;   ///< operator during which it is reached; kNoOp for a graph without operators
  std::uint64_t least = 0;           ///< with gates: every arm that holds less is taken; else `bytes`
};

/// "weights", "gradients", ...: the names of the estimate's `kinds`.
std::string_view kindName(Kind kind);
/// A JSON object of bytes by kind, and the gaps between them.
std::string kindsJson(const std::uint64_t (&kinds)[kKinds], std::uint64_t gaps);
Kind kindOf(graph::StorageClass storage);
/// In memory over the whole step, and the same one for every value.
bool isPersistent(const graph::Storage& storage);

/// `order`: of this graph.
tl::expected<StaticMemory, NoValue> staticMemory(const graph::Graph& graph, const sema::Values& values, const StaticOrder& order);
tl::expected<StaticMemory, NoValue> staticMemory(const graph::Graph& graph, const sema::Values& values);

}  // namespace tbem::estimate
