// IR of one kernel for several fused loops that do not wait for each other: the updates of a network's weights and statistics are
// one launch. What loops do that are equal but for where their operands lie and how many places they have is there once.
// (Horizontal fusion: Li et al. 2022, "Automatic Horizontal Fusion for GPU Kernels".)
#pragma once

#include "compiler/jit/loop/Loop.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <tl/expected.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::jit {

/// The places that a launch of the kernel below has: each loop's, rounded up to whole parts, of which a table says whose they
/// are.
std::int64_t groupPlaces(const std::vector<const LoopNest*>& nests);

/// Adds the kernel `void name(ptr arena, ptr scalars, i64 seed, i64 places)` to `module`. `nests`: of one row
/// (LoopNest::isOneRow), the same in all micro-batches, outside of branches, and no loop writes what another reads or writes.
/// Where they lie is in a table of the module. An error is a loop's, of types.
tl::expected<llvm::Function*, std::string> emitGroupKernel(llvm::Module& module, const std::vector<const LoopNest*>& nests,
                                                           const std::string& name);

}  // namespace tbem::jit
