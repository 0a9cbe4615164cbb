// PTX of a module of kernels, which a driver compiles for its card.
#pragma once

#include <llvm/IR/Module.h>
#include <tl/expected.hpp>

#include <string>

namespace tbem::jit {

/// Prepares a module for this target, before functions are added to it. Errors: LLVM was built without it.
tl::expected<void, std::string> targetPtx(llvm::Module& module);

/// The module's PTX for compute capability 7.5 and up, after optimisation; the module is changed. What it calls of the C library
/// (sin, pow, functions of f64) comes from `libdevice`, a file of the CUDA toolkit. Errors: a function is called that is not
/// there, the file cannot be read.
tl::expected<std::string, std::string> ptxOf(llvm::Module& module, const std::string& libdevice);

/// Where the toolkit that lies at one of the usual places has its libdevice; "" where there is none.
std::string findLibdevice();

}  // namespace tbem::jit
