// The state of one lowering, shared by its passes. Inside compiler/estimate only.
//
// A *version* is a tensor in a layout, in a memory. A *memory* becomes an allocation. An *item* is a native call or the
// element-wise loop of one operator; fusion puts items into groups, and a group is a step.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/count/Layout.h"
#include "compiler/graph/ir/Branches.h"
#include "compiler/graph/samples/SameAxes.h"
#include "compiler/graph/samples/SampleUse.h"
#include "compiler/lower/Lower.h"
#include "compiler/lower/Samples.h"

#include <array>
#include <map>
#include <optional>
#include <unordered_map>

namespace tbem::estimate {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

struct Version {
  graph::TensorId tensor = graph::kNoTensor;
  tbem_operand operand{};
  std::uint32_t memory = kNone;
  std::uint32_t root = kNone;                ///< the version that was written; itself, unless this is another view of it
  std::uint32_t space = graph::kAllSamples;  ///< the branch whose samples its rows are, in order; others hold the whole batch
  std::uint32_t guard = graph::kAllSamples;  ///< made only where this branch has samples
  bool window = false;                       ///< Buffer::window
};

struct Memory {
  Kind kind{};
  std::uint64_t bytes = 0;
  bool persistent = false;
  bool kept = false;                   ///< read by the caller after the step
  bool fromStart = false;              ///< in use from the first step on
  std::uint32_t writer = kNone;        ///< item that wrote it last so far
  std::vector<std::uint32_t> readers;  ///< items that have read what is there now (persistent ones only)
};

struct Item {
  bool isLoop = false;
  std::uint32_t branch = graph::kAllSamples;  ///< runs where it has samples
  bool perSample = false;                     ///< as many rows as the branch has samples
  graph::OpId op = graph::kNoOp;              ///< kNoOp: a reorder that lowering inserted
  SrcRange reader;                            ///< of such a reorder: what reads its result
  std::vector<std::uint32_t> reads;           ///< versions; kNone where absent. Of a loop: one an operand
  std::vector<std::uint32_t> writes;
  std::vector<std::uint32_t> before;  ///< items that must come first
  bool own = false;                   ///< of an operator with code of its own
  // A call:
  tbem_primitive primitive = TBEM_PRIMITIVE_COUNT;
  std::vector<std::int64_t> attributes;
  std::vector<std::uint32_t> scalars;
  std::uint64_t workspace = 0;
  std::string implementation;
  std::vector<std::int64_t> sizes;  ///< as NativeCall's
  std::int32_t algorithm = 0;
  std::string choice;             ///< its key in Choices where the backend has several algorithms
  bool assumed = false;           ///< no measurement says which is fastest
  bool unknownWorkspace = false;  ///< NativeCall::unknownWorkspace
  // A loop:
  tbem_operand space{};           ///< dims and layout that it runs over
  std::vector<bool> sameElement;  ///< by operand: read at the element that is computed
};

/// A call behind a gate, with its operands for the whole batch.
struct SizedCall {
  tbem_primitive primitive{};
  std::vector<tbem_operand> operands;
  std::vector<bool> perSample;
  std::size_t inputs = 0;
  std::vector<std::int64_t> attributes;
  std::int32_t algorithm = 0;
  std::int64_t samples = 0;  ///< of `perSample` operands
};

/// Items that become one step, in the order in which they were made.
struct Group {
  std::vector<std::uint32_t> items;
  std::uint64_t position = 0;  ///< sorted by it; unique
  bool alive = true;
};

/// What lowering knows of a branch.
struct BranchState {
  std::uint32_t split = kNone;  ///< the item that lists its members
  std::uint32_t rows = kNone;   ///< version: their numbers in the parent
  std::uint32_t origin = kNone;
  std::int64_t ofEachSample = 0;  ///< Branch::ofEachSample
};

/// What a query answered.
struct Answer {
  tbem_status status = TBEM_UNSUPPORTED;
  std::vector<tbem_operand> operands;
  tbem_op_info info{};
  std::string error;
};

struct Lowering {
  const graph::Graph& graph;
  const sema::Values& values;
  const tbem_backend& backend;
  const LowerOptions& options;
  QueryCache& cache;
  const std::map<graph::OpId, std::vector<graph::OpId>>* standsFor = nullptr;  ///< WithAttention::standsFor; null: none does

