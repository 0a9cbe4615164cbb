// Adds tensors and operators to a graph. It knows shapes as expressions, but no declarations.
#pragma once

#include "compiler/graph/ir/Graph.h"
#include "compiler/sema/Value.h"

#include <functional>
#include <string>
#include <vector>

namespace tbem::graph {

class GraphBuilder {
public:
  /// `overflow` is called once, with the first operator beyond the number that a graph may have.
  GraphBuilder(Graph& graph, sema::ExprPool& pool, std::function<void(const Op&)> overflow);

  /// What the next operators are marked with.
  struct Stamp {
    Phase phase = Phase::Forward;
    OpId forward = kNoOp;
    RegionId region = kMainRegion;
  };
  Stamp stamp;

  /// In a storage of its own.
  TensorId addTensor(std::string name, tbem_dtype dtype, std::vector<ExprId> shape, SrcRange range);
  /// A tensor that is there from the start.
  TensorId addInput(const std::string& name, tbem_dtype dtype, std::vector<ExprId> shape, SrcRange range);
  OpId addOp(Op op);
  bool isFull() const;
  /// Whether so many operators more are within what a graph may have.
  bool hasRoomFor(std::size_t operators) const;

  /// A tensor of one value.
  TensorId fill(const std::string& name, tbem_dtype dtype, const std::vector<ExprId>& shape, Rational value, SrcRange range);
  /// The same values in a storage of their own.
  TensorId copy(TensorId tensor, SrcRange range, ScopeId scope);
  /// The sum of two tensors of one shape, named and typed as `model`.
  TensorId add(TensorId left, TensorId right, TensorId model);
  /// Adds `part / parts` to a sum over the micro-batches; the sum with it. What it is a sum of says what kind of storage it has.
  TensorId addUp(TensorId part, std::int64_t parts);

  /// A number that a step takes as an argument; one that is known keeps its name.
  void registerScalar(const std::string& name, ExprId value);
  ExprId elementCount(const std::vector<ExprId>& shape);
  /// Removes storages that an update or a view left without tensors.
  void dropUnusedStorages();

private:
  /// The operand `tensor`, element by element.
  ElemOperand elementOf(TensorId tensor) const;

  Graph& graph;
  sema::ExprPool& pool;
  std::function<void(const Op&)> overflow;
};

}  // namespace tbem::graph
