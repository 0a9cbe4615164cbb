// The step of a program whose loops and glue run on the host, in its threads.
#pragma once

#include "compiler/jit/glue/Jit.h"

#include <llvm/IR/Module.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::jit {

/// Functions of the module that run a loop of the program: for all samples, and for those of one thread of a chunk.
std::string loopName(std::uint32_t index);
std::string partLoopName(std::uint32_t index);

/// Adds `tbem_step` (rt.h) to `module`, which has the functions of the loops. `marks`: as in JitOptions.
void emitHostStep(llvm::Module& module, const estimate::Program& program, const std::vector<LoopReport>& loops, bool marks);

}  // namespace tbem::jit
