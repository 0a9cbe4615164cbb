// The lowered program of one row on one device: concrete shapes, layouts, fused loops, offsets. What the estimator prints is
// this, and what native code runs is this.
#pragma once

#include "compiler/count/Kinds.h"
#include "compiler/graph/ir/Graph.h"
#include "runtime/include/tbem/backend.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::estimate {

enum class BufferId : std::uint32_t {};
constexpr BufferId kNoBuffer = static_cast<BufferId>(0xFFFFFFFFU);

/// A tensor in a layout, with a place in the arena. Several buffers may share bytes on purpose (views, in-place results): they
/// then have one `allocation`. Inside a chunk (below) that has room for the samples at hand only.
struct Buffer {
  graph::TensorId tensor = graph::kNoTensor;  ///< the value it holds; kNoTensor for a workspace
  std::string name;                           ///< path or name, for people
  tbem_operand operand{};                     ///< element type, dims, layout
  std::uint32_t allocation = 0;               ///< index into Program::allocations
  bool window = false;                        ///< it begins as many of its own sizes further on as the micro-batch's number says
  std::int64_t samples = 0;                   ///< inside a chunk: `operand` has rows of so many, its memory fewer
  std::uint64_t part = 0;                     ///< inside a chunk: thread t's own begins t times so many bytes further on
  bool outside =
      false;  ///< the caller has it: at its place in the arena stands the address of where it lies (jit/glue/Outside.h)
};

/// A piece of the arena. Lives during steps [first, last]; persistent ones over the whole program.
struct Allocation {
  Kind kind{};
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< in the arena, 64-aligned
  std::uint32_t first = 0, last = 0;
  bool persistent = false;
};

/// A call of a backend primitive.
struct NativeCall {
  tbem_primitive primitive{};
  std::vector<BufferId> operands;        ///< inputs then outputs; kNoBuffer where absent
  std::vector<std::int64_t> attributes;  ///< flattened as primitives.def says
  std::vector<std::uint32_t> scalars;    ///< slots of the step's scalars
  BufferId workspace = kNoBuffer;
  std::uint32_t inputs = 0;
  std::string implementation;
  /// Behind a gate: which operands have as many rows as the step's branch has samples (by operand), and for which numbers of
  /// samples the call can be prepared, ascending; it runs at the next one. Empty: always the whole batch.
  std::vector<bool> perSample;
  std::vector<std::int64_t> sizes;
  std::int64_t samples = 0;             ///< of `perSample` operands as they are here: all that could be in the branch
  std::vector<std::int64_t> partSizes;  ///< in a chunk: the same of one thread's call; empty where one thread runs all
  std::int32_t algorithm = 0;           ///< of the backend's for this primitive (backend.h)
  std::string choice;                   ///< its key in Choices where the backend has several; else ""
  bool assumed = false;                 ///< it has several, and no measurement says which is fastest: the default was taken
  graph::OwnCode own;                   ///< its symbol is not empty: an operator's own code, and `primitive` means nothing
  bool unknownWorkspace = false;        ///< of own code: nothing said how large it is, and none was planned
};

/// A fused run of element-wise operators over one iteration space: every output has the dims `dims` in the layout `layout`.
/// Nodes as in graph::Elementwise, but `Input` reads `inputs[node.input]`, constants and scalars are resolved:
/// Scalar nodes have their slot in `node.input`, and a node's value can be used by any later node.
struct FusedLoop {
  std::vector<std::int64_t> dims;
  tbem_layout layout{};
  std::vector<graph::ElemNode> nodes;
  struct Input {
    BufferId buffer = kNoBuffer;
    std::vector<std::int32_t> axes;
  };
  std::vector<Input> inputs;
  struct Output {
    BufferId buffer = kNoBuffer;
    std::uint32_t node = 0;
    BufferId rows = kNoBuffer;  ///< behind a gate: sample i goes to the row that this list has for it, not to row i
  };
  std::vector<Output> outputs;  ///< may be the same allocation as an input of the same layout (in place)
  /// Behind a gate: dims[0] is as many rows as the step's branch has samples. Always the outermost in the layout.
  bool perSample = false;
  std::int64_t samples = 0;  ///< where it is: all that could be in the branch
};

