// Where a kernel reads and writes: the operands of a nest at one of its places, for one element or a vector of them.
#pragma once

#include "compiler/jit/cpu/Expression.h"

#include <llvm/IR/Function.h>

#include <vector>

namespace tbem::jit {

/// The values of all forms at one place of the nest (variables inside it at 0).
struct Position {
  llvm::Value* output = nullptr;
  llvm::Value* number = nullptr;
  llvm::Value* inner = nullptr;  ///< the innermost variable
  std::vector<llvm::Value*> inputs;
  std::vector<llvm::Value*> coordinates;
};

/// How elements of this type are aligned in memory.
llvm::Align alignOf(llvm::Type* storage);

class Access {
public:
  /// `readsAhead`: vectors are asked for before their turn.
  Access(Builder& b, const LoopNest& nest, const std::vector<NodeType>& types, Expression& expression, bool readsAhead)
      : b(b), nest(nest), types(types), expression(expression), readsAhead(readsAhead) {}
  /// From here on in this function, whose parameters are those of emitKernel; each output's row i is row i.
  void begin(llvm::Function* of);
  /// From here on row `sample` of an output that has a list of rows is the one that the list says.
  void findRows(llvm::Value* sample);

  /// `lanes` elements from here on, in the input's computing type; those that `mask` leaves out, where there is one, are 0.
  llvm::Value* load(const Position& at, std::uint32_t input, unsigned lanes, llvm::Value* mask);
  /// A value in the output's computing type.
  void store(const LoopOutput& output, const Position& at, llvm::Value* value, unsigned lanes);
  /// One 0 of each output.
  void zeros(const Position& at);
  /// base + stride * 0, 1, ..
  llvm::Value* lanesOf(llvm::Value* base, std::int64_t stride, unsigned lanes);

private:
  llvm::Value* loadStored(const Position& at, std::uint32_t input, unsigned lanes, llvm::Value* mask);
  void prefetch(llvm::Value* address);
  llvm::Value* indirectOffset(const LoopOperand& operand, const Position& at, unsigned lanes);
  llvm::Type* storage(std::int32_t dtype);
  llvm::Align alignOfLanes(llvm::Type* element, unsigned lanes) const;
  llvm::Value* i64(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  std::size_t inner() const { return nest.trips.size() - 1; }

  Builder& b;
  const LoopNest& nest;
  const std::vector<NodeType>& types;
  Expression& expression;
  bool readsAhead;
  llvm::Function* function = nullptr;
  std::vector<llvm::Value*> shifts;  ///< by output: what to add to its offset; null: nothing
};

}  // namespace tbem::jit
