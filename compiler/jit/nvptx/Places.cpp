#include "compiler/jit/nvptx/Places.h"

#include "compiler/jit/cpu/CountedLoop.h"

#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

namespace tbem::jit {

using llvm::Value;

llvm::Function* addKernel(llvm::Module& module, const std::vector<llvm::Type*>& parameters, const std::string& name) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false);
  llvm::Function* kernel = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  for (unsigned i = 0; i < parameters.size(); ++i) {
    if (parameters[i]->isPointerTy()) kernel->addParamAttr(i, llvm::Attribute::NoAlias);
  }
  kernel->addFnAttr(llvm::Attribute::NoUnwind);
  return kernel;
}

void shareOut(llvm::IRBuilderBase& b, llvm::Function* kernel, Value* count, const std::function<void(Value*)>& body,
              std::uint64_t together) {
  const auto special = [&](llvm::Intrinsic::ID id) { return b.CreateZExt(b.CreateIntrinsic(id, {}, {}), b.getInt64Ty()); };
  Value* threads = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  Value* first = b.CreateNSWAdd(b.CreateNSWMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), threads),
                                special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
  Value* stride = b.CreateNSWMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), threads);
  if (together > 1) {
    const auto strides = [&](std::uint64_t number) { return b.CreateNSWMul(stride, b.getInt64(number)); };
    Value* most = b.CreateNSWSub(count, strides(together - 1));
    first = emitCountedLoop(b, kernel, first, most, strides(together), [&](Value* place) {
      for (std::uint64_t k = 0; k < together; ++k) body(b.CreateNSWAdd(place, strides(k)));
    });
  }
  emitCountedLoop(b, kernel, first, count, stride, body);
}

}  // namespace tbem::jit
