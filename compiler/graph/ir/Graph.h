// The graph: one structure of a program, with dimensions that are expressions over the design's symbols.
//
// Plain data: vectors addressed by typed 32-bit ids. A tensor is a value (written once, by its producer); its storage is
// apart, so that views and in-place updates are tensors that share a storage. Regions hold operators in program order; region 0
// is the whole step. A row adds the values of the symbols (`sema::Values`).
#pragma once

#include "compiler/diagnostics/Source.h"
#include "compiler/sema/SharedVector.h"
#include "compiler/sema/Symbolic.h"
#include "runtime/include/tbem/backend.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tbem::graph {

using sema::ExprId;
enum class OpId : std::uint32_t {};
enum class TensorId : std::uint32_t {};
enum class StorageId : std::uint32_t {};
enum class RegionId : std::uint32_t {};
enum class ScopeId : std::uint32_t {};
constexpr OpId kNoOp = static_cast<OpId>(0xFFFFFFFFU);
constexpr TensorId kNoTensor = static_cast<TensorId>(0xFFFFFFFFU);
constexpr RegionId kMainRegion = static_cast<RegionId>(0);
template <class Id>
constexpr std::uint32_t index(Id id) {
  return static_cast<std::uint32_t>(id);
}

enum class StorageClass : std::uint8_t {
#define TBEM_STORAGE_CLASS(enumerator, name) enumerator,
#include "runtime/include/tbem/storage_classes.def"
};

/// How a persistent storage is filled before the first step. Kinds: "zeros", "ones", "constant"(a), "normal"(mean a, std b),
/// "uniform"(low a, high b), "he_normal", "he_uniform", "xavier_normal", "xavier_uniform" (He et al. 2015, eq. 10; Glorot &
/// Bengio 2010, eq. 16), "torch_uniform" (uniform within 1/sqrt(fan_in)). fan_in: product of all dimensions but the first;
/// fan_out: first dimension times the product of those after the second.
struct Init {
  std::string kind = "zeros";
  ExprId a = sema::kNoExpr;
  ExprId b = sema::kNoExpr;
};

/// A piece of memory that outlives values: persistent (weight, state, buffer, input) or of one step.
struct Storage {
  StorageClass kind = StorageClass::Activation;
  /// Stable path of a persistent storage: "stage[0].conv2d.weight"; of a gradient: the weight's path; of a state:
  /// the weight's path + "." + the state's name; of an input: its name ("image", "target").
  std::string path;
  Init init;
  SrcRange range;
  /// A sum over micro-batches (Graph::microBatches): zero when a step begins, the same memory in all of them.
  bool carried = false;
};

/// A value. `shape` in elements; empty: a scalar.
struct Tensor {
  std::string name;  ///< for people: "y", "dx", "weight"
  tbem_dtype dtype = TBEM_F32;
  std::vector<ExprId> shape;
  StorageId storage{};
  OpId producer = kNoOp;  ///< kNoOp: there from the start (weight, buffer, state, input)
  SrcRange range;
};

// ---- Element-wise expressions -----------------------------------------------------------------------------------------

enum class ElemOp : std::uint8_t {
#define TBEM_ELEM_OP(enumerator, name, operands) enumerator,
#include "compiler/graph/ir/ElemOps.def"
};

/// How many of a node's a, b, c it uses: 0 to 3.
int operandCount(ElemOp op);

/// Nodes in topological order; operands are positions in the same vector.
struct ElemNode {
  ElemOp op{};
  std::uint32_t a = 0, b = 0, c = 0;
  std::uint32_t input = 0;
  Rational value;
  ExprId scalar = sema::kNoExpr;
  std::uint64_t stream = 0;  ///< hash of the operator instance's path
  std::int32_t dtype = -1;   ///< Cast: tbem_dtype; -1: that of the result whose root it is (an error inside a fused expression)
};

/// How an operand is read: its dimension k runs along output dimension axes[k]; size-1 dimensions (axes[k] = -1) are read at 0.
struct ElemOperand {
  std::vector<std::int32_t> axes;
};

/// One expression tree for all results of an operator; `roots[r]` is the node of result r.
struct Elementwise {
  sema::SharedVector<ElemNode> nodes;
  sema::SharedVector<std::uint32_t> roots;
  sema::SharedVector<ElemOperand> operands;  ///< one an input
};

// ---- Operators --------------------------------------------------------------------------------------------------------

enum class OpKind : std::uint8_t {
  Native,       ///< a primitive of the backend, or the operator's own code
  Elementwise,  ///< compiled by us; fused with its neighbours
  View,         ///< same elements in row-major order under another shape; result shares the input's storage
  Skip,         ///< per-sample gate: regions[0] where the condition is false, regions[1] where true; inputs[0]: condition
  Exit,         ///< per-sample exit: inputs {condition, value}; what follows in its region is for samples that did not leave
  Join          ///< a gate's arms put together: {condition, computed, left}; or the exits: {exit's value.., last result}
};

enum class Phase : std::uint8_t { Forward, Backward, Optimizer };

struct FlopPart {
  std::string name;              ///< mac add mul divide cmp exp ...
  ExprId count = sema::kNoExpr;  ///< for the whole batch
};

struct Attribute {
  std::string name;
  std::vector<ExprId> values;
};

/// `native "lib.so:symbol"`: an operator's own code (runtime/include/tbem/native.h).
struct OwnCode {
  std::string library;               ///< its path; relative ones were relative to the file of the declaration
  std::string symbol;                ///< empty: the operator has none
  SrcRange range;                    ///< the string in the declaration
  ExprId workspace = sema::kNoExpr;  ///< bytes that the declaration gives it at most; kNoExpr: it does not say
};

