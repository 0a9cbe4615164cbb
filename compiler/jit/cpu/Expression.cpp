#include "compiler/jit/cpu/Expression.h"

#include <algorithm>

namespace tbem::jit {
namespace {
using graph::ElemNode;
using graph::ElemOp;
using llvm::Type;
using llvm::Value;

bool isFloat(ValueType t) { return t == ValueType::F32 || t == ValueType::F64; }
}  // namespace

Type* Expression::type(ValueType t, unsigned lanes) {
  Type* element = t == ValueType::Bool  ? static_cast<Type*>(b.getInt1Ty())
                  : t == ValueType::I64 ? b.getInt64Ty()
                  : t == ValueType::F32 ? b.getFloatTy()
                                        : b.getDoubleTy();
  return lanes == 1 ? element : llvm::FixedVectorType::get(element, lanes);
}

Value* Expression::convert(Value* value, ValueType from, ValueType to) {
  if (from == to) return value;
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  Type* target = type(to, vector == nullptr ? 1 : vector->getNumElements());
  if (to == ValueType::Bool) {
    if (from == ValueType::I64) return b.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    return b.CreateFCmpUNE(value, llvm::Constant::getNullValue(value->getType()));
  }
  if (to == ValueType::I64) {
    if (from == ValueType::Bool) return b.CreateZExt(value, target);
    return b.CreateIntrinsic(llvm::Intrinsic::fptosi_sat, {target, value->getType()}, {value});
  }
  if (from == ValueType::Bool) return b.CreateUIToFP(value, target);
  if (from == ValueType::I64) return b.CreateSIToFP(value, target);
  return to == ValueType::F64 ? b.CreateFPExt(value, target) : b.CreateFPTrunc(value, target);
}

Value* Expression::as(std::uint32_t node, ValueType to, const std::vector<Value*>& values, unsigned lanes) {
  if (!types[node].uniform) return convert(values[node], types[node].type, to);
  Value* value = convert(uniform[node], types[node].type, to);
  return lanes == 1 ? value : b.CreateVectorSplat(lanes, value);
}

std::optional<double> Expression::constant(std::uint32_t node) const {
  if (nest.nodes[node].op != ElemOp::Constant || std::ranges::count(nest.given, node) != 0) return std::nullopt;
  return nest.nodes[node].value.toDouble();
}

bool hasFunctions(const LoopNest& nest, const std::vector<NodeType>& types, const std::vector<bool>& computed) {
  for (std::size_t i = 0; i < nest.nodes.size(); ++i) {
    if (types[i].uniform || !computed[i]) continue;
    switch (nest.nodes[i].op) {
      case ElemOp::Exp:
      case ElemOp::Log:
      case ElemOp::Pow:
      case ElemOp::Tanh:
      case ElemOp::Erf:
        return true;
      default:
        break;
    }
  }
  return false;
}

void Expression::hoist(Value* scalars, Value* key, const std::vector<Value*>& given) {
  seed = key;
  uniform.assign(nest.nodes.size(), nullptr);
  const bool random = std::any_of(nest.nodes.begin(), nest.nodes.end(), [](const ElemNode& n) { return n.op == ElemOp::Random; });
  // The counter holds the step modulo 2^32.
  if (random) step = b.CreateTrunc(b.CreateFPToUI(b.CreateLoad(b.getDoubleTy(), scalars), b.getInt64Ty()), b.getInt32Ty());
  const ExpressionPlace nowhere;
  for (std::uint32_t i = 0; i < nest.nodes.size(); ++i) {
    if (!types[i].uniform || !types[i].used) continue;
    const ElemNode& n = nest.nodes[i];
    if (const auto at = std::ranges::find(nest.given, i); at != nest.given.end()) {
      uniform[i] = given[static_cast<std::size_t>(at - nest.given.begin())];
    } else if (n.op == ElemOp::Scalar) {
      uniform[i] = b.CreateLoad(b.getDoubleTy(), b.CreateConstInBoundsGEP1_64(b.getDoubleTy(), scalars, n.input));
    } else if (n.op == ElemOp::Constant) {
      uniform[i] = llvm::ConstantFP::get(b.getDoubleTy(), n.value.toDouble());
    } else {
      uniform[i] = compute(i, uniform, nowhere);
    }
  }
}

std::vector<Value*> Expression::emit(const ExpressionPlace& place, const std::vector<bool>& wanted) {
  std::vector<Value*> values(nest.nodes.size(), nullptr);
  for (std::uint32_t i = 0; i < nest.nodes.size(); ++i) {
    if (!wanted[i] || types[i].uniform) continue;
    if (place.known) values[i] = place.known(i);
    if (values[i] == nullptr) values[i] = compute(i, values, place);
  }
  return values;
}

Value* Expression::compute(std::uint32_t node, const std::vector<Value*>& values, const ExpressionPlace& place) {
  const ElemNode& n = nest.nodes[node];
  const ValueType t = types[node].type;
  auto get = [&](std::uint32_t operand) { return as(operand, t, values, place.lanes); };
  switch (n.op) {
    case ElemOp::Input:
      return place.load(n.input);
    case ElemOp::Constant:
    case ElemOp::Scalar:
      return nullptr;  // uniform: made by hoist
    case ElemOp::Random:
      return emitUniform(b, place.number(), seed, step, n.stream, type(t, place.lanes));
    case ElemOp::Index:
      return place.coordinate(n.input);
    case ElemOp::Add:
    case ElemOp::Sub:
    case ElemOp::Mul:
    case ElemOp::Div:
    case ElemOp::Minimum:
    case ElemOp::Maximum:
      return arithmetic(n, t, get(n.a), get(n.b));
    case ElemOp::Pow:
      return emitPow(b, get(n.a), get(n.b), constant(n.b));
    case ElemOp::Neg:
      return isFloat(t) ? b.CreateFNeg(get(n.a)) : b.CreateNeg(get(n.a));
    case ElemOp::Abs:
      if (isFloat(t)) return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, get(n.a));
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, get(n.a), b.getFalse());
    case ElemOp::Floor:
      return isFloat(t) ? b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, get(n.a)) : get(n.a);
    case ElemOp::Exp:
      return emitExp(b, get(n.a));
    case ElemOp::Log:
      return emitLog(b, get(n.a));
    case ElemOp::Sqrt:
      return b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, get(n.a));
    case ElemOp::Rsqrt: {
      Value* root = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, get(n.a));
      return b.CreateFDiv(real(b, root->getType(), 1.0), root);
    }
    case ElemOp::Tanh:
      return emitTanh(b, get(n.a));
    case ElemOp::Erf:
      return emitErf(b, get(n.a));
    case ElemOp::Sin:
      return callLanes(b, "sin", {get(n.a)});
    case ElemOp::Cos:
      return callLanes(b, "cos", {get(n.a)});
    case ElemOp::Equal:
    case ElemOp::Less:
    case ElemOp::LessEqual:
      return compare(n, values, place.lanes);
    case ElemOp::And:
      return b.CreateAnd(get(n.a), get(n.b));
    case ElemOp::Or:
      return b.CreateOr(get(n.a), get(n.b));
    case ElemOp::Not:
      return b.CreateNot(get(n.a));
    case ElemOp::Select:
      return b.CreateSelect(as(n.a, ValueType::Bool, values, place.lanes), get(n.b), get(n.c));
    case ElemOp::Cast:
      return cast(node, values, place.lanes);
  }
  return nullptr;
}

