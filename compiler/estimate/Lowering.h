// The state of one lowering, shared by its passes. Inside compiler/estimate only.
//
// A *version* is a tensor in a layout, in a memory. A *memory* becomes an allocation. An *item* is a native call or the
// element-wise loop of one operator; fusion puts items into groups, and a group is a step.
#pragma once

#include "compiler/estimate/Flops.h"
#include "compiler/estimate/Layout.h"
#include "compiler/estimate/Lower.h"

#include <array>
#include <optional>

namespace tbem::estimate {

constexpr std::uint32_t kNone = 0xFFFFFFFFU;

struct Version {
  graph::TensorId tensor = graph::kNoTensor;
  tbem_operand operand{};
  std::uint32_t memory = kNone;
  std::uint32_t root = kNone;  ///< the version that was written; itself, unless this is another view of it
};

struct Memory {
  Kind kind{};
  std::uint64_t bytes = 0;
  bool persistent = false;
  bool kept = false;                   ///< read by the caller after the step
  std::uint32_t writer = kNone;        ///< item that wrote it last so far
  std::vector<std::uint32_t> readers;  ///< items that have read what is there now (persistent ones only)
};

struct Item {
  bool isLoop = false;
  graph::OpId op = graph::kNoOp;     ///< kNoOp: a reorder that lowering inserted
  std::vector<std::uint32_t> reads;  ///< versions; kNone where absent. Of a loop: one an operand
  std::vector<std::uint32_t> writes;
  std::vector<std::uint32_t> before;  ///< items that must come first
  // A call:
  tbem_primitive primitive = TBEM_PRIMITIVE_COUNT;
  std::vector<std::int64_t> attributes;
  std::vector<std::uint32_t> scalars;
  std::uint64_t workspace = 0;
  std::string implementation;
  // A loop:
  tbem_operand space{};           ///< dims and layout that it runs over
  std::vector<bool> sameElement;  ///< by operand: read at the element that is computed
};

/// Items that become one step, in the order in which they were made.
struct Group {
  std::vector<std::uint32_t> items;
  std::uint64_t position = 0;  ///< sorted by it; unique
  bool alive = true;
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

  std::vector<graph::OpId> order;
  std::vector<std::vector<std::int64_t>> dims;  ///< by tensor
  std::vector<Version> versions;
  std::vector<Memory> memories;
  std::vector<Item> items;
  std::vector<Group> groups;
  std::vector<std::uint32_t> groupOf;                  ///< by item
  std::vector<std::vector<std::uint32_t>> versionsOf;  ///< by tensor; the first is where its value was made
  std::vector<std::optional<tbem_operand>> layoutOf;   ///< by storage, persistent ones: chosen at first use
  std::vector<std::uint32_t> memoryOf;                 ///< by storage, persistent ones
  std::vector<graph::TensorId> weightOf;               ///< by tensor: the weight whose gradient it is
  std::vector<std::vector<graph::OpId>> readersOf;     ///< by tensor: scheduled operators that read it
  std::vector<double> scalars;
  std::optional<LowerError> error;

  // Lowering.cpp: values and their versions.
  bool fail(Diag kind, SrcRange range, std::vector<std::string> arguments);
  bool prepare();
  bool isPersistent(graph::TensorId tensor) const;
  /// A persistent value whose layout nobody has asked for yet.
  bool isOpen(graph::TensorId tensor) const;
  tbem_operand plainOf(graph::TensorId tensor) const { return plainOperand(graph[tensor].dtype, dims[graph::index(tensor)]); }
  /// Where the value is now; chooses row-major for one that is open. kNone after an error.
  std::uint32_t current(graph::TensorId tensor);
  /// The value in this layout: as it is, under another name, or through a reorder that is inserted here. kNone after an error.
  std::uint32_t ensure(graph::TensorId tensor, const tbem_operand& wanted, SrcRange range);
  std::uint32_t addVersion(graph::TensorId tensor, const tbem_operand& operand, std::uint32_t memory, std::uint32_t root = kNone);
  std::uint32_t addMemory(Kind kind, std::uint64_t bytes);
  /// A new value of the tensor, in its own memory or its persistent storage (whose layout is then `operand`).
  std::uint32_t addResult(graph::TensorId tensor, const tbem_operand& operand);
  bool reorder(std::uint32_t from, std::uint32_t to, SrcRange range);
  /// Adds the item with its dependences.
  std::uint32_t addItem(Item item);
  std::uint32_t scalarSlot(sema::ExprId id, SrcRange range);
  SrcRange rangeOf(const Item& item) const;

  // LowerCalls.cpp: native operators, views.
  const Answer& ask(tbem_primitive primitive, const std::vector<tbem_operand>& operands, std::size_t inputs,
                    const std::vector<std::int64_t>& attributes);
  bool lowerCall(graph::OpId op);
  bool lowerView(graph::OpId op);
  bool aliasPermuted(const graph::Op& op);

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
