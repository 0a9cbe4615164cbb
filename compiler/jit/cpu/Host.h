// This machine as LLVM sees it.
#pragma once

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/Module.h>
#include <tl/expected.hpp>

#include <string>

namespace tbem::jit {

/// A builder of code generators for this processor, position independent; or why there is none.
tl::expected<llvm::orc::JITTargetMachineBuilder, std::string> detectHost();

/// What the verifier finds in a module, "" where it is sound.
std::string unsound(const llvm::Module& module);

}  // namespace tbem::jit
