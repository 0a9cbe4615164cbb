#include "compiler/jit/cpu/CountedLoop.h"

namespace tbem::jit {

using llvm::BasicBlock;
using llvm::Value;

Value* emitCountedLoop(llvm::IRBuilderBase& b, llvm::Function* function, Value* from, Value* to, Value* step,
                       const std::function<void(Value*)>& body) {
  BasicBlock* before = b.GetInsertBlock();
  auto* head = BasicBlock::Create(b.getContext(), "head", function);
  auto* inside = BasicBlock::Create(b.getContext(), "body", function);
  auto* after = BasicBlock::Create(b.getContext(), "after", function);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(from->getType(), 2);
  i->addIncoming(from, before);
  b.CreateCondBr(b.CreateICmpSLT(i, to), inside, after);
  b.SetInsertPoint(inside);
  body(i);
  i->addIncoming(b.CreateNSWAdd(i, step), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(after);
  return i;
}

}  // namespace tbem::jit
