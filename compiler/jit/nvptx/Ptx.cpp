#include "compiler/jit/nvptx/Ptx.h"

#include "compiler/jit/cpu/Codegen.h"

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Linker/Linker.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include <memory>
#include <mutex>
#include <vector>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace tbem::jit {
namespace {

constexpr const char* kTriple = "nvptx64-nvidia-cuda";
/// What the oldest card that CUDA 13 supports understands: a driver makes the card's own code of it.
constexpr const char* kProcessor = "sm_75";
constexpr const char* kFeatures = "+ptx70";

tl::expected<std::unique_ptr<llvm::TargetMachine>, std::string> machine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, why);
  if (target == nullptr) return tl::unexpected("LLVM has no code generator for NVIDIA's cards: " + why);
  llvm::TargetOptions options;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, kProcessor, kFeatures, options, {}, {}, llvm::CodeGenOptLevel::Aggressive));
}

/// A function that is called and is not there; "" where there is none.
std::string calledOutside(const llvm::Module& module) {
  for (const llvm::Function& function : module) {
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty()) return function.getName().str();
  }
  return {};
}

/// The C library's names are libdevice's with a prefix.
void renameCallees(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration() && !function.isIntrinsic()) function.setName("__nv_" + function.getName());
  }
}

tl::expected<void, std::string> linkLibdevice(llvm::Module& module, const std::string& path) {
  if (path.empty())
    return tl::unexpected(
        std::string("libdevice.10.bc, a file of the CUDA toolkit, is needed for sin, cos, pow and functions of f64"));
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) return tl::unexpected(fmt::format("{}: {}", path, buffer.getError().message()));
  auto library = llvm::parseBitcodeFile((*buffer)->getMemBufferRef(), module.getContext());
  if (!library) return tl::unexpected(fmt::format("{}: {}", path, llvm::toString(library.takeError())));
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  const auto keepKernels = [](llvm::Module& whole, const llvm::StringSet<>& linked) {
    llvm::internalizeModule(whole, [&](const llvm::GlobalValue& value) { return linked.count(value.getName()) == 0; });
  };
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded, keepKernels))
    return tl::unexpected(fmt::format("{}: its functions cannot be linked", path));
  return {};
}

/// The target adds passes of its own to LLVM's pipeline: what libdevice asks of the card is answered there.
llvm::Error optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  return runPasses(module, machine, [](llvm::PassBuilder& builder, llvm::ModulePassManager& passes) {
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2);
    return llvm::Error::success();
  });
}

/// LLVM 19's code generator makes 1 of a truth value that is converted as a signed number, which is -1 (its pattern for
/// `sint_to_fp Int1Regs` selects between 1 and 0). The optimiser writes negated truth values so.
void chooseSignedTruthValues(llvm::Module& module) {
  std::vector<llvm::SIToFPInst*> conversions;
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* conversion = llvm::dyn_cast<llvm::SIToFPInst>(&instruction);
      if (conversion != nullptr && conversion->getOperand(0)->getType()->isIntOrIntVectorTy(1)) conversions.push_back(conversion);
    }
  }
  for (llvm::SIToFPInst* conversion : conversions) {
    llvm::Type* type = conversion->getType();
    llvm::Value* chosen = llvm::SelectInst::Create(conversion->getOperand(0), llvm::ConstantFP::get(type, -1),
                                                   llvm::ConstantFP::get(type, 0), "", conversion->getIterator());
    conversion->replaceAllUsesWith(chosen);
    conversion->eraseFromParent();
  }
}

}  // namespace

std::string findLibdevice() {
  for (const char* folder : {"/usr/local/cuda", "/usr/lib/cuda", "/opt/cuda", "/usr/lib/nvidia-cuda-toolkit"}) {
    for (const char* inside : {"nvvm/libdevice", "libdevice"}) {
      std::string path = fmt::format("{}/{}/libdevice.10.bc", folder, inside);
      if (llvm::sys::fs::exists(path)) return path;
    }
  }
  return {};
}

tl::expected<void, std::string> targetPtx(llvm::Module& module) {
  auto target = machine();
  if (!target) return tl::unexpected(target.error());
  module.setTargetTriple(kTriple);
  module.setDataLayout((*target)->createDataLayout());
  return {};
}

tl::expected<std::string, std::string> ptxOf(llvm::Module& module, const std::string& libdevice) {
  auto target = machine();
  if (!target) return tl::unexpected(target.error());
  if (!calledOutside(module).empty()) {
    renameCallees(module);
    if (auto linked = linkLibdevice(module, libdevice); !linked) return tl::unexpected(linked.error());
  }
  if (auto error = optimise(module, **target))
    return tl::unexpected("LLVM does not know a pass: " + llvm::toString(std::move(error)));
  chooseSignedTruthValues(module);
  if (const std::string missing = calledOutside(module); !missing.empty())
    return tl::unexpected(fmt::format("{} has no {}, which a loop calls", libdevice, missing));
  std::string text = writeCode(module, **target, llvm::CodeGenFileType::AssemblyFile);
  if (text.empty()) return tl::unexpected(std::string("LLVM cannot write PTX"));
  return text;
}

}  // namespace tbem::jit