  std::vector<graph::OpId> order;               ///< where it is given, that one; else `schedule`'s
  std::vector<std::vector<std::int64_t>> dims;  ///< by tensor
  std::vector<Version> versions;
  std::vector<Memory> memories;
  std::vector<Item> items;
  std::vector<Group> groups;
  std::vector<std::uint32_t> groupOf;                  ///< by item
  std::vector<std::vector<std::uint32_t>> versionsOf;  ///< by tensor; the first is where its value was made
  std::vector<std::optional<tbem_operand>> layoutOf;   ///< by storage, persistent ones: chosen at first use
  std::vector<std::optional<tbem_operand>> placeOf;    ///< by storage: as other functions have it, where this one only reads it
  std::vector<std::uint32_t> memoryOf;                 ///< by storage, persistent ones
  std::vector<graph::TensorId> weightOf;               ///< by tensor: the weight whose gradient it is
  std::vector<std::vector<graph::OpId>> readersOf;     ///< by tensor: scheduled operators that read it
  std::vector<double> scalars;
  std::unordered_map<std::uint64_t, std::uint32_t> slotOf;  ///< by the bits of a scalar that is no argument of the step
  std::optional<LowerError> error;

  std::uint32_t once = kNone;  ///< the first item behind all micro-batches, where gradients are accumulated
  std::uint32_t part = kNone;  ///< version: the number of the micro-batch
  struct Collected {
    std::uint32_t from = kNone, to = kNone;  ///< versions
  };
  std::vector<Collected> collected;    ///< outputs of the whole batch
  std::vector<std::uint32_t> results;  ///< versions that the caller reads after the step

  graph::Branches branches;
  std::vector<BranchState> branchStates;
  std::uint32_t here = graph::kAllSamples;  ///< the branch in which items are added
  /// By branch: the samples that could be in it. Gates decide about samples of the batch, which those of branch 0 are, or about
  /// others, such as the places of an image.
  std::vector<std::int64_t> samplesIn;
  /// By tensor: rows a sample of the branch in which it is made; 0: no samples, or unknown.
  std::vector<std::int64_t> rowsOf;
  /// By tensor: whether it comes of the network's inputs. Empty without gates.
  std::vector<bool> ofInputs;
  std::optional<graph::SameAxes> sameAxes;  ///< nothing without gates
  std::uint32_t exitResult = kNone;         ///< version: where the exits' values are put together

  // Lowering.cpp: values and their versions.
  bool fail(Diag kind, SrcRange range, std::vector<std::string> arguments);
  bool prepare();
  /// Finds which storages lie where they do in other functions.
  void takePlaces();
  /// The storage, which lies in its place in other functions, copied into the layout that it has in this one.
  std::uint32_t bring(graph::TensorId tensor, const tbem_operand& home);
  bool isPersistent(graph::TensorId tensor) const;
  /// A persistent value whose layout nobody has asked for yet.
  bool isOpen(graph::TensorId tensor) const;
  tbem_operand plainOf(graph::TensorId tensor) const { return plainOperand(graph[tensor].dtype, dims[graph::index(tensor)]); }
  /// Where the value is now; chooses row-major for one that is open. kNone after an error.
  std::uint32_t current(graph::TensorId tensor);
  /// The value in this layout: as it is, under another name, or through a reorder that is inserted here. `along`: its rows are to
  /// be those of the samples of the branch `here`; they are gathered where they are not. kNone after an error.
  std::uint32_t ensure(graph::TensorId tensor, const tbem_operand& wanted, SrcRange range, bool along = false);
  std::uint32_t addVersion(graph::TensorId tensor, const tbem_operand& operand, std::uint32_t memory, std::uint32_t root = kNone);
  /// As addVersion, of a value that is made in the branch `here`; its rows are those of `space`.
  std::uint32_t addMade(graph::TensorId tensor, const tbem_operand& operand, std::uint32_t memory, std::uint32_t space);
  std::uint32_t addMemory(Kind kind, std::uint64_t bytes);
  /// A new value of the tensor, in its own memory or its persistent storage (whose layout is then `operand`).
  std::uint32_t addResult(graph::TensorId tensor, const tbem_operand& operand);
  bool reorder(std::uint32_t from, std::uint32_t to, SrcRange range);
  /// The caller reads this version after the step: its memory stays, and it has a buffer though no step may name it (a view).
  void keep(std::uint32_t version);
  /// Adds the item with its dependences.
  std::uint32_t addItem(Item item);
  std::uint32_t scalarSlot(sema::ExprId id, SrcRange range);
  SrcRange rangeOf(const Item& item) const;

