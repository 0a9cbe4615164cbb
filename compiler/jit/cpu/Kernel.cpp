#include "compiler/jit/cpu/Kernel.h"

#include "compiler/jit/cpu/Access.h"
#include "compiler/jit/cpu/Expression.h"
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
      : module(module),
        b(module.getContext()),
        nest(nest),
        types(types),
        tables(findTables(nest, types)),
        expression(b, nest, types),
        access(b, nest, types, expression, hasFunctions(nest, types, tables.body)) {}
  llvm::Function* run(const std::string& name);

private:
  Value* i64(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  void forLoop(Value* from, Value* to, std::int64_t step, const std::function<void(Value*)>& body);
  Position origin();
  Position advance(const Position& at, std::size_t variable, Value* by);
  void variable(std::size_t v, const Position& at, Value* chunk);
  void innermost(const Position& at, Value* chunk);
  void eachVector(Value* from, Value* to, const std::function<void(Value* x, unsigned lanes)>& body);
  void atPlace(const Position& at, unsigned lanes);
  void body(const Position& at, unsigned lanes, Value* mask);
  void fillTables();
  ExpressionPlace placeAt(const Position& at, unsigned lanes, Value* mask);
  std::size_t inner() const { return nest.trips.size() - 1; }
  unsigned width() const;

  llvm::Module& module;
  Builder b;
  const LoopNest& nest;
  const std::vector<NodeType>& types;
  Tables tables;
  std::vector<Value*> tableAt;  ///< where each of tables.nodes lies
  Expression expression;
  Access access;
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
  BasicBlock* before = b.GetInsertBlock();
  auto* head = BasicBlock::Create(module.getContext(), "head", function);
  auto* inside = BasicBlock::Create(module.getContext(), "body", function);
  auto* after = BasicBlock::Create(module.getContext(), "after", function);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(from, before);
  b.CreateCondBr(b.CreateICmpSLT(i, to), inside, after);
  b.SetInsertPoint(inside);
  emitBody(i);
  i->addIncoming(b.CreateNSWAdd(i, i64(step)), b.GetInsertBlock());
  b.CreateBr(head);
  b.SetInsertPoint(after);
}

Position Emitter::origin() {
  Position at;
  at.output = at.number = at.inner = i64(0);
  at.inputs.assign(nest.inputs.size(), i64(0));
  at.coordinates.assign(nest.coordinates.size(), i64(0));
  return at;
}

Position Emitter::advance(const Position& at, std::size_t v, Value* by) {
  auto moved = [&](Value* base, const Form& form) -> Value* {
    const std::int64_t stride = form.stride[v];
    if (stride == 0) return base;
    Value* step = stride == 1 ? by : b.CreateNSWMul(by, i64(stride));
    return b.CreateNSWAdd(base, step);
  };
  Position to = at;
  to.output = moved(at.output, nest.output);
  to.number = moved(at.number, nest.number);
  if (v == inner()) to.inner = b.CreateNSWAdd(at.inner, by);
  for (std::size_t i = 0; i < nest.inputs.size(); ++i) to.inputs[i] = moved(at.inputs[i], nest.inputs[i].offset);
  for (std::size_t i = 0; i < nest.coordinates.size(); ++i)
    to.coordinates[i] = moved(at.coordinates[i], nest.coordinates[i].form);
  return to;
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
  access.begin(function);
  auto argument = [&](std::size_t i) { return function->getArg(static_cast<unsigned>(pointers + i)); };
  expression.hoist(argument(0), argument(1));
  fillTables();
  forLoop(argument(2), argument(3), 1, [&](Value* index) {
    Value* chunk = nullptr;
    if (nest.chunks > 1) {
      chunk = b.CreateURem(index, i64(nest.chunks));
      index = b.CreateUDiv(index, i64(nest.chunks));
    }
    Position at = origin();
    if (nest.elements != 0) at.number = argument(4);
    for (std::size_t v = nest.prefix; v-- > 0;) {
      Value* value = v == 0 ? index : b.CreateURem(index, i64(nest.trips[v]));
      if (v != 0) index = b.CreateUDiv(index, i64(nest.trips[v]));
      at = advance(at, v, value);
      if (v == 0) access.findRows(value);
    }
    variable(nest.prefix, at, chunk);
  });
  b.CreateRetVoid();
  return function;
}

void Emitter::variable(std::size_t v, const Position& at, Value* chunk) {
  if (v == inner()) return innermost(at, chunk);
  forLoop(i64(0), i64(nest.trips[v]), 1, [&](Value* x) { variable(v + 1, advance(at, v, x), nullptr); });
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
  eachVector(from, to, [&](Value* x, unsigned lanes) { atPlace(advance(at, inner(), x), lanes); });
}

