// IR of the nodes of a fused expression, for one element or a vector of them.
#pragma once

#include "compiler/jit/cpu/Math.h"
#include "compiler/jit/loop/Types.h"

#include <functional>
#include <vector>

namespace tbem::jit {

/// What the surrounding loop gives to an expression at the place where it is evaluated. Values have `lanes` lanes (scalars for
/// 1).
struct ExpressionPlace {
  unsigned lanes = 1;
  std::function<llvm::Value*(std::uint32_t input)> load;      ///< in the input's computing type
  std::function<llvm::Value*()> number;                       ///< i64
  std::function<llvm::Value*(std::uint32_t dim)> coordinate;  ///< i64
  std::function<llvm::Value*(std::uint32_t node)> known;      ///< what was computed before, or null; may be empty
};

/// Whether every place takes an exponential or its like, among the nodes `computed`. Such a chain of some hundred cycles fills
/// the processor's window after a few elements, so a load that misses the cache stalls it unless the line was asked for before.
/// Loops with less to compute run ahead of their misses by themselves, and one over many arrays (an optimiser's) loses by asking.
bool hasFunctions(const LoopNest& nest, const std::vector<NodeType>& types, const std::vector<bool>& computed);

class Expression {
public:
  Expression(Builder& b, const LoopNest& nest, const std::vector<NodeType>& types)
      : b(b), nest(nest), types(types), floating(loopFloat(nest)) {}
  /// Emits the uniform nodes at the builder's place, which must dominate all later ones. `given`: an f64 for each of nest.given.
  void hoist(llvm::Value* scalars, llvm::Value* seed, const std::vector<llvm::Value*>& given);
  /// The nodes at a place that `wanted` names: one value an element of nest.nodes, null for uniform and unwanted ones.
  std::vector<llvm::Value*> emit(const ExpressionPlace& place, const std::vector<bool>& wanted);
  /// A node's value as `type`, splatted where it is uniform; `values` as emit returned them.
  llvm::Value* as(std::uint32_t node, ValueType type, const std::vector<llvm::Value*>& values, unsigned lanes);
  /// Between computing types: float to integer truncates (saturating, NaN to 0), number to bool is `x <> 0`.
  llvm::Value* convert(llvm::Value* value, ValueType from, ValueType to);
  llvm::Type* type(ValueType type, unsigned lanes);

private:
  llvm::Value* compute(std::uint32_t node, const std::vector<llvm::Value*>& values, const ExpressionPlace& place);
  llvm::Value* arithmetic(const graph::ElemNode& n, ValueType t, llvm::Value* x, llvm::Value* y);
  llvm::Value* compare(const graph::ElemNode& n, const std::vector<llvm::Value*>& values, unsigned lanes);
  llvm::Value* cast(std::uint32_t node, const std::vector<llvm::Value*>& values, unsigned lanes);
  std::optional<double> constant(std::uint32_t node) const;

  Builder& b;
  const LoopNest& nest;
  const std::vector<NodeType>& types;
  ValueType floating;
  std::vector<llvm::Value*> uniform;
  llvm::Value* seed = nullptr;
  llvm::Value* step = nullptr;
};

}  // namespace tbem::jit
