// A graph as eager PyTorch would run it: operators of PyTorch's own size, and what each leaves for its gradient.
//
// A batch normalisation is one operator there and four here; a permutation is a view there and a copy here. The rules are those
// of PyTorch 2.15's autograd (tools/autograd/derivatives.yaml: what a formula names is kept) and of its composite functions. An
// operator without a rule keeps what the gradient that is declared for it reads.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/graph/ir/Graph.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::estimate {

enum class EagerDevice : std::uint8_t { Cuda, Cpu };

/// How an operator's results come to their memory.
enum class EagerResult : std::uint8_t {
  New,      ///< each is allocated
  View,     ///< they share the first operand's memory
  Slice,    ///< the same; but the gradient is a tensor of the whole operand's size
  Reshape,  ///< a view, unless the operand's elements lie in another order: then a copy
  Expand    ///< a view with strides of 0
};

/// What an operator gives its operands' gradients.
enum class EagerGradient : std::uint8_t {
  New,      ///< each is allocated
  Pass,     ///< the result's own gradient, or a view of it, where shapes agree or lie in one another; else a sum, allocated
  Product,  ///< of the result's size and type; a sum of it where the operand is smaller, a cast where it is narrower
  Stop,     ///< none: the result needs no gradient
  Loss      ///< two of the operand's size, one after the other; the first goes at once
};

/// What an operator does where it is asked to write its result over its first operand (`inplace=True`, `x += y`).
enum class EagerInPlace : std::uint8_t {
  Never,   ///< PyTorch has no such form of it, or networks do not use it
  Result,  ///< its gradient needs the result alone
  Copy,    ///< its gradient needs the operand: autograd copies that first
  Sum      ///< its gradient needs neither; the operand may be any that is summed
};

struct EagerOperator {
  std::string name;                       ///< of the declaration: "batch_norm"
  graph::OpId op = graph::kNoOp;          ///< its first operator: the place in the program
  std::vector<graph::TensorId> operands;  ///< activations and inputs that it reads
  std::vector<graph::TensorId> weights;
  /// Of a convolution or dense layer; of the weight perhaps what it was cast to, which is one of the operands then.
  graph::TensorId weight = graph::kNoTensor, bias = graph::kNoTensor;
  graph::TensorId mask = graph::kNoTensor;  ///< of masked_attention: what is added to its scores
  std::vector<graph::TensorId> buffers;     ///< running statistics, as they are before it
  std::vector<graph::TensorId> results;
  std::vector<graph::TensorId> kept;  ///< of its operands and results, for the gradient
  bool keepsFactors = false;          ///< of `kept`, those that the gradient of another operand reads (EagerKeep::Factors)
  EagerResult result = EagerResult::New;
  EagerGradient gradient = EagerGradient::New;
  EagerInPlace inPlace = EagerInPlace::Never;
  std::size_t extrasFirst = 0;  ///< so many of EagerSizes::extras are made before its results: a mask, log_softmax of a loss
};
/// In the order in which the program runs them.
using EagerOperators = std::vector<EagerOperator>;

/// What of an operator depends on a row's sizes.
struct EagerSizes {
  std::vector<std::uint64_t> extras;  ///< bytes of what is allocated and kept beside its tensors: moments, indices, masks
  bool copies = false;                ///< Reshape: no view has the operand's elements in their order
  /// Operands of a product that it reads, and keeps, as copies of so many bytes.
  std::vector<std::pair<graph::TensorId, std::uint64_t>> copied;
  std::uint64_t maskGradient = 0;  ///< bytes of the gradient of EagerOperator::mask as a kernel makes it, one a score
};

/// Reads a graph once, and then for any number of rows what depends on sizes.
class EagerReader {
public:
  /// The graph outlives this.
  EagerReader(const graph::Graph& graph, EagerDevice device);
  ~EagerReader();
  EagerReader(EagerReader&&) noexcept;

  /// Those of the forward pass; they outlive this.
  std::shared_ptr<const EagerOperators> operators() const;
  const graph::Graph& graph() const;

  /// What went wrong: a dimension without a number; a gate, of which eager PyTorch knows nothing.
  std::optional<NoValue> read(const sema::Values& values);
  /// Of the row that was read last, by operator.
  const std::vector<EagerSizes>& sizes() const;
  /// Of the row that was read last, by tensor: bytes; kNotRead of tensors that none of the operators reads or makes.
  const std::vector<std::uint64_t>& bytes() const;
  static constexpr std::uint64_t kNotRead = UINT64_MAX;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::estimate
