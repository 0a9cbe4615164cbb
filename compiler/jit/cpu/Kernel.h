// IR of one fused loop.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/loop/Types.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace tbem::jit {

/// Adds the exported `void name(pointers.., ptr scalars, i64 seed, i64 begin, i64 end)` to `module`: iterations [begin, end) of
/// the nest's parallel index; behind them `i64 first`, the number of the first element, where `nest.elements` says so. The
/// pointers (nest.pointers.size() of them) do not overlap each other.
llvm::Function* emitKernel(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types,
                           const std::string& name);

/// Adds `void name(ptr arena, ptr scalars, i64 seed, i64 begin, i64 end)`, internal, to `module` (another one than the kernel's:
/// it is not worth optimising): calls the kernel of that name and type with the nest's offsets. `ofPart`: behind the parameters
/// `i64 part`, the thread of a chunk whose own memory it is.
llvm::Function* emitLoop(llvm::Module& module, const LoopNest& nest, llvm::Function* kernel, const std::string& name,
                         bool ofPart = false);

}  // namespace tbem::jit
