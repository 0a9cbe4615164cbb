// How the threads of a card share the places of a kernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tbem::jit {

/// A kernel without code, whose pointers do not overlap each other.
llvm::Function* addKernel(llvm::Module& module, const std::vector<llvm::Type*>& parameters, const std::string& name);

/// Each thread runs `body` for its places of [0, count), as many apart as there are threads; the builder then stands behind that.
/// `together`: of so many it does one behind the other without looking whether there are more, so that it need not wait for what
/// one reads or writes before the next.
void shareOut(llvm::IRBuilderBase& b, llvm::Function* kernel, llvm::Value* count,
              const std::function<void(llvm::Value* place)>& body, std::uint64_t together = 1);

}  // namespace tbem::jit
