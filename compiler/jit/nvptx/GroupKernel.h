// IR of one kernel for several fused loops that are equal but for where their operands lie and how many places they have, and
// that do not wait for each other: an optimiser's updates of a network's weights are one launch. (Horizontal fusion: Li et
// al. 2022, "Automatic Horizontal Fusion for GPU Kernels".)
#pragma once

#include "compiler/jit/loop/Loop.h"
#include "compiler/jit/loop/Types.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::jit {

/// The places that a launch of the kernel below has: each loop's, rounded up to whole parts, of which a table says whose they
/// are.
std::int64_t groupPlaces(const std::vector<const LoopNest*>& nests);

/// Adds the kernel `void name(ptr arena, ptr scalars, i64 seed, i64 places)` to `module`. `nests`: of equal kernelKey, of one
/// row (LoopNest::isOneRow), the same in all micro-batches, outside of branches, and no loop writes what another reads or
/// writes. Where they lie is in a table of the module.
llvm::Function* emitGroupKernel(llvm::Module& module, const std::vector<const LoopNest*>& nests,
                                const std::vector<NodeType>& types, const std::string& name);

}  // namespace tbem::jit
