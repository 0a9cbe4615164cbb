#include "compiler/jit/cpu/LoopBody.h"

#include <llvm/IR/IRBuilder.h>

namespace tbem::jit {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

void LoopBody::begin(llvm::Function* of, Value* scalars, Value* seed, const std::vector<Value*>& given) {
  function = of;
  access.begin(of);
  expression.hoist(scalars, seed, given);
}

Position LoopBody::origin() {
  Position at;
  at.output = at.number = at.inner = i64(0);
  at.inputs.assign(nest.inputs.size(), i64(0));
  at.coordinates.assign(nest.coordinates.size(), i64(0));
  return at;
}

Position LoopBody::advance(const Position& at, std::size_t v, Value* by) {
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

/// Where the layout pads, elements beyond the limit become 0 and are never read.
void LoopBody::atPlace(const Position& at, unsigned lanes) {
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
  auto* fast = BasicBlock::Create(b.getContext(), "inside", function);
  auto* edge = BasicBlock::Create(b.getContext(), "edge", function);
  auto* done = BasicBlock::Create(b.getContext(), "done", function);
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

ExpressionPlace LoopBody::placeAt(const Position& at, unsigned lanes, Value* mask) {
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

std::vector<Value*> LoopBody::beforeTables(const Position& at, unsigned lanes) {
  return expression.emit(placeAt(at, lanes, nullptr), tables.before);
}

void LoopBody::body(const Position& at, unsigned lanes, Value* mask) {
  ExpressionPlace place = placeAt(at, lanes, mask);
  place.known = [&](std::uint32_t node) -> Value* {
    for (std::size_t t = 0; t < tableAt.size(); ++t) {
      if (tables.nodes[t] != node) continue;
      Type* element = typeOf(node);
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

}  // namespace tbem::jit
