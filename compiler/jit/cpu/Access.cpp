#include "compiler/jit/cpu/Access.h"

#include <llvm/IR/IRBuilder.h>

namespace tbem::jit {

using llvm::Type;
using llvm::Value;

namespace {
/// How far ahead of its place a loop with functions asks for its operands; 512 to 2048 bytes do alike (measured).
constexpr std::int64_t kPrefetchBytes = 1024;
}  // namespace

llvm::Align alignOf(Type* storage) { return llvm::Align(storage->getPrimitiveSizeInBits() / 8); }

Type* Access::storage(std::int32_t dtype) {
  switch (dtype) {
    case TBEM_F64:
      return b.getDoubleTy();
    case TBEM_F32:
      return b.getFloatTy();
    case TBEM_I64:
      return b.getInt64Ty();
    case TBEM_I32:
      return b.getInt32Ty();
    case TBEM_BF16:
    case TBEM_F16:
      return b.getInt16Ty();
    default:
      return b.getInt8Ty();
  }
}

/// Of lanes beside each other: a nest whose threads take vectors has them at multiples of their size.
llvm::Align Access::alignOfLanes(Type* element, unsigned lanes) const {
  const llvm::Align align = alignOf(element);
  return nest.width > 1 ? llvm::Align(align.value() * lanes) : align;
}

void Access::begin(llvm::Function* of) {
  function = of;
  shifts.assign(nest.outputs.size(), nullptr);
}

void Access::findRows(Value* sample) {
  shifts.assign(nest.outputs.size(), nullptr);
  for (std::size_t o = 0; o < nest.outputs.size(); ++o) {
    if (!nest.outputs[o].rows) continue;
    Value* place = b.CreateInBoundsGEP(b.getInt64Ty(), function->getArg(*nest.outputs[o].rows), b.CreateNSWAdd(sample, i64(1)));
    Value* row = b.CreateAlignedLoad(b.getInt64Ty(), place, llvm::Align(8));
    shifts[o] = b.CreateNSWMul(b.CreateNSWSub(row, sample), i64(nest.output.stride[0]));
  }
}

Value* Access::lanesOf(Value* base, std::int64_t stride, unsigned lanes) {
  if (lanes == 1) return base;
  Value* all = b.CreateVectorSplat(lanes, base);
  if (stride == 0) return all;
  std::vector<llvm::Constant*> steps;
  for (unsigned l = 0; l < lanes; ++l) steps.push_back(b.getInt64(static_cast<std::uint64_t>(stride * l)));
  return b.CreateAdd(all, llvm::ConstantVector::get(steps));
}

void Access::zeros(const Position& at) {
  for (const LoopOutput& output : nest.outputs)
    store(output, at, llvm::Constant::getNullValue(expression.type(valueType(output.dtype), 1)), 1);
}

Value* Access::indirectOffset(const LoopOperand& operand, const Position& at, unsigned lanes) {
  Value* sum = nullptr;
  for (const Indirect& indirect : operand.indirect) {
    const Coordinate& c = nest.coordinates[indirect.coordinate];
    Value* x = lanesOf(at.coordinates[indirect.coordinate], c.form.stride[inner()], lanes);
    auto number = [&](std::int64_t n) { return llvm::ConstantInt::get(x->getType(), static_cast<std::uint64_t>(n)); };
    Value* offset = b.CreateMul(b.CreateUDiv(x, number(indirect.block)), number(indirect.outerStride));
    for (const Indirect::Digit& d : indirect.digits) {
      offset =
          b.CreateAdd(offset, b.CreateMul(b.CreateURem(b.CreateUDiv(x, number(d.divisor)), number(d.size)), number(d.stride)));
    }
    sum = sum == nullptr ? offset : b.CreateAdd(sum, offset);
  }
  return sum;
}

/// A hint only: the address may lie behind the array.
void Access::prefetch(Value* address) {
  constexpr unsigned kRead = 0, kAllLevels = 3, kData = 1;
  b.CreateIntrinsic(llvm::Intrinsic::prefetch, {b.getPtrTy()},
                    {b.CreateConstGEP1_64(b.getInt8Ty(), address, kPrefetchBytes), b.getInt32(kRead), b.getInt32(kAllLevels),
                     b.getInt32(kData)});
}

Value* Access::loadStored(const Position& at, std::uint32_t input, unsigned lanes, Value* mask) {
  const LoopOperand& operand = nest.inputs[input];
  Type* element = storage(operand.dtype);
  Value* pointer = function->getArg(operand.pointer);
  const std::int64_t stride = operand.offset.stride[inner()];
  Value* raw;
  if (operand.indirect.empty() && (lanes == 1 || stride == 1 || (stride == 0 && mask == nullptr))) {
    Value* address = b.CreateInBoundsGEP(element, pointer, at.inputs[input]);
    if (lanes > 1 && stride == 1) {
      auto* vector = llvm::FixedVectorType::get(element, lanes);
      if (readsAhead) prefetch(address);
      raw = mask == nullptr ? static_cast<Value*>(b.CreateAlignedLoad(vector, address, alignOfLanes(element, lanes)))
                            : b.CreateMaskedLoad(vector, address, alignOf(element), mask, llvm::Constant::getNullValue(vector));
    } else {
      raw = b.CreateAlignedLoad(element, address, alignOf(element));
      if (lanes > 1) raw = b.CreateVectorSplat(lanes, raw);
    }
  } else {
    Value* offset = lanesOf(at.inputs[input], stride, lanes);
    if (!operand.indirect.empty()) offset = b.CreateAdd(offset, indirectOffset(operand, at, lanes));
    Value* address = b.CreateInBoundsGEP(element, pointer, offset);
    if (lanes == 1) {
      raw = b.CreateAlignedLoad(element, address, alignOf(element));
    } else {
      auto* vector = llvm::FixedVectorType::get(element, lanes);
      raw = b.CreateMaskedGather(vector, address, alignOf(element), mask, llvm::Constant::getNullValue(vector));
    }
  }
  return raw;
}

Value* Access::load(const Position& at, std::uint32_t input, unsigned lanes, Value* mask) {
  Value* raw = loadStored(at, input, lanes, mask);
  switch (nest.inputs[input].dtype) {
    case TBEM_BOOL:
      return b.CreateICmpNE(raw, llvm::Constant::getNullValue(raw->getType()));
    case TBEM_BF16:
    case TBEM_F16:
      return emitFromNarrow(b, nest.inputs[input].dtype, raw);
    case TBEM_U8:
      return b.CreateZExt(raw, expression.type(ValueType::I64, lanes));
    case TBEM_I8:
    case TBEM_I32:
      return b.CreateSExt(raw, expression.type(ValueType::I64, lanes));
    default:
      return raw;
  }
}

void Access::store(const LoopOutput& output, const Position& at, Value* value, unsigned lanes) {
  Type* element = storage(output.dtype);
  Type* shape = lanes == 1 ? element : llvm::FixedVectorType::get(element, lanes);
  if (output.dtype == TBEM_BOOL) value = b.CreateZExt(value, shape);
  if (output.dtype == TBEM_I32 || output.dtype == TBEM_I8 || output.dtype == TBEM_U8) value = b.CreateTrunc(value, shape);
  if (output.dtype == TBEM_BF16) {
    // What a cast has rounded already is stored as it is.
    const graph::ElemNode& node = nest.nodes[output.node];
    const bool rounded = node.op == graph::ElemOp::Cast && node.dtype == TBEM_BF16 && !types[output.node].uniform;
    value = rounded
                ? b.CreateTrunc(b.CreateLShr(b.CreateBitCast(value, withElement(value->getType(), b.getInt32Ty())), 16), shape)
                : emitToNarrow(b, TBEM_BF16, value);
  }
  if (output.dtype == TBEM_F16) value = emitToNarrow(b, TBEM_F16, value);
  Value* pointer = function->getArg(output.pointer);
  const std::int64_t stride = nest.output.stride[inner()];
  Value* shift = shifts[static_cast<std::size_t>(&output - nest.outputs.data())];
  Value* place = shift == nullptr ? at.output : b.CreateNSWAdd(at.output, shift);
  if (lanes == 1 || stride == 1) {
    b.CreateAlignedStore(value, b.CreateInBoundsGEP(element, pointer, place), alignOfLanes(element, lanes));
  } else {
    b.CreateMaskedScatter(value, b.CreateInBoundsGEP(element, pointer, lanesOf(place, stride, lanes)), alignOf(element));
  }
}

}  // namespace tbem::jit
