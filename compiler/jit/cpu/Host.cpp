#include "compiler/jit/cpu/Host.h"

#include <llvm/IR/Verifier.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <mutex>

namespace tbem::jit {

tl::expected<llvm::orc::JITTargetMachineBuilder, std::string> detectHost() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host) return tl::unexpected("LLVM does not know this processor: " + llvm::toString(host.takeError()));
  host->setRelocationModel(llvm::Reloc::PIC_);
  return std::move(*host);
}

std::string unsound(const llvm::Module& module) {
  std::string wrong;
  llvm::raw_string_ostream stream(wrong);
  if (!llvm::verifyModule(module, &stream)) return {};
  return "the generated IR is not sound: " + stream.str();
}

}  // namespace tbem::jit
