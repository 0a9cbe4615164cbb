// How the threads of a card share the places of a kernel.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <string>
#include <vector>

namespace tbem::jit {

/// A kernel without code, whose pointers do not overlap each other.
llvm::Function* addKernel(llvm::Module& module, const std::vector<llvm::Type*>& parameters, const std::string& name);

/// Each thread runs `body` for its places of [0, count), as many apart as there are threads; the builder then stands behind that.
void shareOut(llvm::IRBuilderBase& b, llvm::Function* kernel, llvm::Value* count,
              const std::function<void(llvm::Value* place)>& body);

}  // namespace tbem::jit