struct Op {
  OpKind kind{};
  tbem_primitive primitive = TBEM_PRIMITIVE_COUNT;  ///< Native, without own code
  OwnCode own;                                      ///< Native
  std::string declaration;                          ///< the operator's name in the language: "conv2d", "relu"
  std::vector<TensorId> inputs;                     ///< kNoTensor: an absent optional operand
  std::vector<TensorId> outputs;
  sema::SharedVector<Attribute> attributes;  ///< as primitives.def lists them
  std::vector<ExprId> scalars;               ///< run-time reals, as primitives.def lists them
  Elementwise elementwise;
  sema::SharedVector<FlopPart> flops;
  Phase phase = Phase::Forward;
  OpId forward = kNoOp;  ///< Backward: the operator whose gradient it is part of, or that it repeats; Optimizer: none
  bool repeats = false;  ///< Backward: it computes results of `forward` once more (Checkpoint.h)
  bool window = false;   ///< View: its result is the rows of the micro-batch at hand, of an input of the whole batch
  ScopeId scope{};       ///< the instance of a block that it stands in
  RegionId region = kMainRegion;
  std::vector<RegionId> regions;  ///< owned
  OpId gate = kNoOp;              ///< Join: the Skip whose arms it joins; kNoOp: all exits of the network and its last result
  std::string path;               ///< Skip, Exit: stable name: "unit[3].skip"
  SrcRange range;                 ///< the user's text that made it
  SrcRange use;                   ///< the call itself, which may stand in a library
};

/// A node of the tree of block instances. Scope 0 is the network.
struct Scope {
  std::string path;  ///< "stage[0].residual"; "" for the network
  std::string declaration;
  ScopeId parent{};
  SrcRange range;
};

struct Region {
  std::vector<OpId> ops;  ///< in program order
  OpId owner = kNoOp;
};

/// What must hold in every row: a `pre`, `post`, `requires`, `assert`, or an agreement of dimensions.
struct Obligation {
  enum class Kind : std::uint8_t { Pre, Post, Requires, RequiresOfResult, Assert, Dimension, Positive } kind{};
  ExprId condition = sema::kNoExpr;
  std::string text;     ///< as the user wrote it: "h mod 32 = 0"
  SrcRange range;       ///< the condition
  SrcRange use;         ///< the call that must meet it
  std::string subject;  ///< the operator or network: "conv2d"
  std::string message;  ///< of an assert
  /// Names and values to show: parameters and dimensions of the subject.
  std::vector<std::pair<std::string, ExprId>> bindings;
  /// The tensor whose chain of shapes led here, or kNoTensor.
  TensorId culprit = kNoTensor;
};

/// A run-time scalar that a step takes as an argument. Slot 0 of a step's scalars is the step number; slot i + 1 is scalars[i].
struct RuntimeScalar {
  std::string name;              ///< "optimizer.lr"
  ExprId value = sema::kNoExpr;  ///< its value in a row
};

/// One structure.
struct Graph {
  std::string network;
  std::vector<Op> ops;
  std::vector<Tensor> tensors;
  std::vector<Storage> storages;
  std::vector<Region> regions;
  std::vector<Scope> scopes;
  std::vector<Obligation> obligations;
  std::vector<RuntimeScalar> scalars;
  std::vector<TensorId> inputs;   ///< in order of declaration; then the targets of the loss, if the task trains
  std::uint32_t targets = 0;      ///< how many of the last inputs those are
  std::vector<TensorId> outputs;  ///< of the network
  TensorId loss = kNoTensor;      ///< of a training task
  /// Weights in order of definition: value before the step, gradient, and value after (kNoTensor where there is none).
  struct Weight {
    TensorId value = kNoTensor, gradient = kNoTensor, after = kNoTensor;
    std::uint32_t optimizer = 0;  ///< position in `optimizers`, where it has a gradient
    bool frozen = false;          ///< the program says that it stays as it is: it has no gradient
  };
  std::vector<Weight> weights;
  /// What moves weights in a training step, and the numbers that it was given.
  struct Optimizer {
    std::string declaration;  ///< "adamw"
    std::vector<std::pair<std::string, ExprId>> numbers;
  };
  std::vector<Optimizer> optimizers;
  /// Gradients of the loss for other tensors, such as inputs, in the order in which they were asked for. They are kept to the end
  /// of the step. kNoTensor: the loss does not depend on it.
  struct Wanted {
    TensorId value = kNoTensor, gradient = kNoTensor;
  };
  std::vector<Wanted> wanted;
  std::vector<TensorId> buffers;  ///< running statistics, value before the step
  std::vector<TensorId> states;   ///< of the optimiser, value before the step
  bool training = false;
  bool tf32 = false;  ///< products and convolutions of f32 may round their factors to TF32
  /// Gradient accumulation (MicroBatches.h): operators of the forward and backward pass run so often, on the next of as many
  /// equal parts of the batch each time; those of the optimiser run once, behind them.
  std::int64_t microBatches = 1;

  std::span<const TensorId> targetInputs() const { return std::span(inputs).last(targets); }

  const Op& operator[](OpId id) const { return ops[index(id)]; }
  const Tensor& operator[](TensorId id) const { return tensors[index(id)]; }
  const Storage& operator[](StorageId id) const { return storages[index(id)]; }
  const Region& operator[](RegionId id) const { return regions[index(id)]; }
  Op& operator[](OpId id) { return ops[index(id)]; }
  Tensor& operator[](TensorId id) { return tensors[index(id)]; }
  Storage& operator[](StorageId id) { return storages[index(id)]; }
  Region& operator[](RegionId id) { return regions[index(id)]; }
};

/// How often a step runs the operator.
inline std::int64_t runsOf(const Graph& graph, const Op& op) { return op.phase == Phase::Optimizer ? 1 : graph.microBatches; }

}  // namespace tbem::graph
