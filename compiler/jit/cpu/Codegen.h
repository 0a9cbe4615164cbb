// What modules for every target are put through: passes that change them, and the target's code generator.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <string>

namespace tbem::jit {

/// Adds passes; the builder knows the target.
using ChoosePasses = std::function<llvm::Error(llvm::PassBuilder& builder, llvm::ModulePassManager& passes)>;

/// Runs the passes that are chosen over the module; an error of the choice is passed on, and nothing was run.
llvm::Error runPasses(llvm::Module& module, llvm::TargetMachine& machine, const ChoosePasses& choose);

/// The module's code; "" where the target does not write such files.
std::string writeCode(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType type);

}  // namespace tbem::jit