  // LowerGates.cpp
  bool findGates();
  std::int64_t samplesHere() const { return samplesIn[here]; }
  std::int64_t rowsHere(graph::TensorId tensor) const;
  bool isWhole(graph::TensorId tensor) const;
  /// How the operator uses samples; sets `rowsOf` of its results. Nothing after an error.
  std::optional<graph::SampleUse> useSamples(const graph::Op& op, const std::vector<std::int64_t>& attributes);
  bool lowerGate(graph::OpId op);
  bool lowerJoin(graph::OpId op);
  /// A version of the value with the rows of `space`, in the layout `wanted` if there is one.
  std::uint32_t inSpace(graph::TensorId tensor, std::uint32_t space, const tbem_operand& wanted, SrcRange range);
  bool moveRows(std::uint32_t from, std::uint32_t fromRows, std::uint32_t to, std::uint32_t toRows, graph::OpId op,
                SrcRange range);
  /// Behind a gate: the numbers of samples that the call can be prepared for, and the workspace of the largest.
  bool sizeCall(Item& item);
  /// For which numbers of samples, up to `most`, a call of so many threads runs well; `workspace` becomes what they need at
  /// least.
  std::vector<std::int64_t> sizesOf(const SizedCall& call, int threads, std::int64_t most, std::uint64_t& workspace);
  bool isReachable(const Version& version) const { return branches.contains(version.guard, here); }

  // LowerCalls.cpp: native operators, views.
  const Answer& ask(tbem_primitive primitive, const std::vector<tbem_operand>& operands, std::size_t inputs,
                    const std::vector<std::int64_t>& attributes, std::int32_t algorithm = 0);
  bool lowerCall(graph::OpId op);
  bool lowerView(graph::OpId op);
  /// Gives a weight that nobody has asked for yet the layout in which its gradient is computed; on a device, where it has none,
  /// that in which `copy`, it in a narrow type, is read.
  void placeWeight(graph::TensorId weight, graph::TensorId copy);
  void placeAs(graph::TensorId weight, const graph::Op& op, graph::TensorId operand);
  bool aliasPermuted(const graph::Op& op);
  /// The item of a call whose layouts are chosen: values are brought into them, results get their memories.
  /// `samplesAlong`: by input, where the call uses each sample by itself (LowerGates.cpp).
  bool placeCall(Item item, const std::vector<graph::TensorId>& tensors, std::size_t inputs,
                 const std::vector<tbem_operand>& operands, const std::vector<bool>& samplesAlong);

  // LowerOwn.cpp: operators with code of their own.
  bool lowerOwn(graph::OpId op);
  /// What is planned for the workspace of the operator's own code, as declared and as its library says. Nothing after an error.
  bool placeOwnWorkspace(const graph::Op& op, const tbem_native_args& args, Item& item);

  // LowerMicroBatches.cpp
  /// Ends what each micro-batch runs: kept outputs are put together. Items from here on run once.
  void lowerWindow(const graph::Op& op, std::uint32_t memory);
  bool endMicroBatch();

  // LowerLoops.cpp: element-wise operators, one item each.
  bool lowerLoop(graph::OpId op);
  /// The operand is read at the element that is computed.
  bool readsSameElement(const graph::Op& op, std::size_t operand) const;

  // Fuse.cpp
  void fuse();
  bool buildLoop(const Group& group, const std::vector<bool>& stored, FusedLoop& loop, std::vector<std::uint32_t>& reads,
                 std::vector<std::uint32_t>& writes);

  // Allocate.cpp
  bool allocate(Program& program);
};

}  // namespace tbem::estimate
