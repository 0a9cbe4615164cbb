// The IR of a whole program: the module of loops and the module of the step.
#pragma once

#include "compiler/jit/glue/Jit.h"

#include <llvm/IR/Module.h>

#include <memory>
#include <vector>

namespace tbem::jit {

struct Modules {
  std::unique_ptr<llvm::Module> loops;  ///< kernels
  /// tbem_step; of the host also a function for every loop, which calls its kernel with its offsets.
  std::unique_ptr<llvm::Module> glue;
  std::uint32_t kernels = 0;
  std::vector<LoopReport> reports;
};

/// `context` must outlive the modules. `marks`: as in JitOptions. An error names the loop.
tl::expected<Modules, std::string> emitModules(llvm::LLVMContext& context, const estimate::Program& program, bool marks);

/// Everything of a program on which its code depends, and nothing else (names and source places do not).
std::string programKey(const estimate::Program& program);

}  // namespace tbem::jit
