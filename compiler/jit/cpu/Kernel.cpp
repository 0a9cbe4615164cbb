#include "compiler/jit/cpu/Kernel.h"

#include "compiler/jit/cpu/CountedLoop.h"
#include "compiler/jit/cpu/LoopBody.h"
#include "compiler/jit/loop/Tables.h"

#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace tbem::jit {
namespace {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

class Emitter {
public:
  Emitter(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types)
      : module(module), b(module.getContext()), nest(nest), types(types), body(bodyOf(findTables(nest, types))) {}
  llvm::Function* run(const std::string& name);

private:
  Value* i64(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  LoopBody bodyOf(Tables tables) {
    const bool readsAhead = hasFunctions(nest, types, tables.body);
    return {b, nest, types, std::move(tables), readsAhead};
  }
  void forLoop(Value* from, Value* to, std::int64_t step, const std::function<void(Value*)>& body);
  void variable(std::size_t v, const Position& at, Value* chunk);
  void innermost(const Position& at, Value* chunk);
  void eachVector(Value* from, Value* to, const std::function<void(Value* x, unsigned lanes)>& body);
  void fillTables();
  std::size_t inner() const { return nest.trips.size() - 1; }
  unsigned width() const;

  llvm::Module& module;
  Builder b;
  const LoopNest& nest;
  const std::vector<NodeType>& types;
  LoopBody body;
  llvm::Function* function = nullptr;
};

/// 64 bytes of the loop's float, or less where the innermost variable is shorter.
unsigned Emitter::width() const {
  unsigned lanes = loopFloat(nest) == ValueType::F64 ? 8 : 16;
  while (static_cast<std::int64_t>(lanes) > nest.trips.back()) lanes /= 2;
  return lanes;
}

void Emitter::forLoop(Value* from, Value* to, std::int64_t step, const std::function<void(Value*)>& emitBody) {
  auto *first = llvm::dyn_cast<llvm::ConstantInt>(from), *last = llvm::dyn_cast<llvm::ConstantInt>(to);
  if (first != nullptr && last != nullptr) {
    const std::int64_t length = last->getSExtValue() - first->getSExtValue();
    if (length <= 0) return;
    if (length <= step) return emitBody(from);
  }
  emitCountedLoop(b, function, from, to, i64(step), emitBody);
}

llvm::Function* Emitter::run(const std::string& name) {
  Type *pointer = b.getPtrTy(), *number = b.getInt64Ty();
  const std::size_t pointers = nest.pointers.size();
  std::vector<Type*> parameters(pointers + 1, pointer);
  parameters.insert(parameters.end(), nest.elements != 0 ? 4 : 3, number);
  function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), parameters, false), llvm::Function::ExternalLinkage,
                                    name, module);
  for (unsigned i = 0; i <= pointers; ++i) function->addParamAttr(i, llvm::Attribute::NoAlias);
  function->addParamAttr(static_cast<unsigned>(pointers), llvm::Attribute::ReadOnly);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr("prefer-vector-width", "512");
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", function));
  auto argument = [&](std::size_t i) { return function->getArg(static_cast<unsigned>(pointers + i)); };
  body.begin(function, argument(0), argument(1));
  fillTables();
  forLoop(argument(2), argument(3), 1, [&](Value* index) {
    Value* chunk = nullptr;
    if (nest.chunks > 1) {
      chunk = b.CreateURem(index, i64(nest.chunks));
      index = b.CreateUDiv(index, i64(nest.chunks));
    }
    Position at = body.origin();
    if (nest.elements != 0) at.number = argument(4);
    for (std::size_t v = nest.prefix; v-- > 0;) {
      Value* value = v == 0 ? index : b.CreateURem(index, i64(nest.trips[v]));
      if (v != 0) index = b.CreateUDiv(index, i64(nest.trips[v]));
      at = body.advance(at, v, value);
      if (v == 0) body.findRows(value);
    }
    variable(nest.prefix, at, chunk);
  });
  b.CreateRetVoid();
  return function;
}

void Emitter::variable(std::size_t v, const Position& at, Value* chunk) {
  if (v == inner()) return innermost(at, chunk);
  forLoop(i64(0), i64(nest.trips[v]), 1, [&](Value* x) { variable(v + 1, body.advance(at, v, x), nullptr); });
}

