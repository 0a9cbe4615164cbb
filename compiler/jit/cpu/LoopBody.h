// IR of what a kernel does at one place of its nest, or at a vector of places: reads, computes, writes. How the places are gone
// through is the kernel's (Kernel.cpp; nvptx/DeviceKernel.cpp).
#pragma once

#include "compiler/jit/cpu/Access.h"
#include "compiler/jit/cpu/Expression.h"
#include "compiler/jit/loop/Tables.h"

#include <llvm/IR/Function.h>

#include <vector>

namespace tbem::jit {

class LoopBody {
public:
  /// `tables`: what is computed before the places; `readsAhead`: vectors are asked for before their turn.
  LoopBody(Builder& b, const LoopNest& nest, const std::vector<NodeType>& types, Tables tables, bool readsAhead)
      : b(b),
        nest(nest),
        types(types),
        tables(std::move(tables)),
        expression(b, nest, types),
        access(b, nest, types, expression, readsAhead) {}
  /// From here on in this function, whose parameters begin with the nest's pointers; emits what is the same at every place.
  /// `given`: as Expression::hoist has it.
  void begin(llvm::Function* of, llvm::Value* scalars, llvm::Value* seed, const std::vector<llvm::Value*>& given = {});
  /// All variables at 0.
  Position origin();
  Position advance(const Position& at, std::size_t variable, llvm::Value* by);
  /// From here on row `sample` of outputs that have lists of rows is the one that the list says.
  void findRows(llvm::Value* sample) { access.findRows(sample); }
  void atPlace(const Position& at, unsigned lanes);
  /// Values of the nodes that a table needs (`tables.before`), at a place.
  std::vector<llvm::Value*> beforeTables(const Position& at, unsigned lanes);

  const Tables& tabulated() const { return tables; }
  llvm::Type* typeOf(std::uint32_t node) { return expression.type(types[node].type, 1); }
  std::vector<llvm::Value*> tableAt;  ///< where each of the tables lies

private:
  llvm::Value* i64(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  void body(const Position& at, unsigned lanes, llvm::Value* mask);
  ExpressionPlace placeAt(const Position& at, unsigned lanes, llvm::Value* mask);
  std::size_t inner() const { return nest.trips.size() - 1; }

  Builder& b;
  const LoopNest& nest;
  const std::vector<NodeType>& types;
  Tables tables;
  Expression expression;
  Access access;
  llvm::Function* function = nullptr;
};

}  // namespace tbem::jit
