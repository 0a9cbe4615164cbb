// IR of one fused loop for a card: a kernel whose threads take one place of the nest after the other.
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/loop/Types.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace tbem::jit {

/// Adds the kernel `void name(pointers.., ptr scalars, i64 seed, i64 count)` to `module`: places [0, count) of the nest, whose
/// variables all are in its prefix, each a vector of `nest.width`; behind them `i64 first`, the number of the first element,
/// where `nest.elements` says so. The pointers (nest.pointers.size() of them) do not overlap each other. However many threads
/// there are, they share the places.
llvm::Function* emitDeviceKernel(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types,
                                 const std::string& name);

/// Adds the function `void name(pointers.., ptr scalars, i64 seed, i64 place, double given..)`, which does what the kernel does
/// at one place, with these for the constants that nest.given names. It is inlined where it is called. It is the same in all
/// micro-batches (`elements` is 0).
llvm::Function* emitPlace(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types,
                          const std::string& name);

}  // namespace tbem::jit