/// Where the layout pads, elements beyond the limit become 0 and are never read.
void Emitter::atPlace(const Position& at, unsigned lanes) {
  Value *inside = nullptr, *mask = nullptr;
  for (std::size_t i = 0; i < nest.coordinates.size(); ++i) {
    const Coordinate& c = nest.coordinates[i];
    if (!c.padded) continue;
    const std::int64_t stride = c.form.stride[inner()];
    Value* last = b.CreateNSWAdd(at.coordinates[i], i64(stride * (lanes - 1)));
    Value* fits = b.CreateICmpSLT(last, i64(c.limit));
    inside = inside == nullptr ? fits : b.CreateAnd(inside, fits);
  }
  if (inside == nullptr) return body(at, lanes, nullptr);
  auto* fast = BasicBlock::Create(module.getContext(), "inside", function);
  auto* edge = BasicBlock::Create(module.getContext(), "edge", function);
  auto* done = BasicBlock::Create(module.getContext(), "done", function);
  b.CreateCondBr(inside, fast, edge);
  b.SetInsertPoint(fast);
  body(at, lanes, nullptr);
  b.CreateBr(done);
  b.SetInsertPoint(edge);
  if (lanes == 1) {
    access.zeros(at);
  } else {
    for (std::size_t i = 0; i < nest.coordinates.size(); ++i) {
      const Coordinate& c = nest.coordinates[i];
      if (!c.padded) continue;
      Value* below = b.CreateICmpSLT(access.lanesOf(at.coordinates[i], c.form.stride[inner()], lanes),
                                     b.CreateVectorSplat(lanes, i64(c.limit)));
      mask = mask == nullptr ? below : b.CreateAnd(mask, below);
    }
    body(at, lanes, mask);
  }
  b.CreateBr(done);
  b.SetInsertPoint(done);
}

ExpressionPlace Emitter::placeAt(const Position& at, unsigned lanes, Value* mask) {
  ExpressionPlace place;
  place.lanes = lanes;
  place.load = [this, &at, lanes, mask](std::uint32_t input) { return access.load(at, input, lanes, mask); };
  place.number = [this, &at, lanes] { return access.lanesOf(at.number, nest.number.stride[inner()], lanes); };
  place.coordinate = [this, &at, lanes](std::uint32_t dim) -> Value* {
    for (std::size_t i = 0; i < nest.coordinates.size(); ++i) {
      if (nest.coordinates[i].dim == dim)
        return access.lanesOf(at.coordinates[i], nest.coordinates[i].form.stride[inner()], lanes);
    }
    return nullptr;  // planLoop made one for every Index node
  };
  return place;
}

/// Computes the tables, for every place of a row.
void Emitter::fillTables() {
  if (tables.nodes.empty()) return;
  for (const std::uint32_t node : tables.nodes) {
    Type* row = llvm::ArrayType::get(expression.type(types[node].type, 1), static_cast<std::uint64_t>(nest.trips.back()));
    llvm::AllocaInst* memory = b.CreateAlloca(row);
    memory->setAlignment(llvm::Align(64));
    tableAt.push_back(memory);
  }
  eachVector(i64(0), i64(nest.trips.back()), [&](Value* x, unsigned lanes) {
    const Position at = advance(origin(), inner(), x);
    const std::vector<Value*> values = expression.emit(placeAt(at, lanes, nullptr), tables.before);
    for (std::size_t t = 0; t < tableAt.size(); ++t) {
      Type* element = expression.type(types[tables.nodes[t]].type, 1);
      b.CreateAlignedStore(values[tables.nodes[t]], b.CreateInBoundsGEP(element, tableAt[t], at.inner), alignOf(element));
    }
  });
}

void Emitter::body(const Position& at, unsigned lanes, Value* mask) {
  ExpressionPlace place = placeAt(at, lanes, mask);
  place.known = [&](std::uint32_t node) -> Value* {
    for (std::size_t t = 0; t < tableAt.size(); ++t) {
      if (tables.nodes[t] != node) continue;
      Type* element = expression.type(types[node].type, 1);
      return b.CreateAlignedLoad(expression.type(types[node].type, lanes), b.CreateInBoundsGEP(element, tableAt[t], at.inner),
                                 alignOf(element));
    }
    return nullptr;
  };
  const std::vector<Value*> values = expression.emit(place, tables.body);
  // All loads stand before all stores: an output may lie over an input.
  for (const LoopOutput& output : nest.outputs) {
    Value* value = expression.as(output.node, valueType(output.dtype), values, lanes);
    if (mask != nullptr) value = b.CreateSelect(mask, value, llvm::Constant::getNullValue(value->getType()));
    access.store(output, at, value, lanes);
  }
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
