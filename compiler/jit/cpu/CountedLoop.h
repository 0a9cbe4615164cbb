// A loop over numbers in steps, as kernels of both targets have it.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace tbem::jit {

/// Runs `body` for `from`, `from + step`, .. below `to`, signed numbers of one type, which `to + step` does not leave; the
/// builder then stands behind the loop. Returns the first of them that is not below `to`.
llvm::Value* emitCountedLoop(llvm::IRBuilderBase& b, llvm::Function* function, llvm::Value* from, llvm::Value* to,
                             llvm::Value* step, const std::function<void(llvm::Value*)>& body);

}  // namespace tbem::jit