/// Some of the samples, chosen at run time by gates; graph::Branch, with where its members are listed. Branch 0 is all samples of
/// the batch. A gate may decide about others, such as the places of an image: they are the samples of its branches.
struct Branch {
  std::uint32_t parent = 0;
  graph::OpId gate = graph::kNoOp;
  std::string path;          ///< the gate's: "unit[3].skip"
  bool exits = false;        ///< the gate is an `exit`, not a `skip`
  bool condition = false;    ///< the gate's condition is true for them
  std::int64_t samples = 0;  ///< that could be in it
  /// How many of them each sample of the batch has, one behind the other: 1 where the gate decides about those, 0 where they are
  /// no sample's (computed over the batch).
  std::int64_t ofEachSample = 0;
  /// i64[1 + samples]: how many there are (zeroed when a step begins), then their numbers in the parent's order, ascending.
  BufferId rows = kNoBuffer;
  BufferId origin = kNoBuffer;  ///< the same with their numbers among all; `rows` itself where the parent is branch 0
};

/// Steps of one branch that run for some of its samples, then for the next ones, so that what they hand to each other stays in a
/// processor's cache (Chunks.cpp). In these steps the chunk's lists stand in the place of the branch's. Of several threads each
/// takes its own samples through all the steps; those left over, fewer than threads, are run by all of them together behind that.
struct Chunk {
  std::uint32_t first = 0, last = 0;  ///< steps; those of two chunks never overlap
  std::uint32_t branch = 0;
  std::int64_t samples = 0;  ///< at most so many at a time, of a thread
  std::int64_t threads = 1;
  BufferId rows = kNoBuffer;    ///< as Branch::rows, of the samples at hand; kNoBuffer where no step reads it
  BufferId origin = kNoBuffer;  ///< as Branch::origin; kNoBuffer where no step reads it, or where it is `rows`
};

/// One step of the schedule.
struct Step {
  enum class Kind : std::uint8_t { Call, Loop } kind{};
  std::uint32_t index = 0;       ///< into calls or loops
  std::vector<graph::OpId> ops;  ///< what it computes; empty for a reorder that lowering inserted
  SrcRange range;
  std::string name;          ///< "conv2d", "batch_norm+relu", "reorder"
  std::uint32_t branch = 0;  ///< runs where this branch has samples
};

/// Gradient accumulation (graph/read/MicroBatches.h): the first `steps` steps run `parts` times, once for each micro-batch;
/// the others once, behind them. Windows move from micro-batch to micro-batch.
struct MicroBatches {
  std::int64_t parts = 1;
  std::uint32_t steps = 0;
  BufferId number = kNoBuffer;   ///< i64: of the micro-batch at hand, from 0; 0 among the steps that run once
  std::vector<BufferId> zeroed;  ///< sums over the micro-batches: zero when a step begins
  /// Behind each micro-batch `from` is copied into its own rows of `to`, a buffer of the whole batch.
  struct Collected {
    BufferId from = kNoBuffer, to = kNoBuffer;
  };
  std::vector<Collected> collected;
};

struct Program {
  std::vector<Buffer> buffers;
  std::vector<Allocation> allocations;
  std::vector<NativeCall> calls;
  std::vector<FusedLoop> loops;
  std::vector<Step> steps;
  std::vector<Branch> branches;  ///< the first is all samples; a parent before its children
  std::vector<Chunk> chunks;     ///< in the order of their steps
  std::int64_t samples = 0;      ///< of the batch; 0 without gates
  MicroBatches micro;
  std::vector<double> scalars;  ///< this row's values of the run-time scalars; slot 0 (the step number) is set by the runtime
  std::uint64_t arena = 0;      ///< bytes, persistent ones included
  std::uint64_t arenaAsWritten =
      0;                   ///< the same in the program's order; more where one that holds less was found (OrderSearch.h)
  std::uint64_t live = 0;  ///< largest sum of live bytes: the bound that the plan is measured against
  std::uint32_t peakStep = 0;
  std::uint64_t kinds[kKinds] = {};  ///< bytes live at the arena's peak
  std::uint64_t gaps = 0;            ///< arena - sum of kinds
  /// By graph tensor: the buffer that holds it, or kNoBuffer (fused away).
  std::vector<BufferId> bufferOf;
  std::string backend;
  std::string target;  ///< what loops are compiled for where the host cannot reach the arena: "nvptx64"; "": the host
  tbem_device_info device{};
  int threads = 1;    ///< for which it was lowered
  bool tf32 = false;  ///< as Graph::tf32

  /// What a step reads and writes, with its workspace and lists of rows; each as often as it is named.
  std::vector<BufferId> buffersOf(const Step& step) const;
  /// The same, to put other buffers in their places.
  std::vector<BufferId*> buffersOf(const Step& step);
  /// Calls of own code without whose workspaces the arena is.
  std::uint32_t unknownWorkspaces() const;
  /// How often a step of the schedule runs.
  std::int64_t runsOf(std::uint32_t step) const { return step < micro.steps ? micro.parts : 1; }
  const Buffer& operator[](BufferId id) const { return buffers[static_cast<std::uint32_t>(id)]; }
};

}  // namespace tbem::estimate