/// Whole vectors, then single elements. Pieces begin at multiples of the vector.
void Emitter::eachVector(Value* from, Value* to, const std::function<void(Value* x, unsigned lanes)>& emitBody) {
  const unsigned lanes = width();
  Value* whole = lanes == 1 ? from : b.CreateAnd(to, i64(-static_cast<std::int64_t>(lanes)));
  if (lanes > 1) forLoop(from, whole, lanes, [&](Value* x) { emitBody(x, lanes); });
  forLoop(whole, to, 1, [&](Value* x) { emitBody(x, 1); });
}

void Emitter::innermost(const Position& at, Value* chunk) {
  Value *from = i64(0), *to = i64(nest.trips.back());
  if (chunk != nullptr) {
    from = b.CreateNSWMul(chunk, i64(nest.chunk));
    to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(from, i64(nest.chunk)), to);
  }
  eachVector(from, to, [&](Value* x, unsigned lanes) { body.atPlace(body.advance(at, inner(), x), lanes); });
}

/// Computes the tables, for every place of a row.
void Emitter::fillTables() {
  const std::vector<std::uint32_t>& nodes = body.tabulated().nodes;
  if (nodes.empty()) return;
  for (const std::uint32_t node : nodes) {
    Type* row = llvm::ArrayType::get(body.typeOf(node), static_cast<std::uint64_t>(nest.trips.back()));
    llvm::AllocaInst* memory = b.CreateAlloca(row);
    memory->setAlignment(llvm::Align(64));
    body.tableAt.push_back(memory);
  }
  eachVector(i64(0), i64(nest.trips.back()), [&](Value* x, unsigned lanes) {
    const Position at = body.advance(body.origin(), inner(), x);
    const std::vector<Value*> values = body.beforeTables(at, lanes);
    for (std::size_t t = 0; t < nodes.size(); ++t) {
      Type* element = body.typeOf(nodes[t]);
      b.CreateAlignedStore(values[nodes[t]], b.CreateInBoundsGEP(element, body.tableAt[t], at.inner), alignOf(element));
    }
  });
}

}  // namespace

llvm::Function* emitKernel(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types,
                           const std::string& name) {
  return Emitter(module, nest, types).run(name);
}

llvm::Function* emitLoop(llvm::Module& module, const LoopNest& nest, llvm::Function* kernel, const std::string& name,
                         bool ofPart) {
  Builder b(module.getContext());
  Type *pointer = b.getPtrTy(), *number = b.getInt64Ty();
  std::vector<Type*> parameters{pointer, pointer, number, number, number};
  if (ofPart) parameters.push_back(number);
  auto* function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), parameters, false),
                                          llvm::Function::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", function));
  std::vector<Value*> arguments;
  const auto at = [&](std::uint64_t offset) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function->getArg(0), offset); };
  Value* microBatch = nest.numberAt ? b.CreateAlignedLoad(number, at(*nest.numberAt), llvm::Align(8)) : nullptr;
  const auto move = [&](Value* by, std::uint64_t bytes) {
    if (bytes != 0) arguments.back() = b.CreateInBoundsGEP(b.getInt8Ty(), arguments.back(), b.CreateMul(by, b.getInt64(bytes)));
  };
  for (std::size_t i = 0; i < nest.pointers.size(); ++i) {
    arguments.push_back(at(nest.pointers[i]));
    if (nest.outside[i]) arguments.back() = b.CreateAlignedLoad(pointer, arguments.back(), llvm::Align(8));
    move(microBatch, nest.moves[i]);
    if (ofPart) move(function->getArg(5), nest.parts[i]);
  }
  for (unsigned i = 1; i < 5; ++i) arguments.push_back(function->getArg(i));
  if (nest.elements != 0) arguments.push_back(b.CreateMul(microBatch, b.getInt64(static_cast<std::uint64_t>(nest.elements))));
  b.CreateCall(module.getOrInsertFunction(kernel->getName(), kernel->getFunctionType()), arguments);
  b.CreateRetVoid();
  return function;
}

}  // namespace tbem::jit
