#include "compiler/jit/nvptx/DeviceKernel.h"

#include "compiler/jit/cpu/LoopBody.h"
#include "compiler/jit/loop/Tables.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <limits>

namespace tbem::jit {
namespace {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

class DeviceEmitter {
public:
  DeviceEmitter(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types)
      : module(module), b(module.getContext()), nest(nest), body(b, nest, types, findTables(nest, types), false) {}

  llvm::Function* run(const std::string& name) {
    create(name);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", function));
    body.begin(function, argument(0), argument(1));
    Value* threads = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
    Value* first = b.CreateNSWAdd(b.CreateNSWMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), threads),
                                  special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
    Value* stride = b.CreateNSWMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), threads);
    BasicBlock* before = b.GetInsertBlock();
    BasicBlock *head = block("head"), *inside = block("places"), *after = block("after");
    b.CreateBr(head);
    b.SetInsertPoint(head);
    llvm::PHINode* place = b.CreatePHI(b.getInt64Ty(), 2);
    place->addIncoming(first, before);
    b.CreateCondBr(b.CreateICmpSLT(place, argument(2)), inside, after);
    b.SetInsertPoint(inside);
    body.atPlace(positionOf(place), static_cast<unsigned>(nest.width));
    place->addIncoming(b.CreateNSWAdd(place, stride), b.GetInsertBlock());
    b.CreateBr(head);
    b.SetInsertPoint(after);
    b.CreateRetVoid();
    return function;
  }

private:
  void create(const std::string& name) {
    const std::size_t pointers = nest.pointers.size();
    std::vector<Type*> parameters(pointers + 1, b.getPtrTy());
    parameters.insert(parameters.end(), nest.elements != 0 ? 3 : 2, b.getInt64Ty());
    function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), parameters, false), llvm::Function::ExternalLinkage,
                                      name, module);
    function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    for (unsigned i = 0; i <= pointers; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
    function->addParamAttr(static_cast<unsigned>(pointers), llvm::Attribute::ReadOnly);
    function->addFnAttr(llvm::Attribute::NoUnwind);
  }
  Value* argument(std::size_t behindPointers) {
    return function->getArg(static_cast<unsigned>(nest.pointers.size() + behindPointers));
  }
  Value* special(llvm::Intrinsic::ID id) { return b.CreateZExt(b.CreateIntrinsic(id, {}, {}), b.getInt64Ty()); }
  BasicBlock* block(const char* name) { return BasicBlock::Create(module.getContext(), name, function); }

  /// A card divides 64-bit numbers in some seventy instructions, and 32-bit numbers by a constant in three.
  Position positionOf(Value* place) {
    Position at = body.origin();
    if (nest.elements != 0) at.number = argument(3);
    const bool narrow = nest.count <= std::numeric_limits<std::int32_t>::max() && !nest.isOneRow();
    Type* type = narrow ? b.getInt32Ty() : b.getInt64Ty();
    Value* left = b.CreateTrunc(place, type);
    const std::size_t inner = nest.trips.size() - 1;
    for (std::size_t v = nest.trips.size(); v-- > 0;) {
      const std::int64_t width = v == inner ? nest.width : 1;
      Value* trips = llvm::ConstantInt::get(type, static_cast<std::uint64_t>(nest.trips[v] / width));
      Value* value = v == 0 ? left : b.CreateURem(left, trips);
      if (v != 0) left = b.CreateUDiv(left, trips);
      value = b.CreateZExt(value, b.getInt64Ty());
      if (width > 1) value = b.CreateNSWMul(value, b.getInt64(static_cast<std::uint64_t>(width)));
      at = body.advance(at, v, value);
      if (v == 0) body.findRows(value);
    }
    return at;
  }

  llvm::Module& module;
  Builder b;
  const LoopNest& nest;
  LoopBody body;
  llvm::Function* function = nullptr;
};

}  // namespace

llvm::Function* emitDeviceKernel(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types,
                                 const std::string& name) {
  return DeviceEmitter(module, nest, types).run(name);
}

}  // namespace tbem::jit
