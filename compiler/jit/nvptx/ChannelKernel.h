// IR of one kernel for several steps that share nothing between the channels of images (ChannelWork.h). A block of threads takes
// a channel through all of them, with a barrier between any two.
#pragma once

#include "compiler/jit/nvptx/ChannelWork.h"

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <tl/expected.hpp>

#include <string>

namespace tbem::jit {

/// Adds the kernel `void name(pointers.., ptr scalars, i64 seed, i64 samples, i64 channels, i64 plane)` to `module`; pointers are
/// those of all parts, one behind the other, and several may be the same. Blocks share the channels. An error is a loop's, of
/// types.
tl::expected<llvm::Function*, std::string> emitChannelKernel(llvm::Module& module, const ChannelWork& work,
                                                             const std::string& name);

}  // namespace tbem::jit