Value* Expression::arithmetic(const ElemNode& n, ValueType t, Value* x, Value* y) {
  const bool real = isFloat(t);
  switch (n.op) {
    case ElemOp::Add:
      return real ? b.CreateFAdd(x, y) : b.CreateAdd(x, y);
    case ElemOp::Sub:
      return real ? b.CreateFSub(x, y) : b.CreateSub(x, y);
    case ElemOp::Mul:
      return real ? b.CreateFMul(x, y) : b.CreateMul(x, y);
    case ElemOp::Div:
      return b.CreateFDiv(x, y);
    default:
      break;
  }
  const bool maximum = n.op == ElemOp::Maximum;
  if (real) return emitMinMax(b, maximum, x, y);
  return b.CreateBinaryIntrinsic(maximum ? llvm::Intrinsic::smax : llvm::Intrinsic::smin, x, y);
}

Value* Expression::compare(const ElemNode& n, const std::vector<Value*>& values, unsigned lanes) {
  const NodeType &a = types[n.a], &c = types[n.b];
  // The widest type of the tensors; a uniform number against integers compares as that number unless it is whole.
  ValueType t = ValueType::Bool;
  for (const NodeType* side : {&a, &c}) {
    const NodeType& other = side == &a ? c : a;
    if (!side->uniform || other.uniform)
      t = std::max(t, side->type);
    else if (side->type != ValueType::Bool && !isFloat(other.type))
      t = std::max(t, side->integral ? ValueType::I64 : floating);
  }
  if (t == ValueType::Bool && n.op != ElemOp::Equal) t = ValueType::I64;
  Value *x = as(n.a, t, values, lanes), *y = as(n.b, t, values, lanes);
  if (isFloat(t))
    return n.op == ElemOp::Equal ? b.CreateFCmpOEQ(x, y) : n.op == ElemOp::Less ? b.CreateFCmpOLT(x, y) : b.CreateFCmpOLE(x, y);
  return n.op == ElemOp::Equal ? b.CreateICmpEQ(x, y) : n.op == ElemOp::Less ? b.CreateICmpSLT(x, y) : b.CreateICmpSLE(x, y);
}

Value* Expression::cast(std::uint32_t node, const std::vector<Value*>& values, unsigned lanes) {
  const ElemNode& n = nest.nodes[node];
  Value* value = as(n.a, types[node].type, values, lanes);
  if (n.dtype == TBEM_BF16 || n.dtype == TBEM_F16) return emitFromNarrow(b, n.dtype, emitToNarrow(b, n.dtype, value));
  // Narrow integers wrap, so that a fused cast gives what a stored one would.
  const bool i8 = n.dtype == TBEM_I8, u8 = n.dtype == TBEM_U8, i32 = n.dtype == TBEM_I32;
  if (!i8 && !u8 && !i32) return value;
  Value* small = b.CreateTrunc(value, withElement(value->getType(), i32 ? static_cast<Type*>(b.getInt32Ty()) : b.getInt8Ty()));
  return u8 ? b.CreateZExt(small, value->getType()) : b.CreateSExt(small, value->getType());
}

}  // namespace tbem::jit
