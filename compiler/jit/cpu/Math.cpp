#include "compiler/jit/cpu/Math.h"

#include "runtime/include/tbem/backend.h"

#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>

#include <functional>
#include <string>

namespace tbem::jit {
namespace {

using llvm::Type;
using llvm::Value;

/// Products and sums may become fused multiply-adds inside these functions; the error bounds hold either way.
struct Contract {
  explicit Contract(Builder& b) : guard(b) {
    llvm::FastMathFlags flags;
    flags.setAllowContract(true);
    b.setFastMathFlags(flags);
  }
  Builder::FastMathFlagGuard guard;
};

bool isF32(Value* x) { return x->getType()->getScalarType()->isFloatTy(); }
Value* integer(Type* type, std::uint64_t value) { return llvm::ConstantInt::get(type, value); }

/// c[0] + c[1] x + c[2] x^2 + .. by Horner's rule.
template <std::size_t N>
Value* polynomial(Builder& b, Value* x, const double (&c)[N]) {
  Value* sum = real(b, x->getType(), c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) sum = b.CreateFAdd(b.CreateFMul(sum, x), real(b, x->getType(), c[i]));
  return sum;
}

/// x = n ln 2 + r with |r| <= ln 2 / 2: n, and e^r - 1, for f32 |x| < 200. NaN gives NaN in e^r - 1.
struct ExpParts {
  Value* n;  ///< i32
  Value* rest;
};
ExpParts expParts(Builder& b, Value* x) {
  Type* f32 = x->getType();
  Type* i32 = withElement(f32, b.getInt32Ty());
  constexpr double kMagic = 0x1.8p23;  // adding it rounds to a whole number, which stands in the low bits
  Value *shifted, *n;
  {
    Builder::FastMathFlagGuard guard(b);
    b.setFastMathFlags({});
    shifted = b.CreateFAdd(b.CreateFMul(x, real(b, f32, 1.4426950408889634)), real(b, f32, kMagic));
    n = b.CreateFSub(shifted, real(b, f32, kMagic));
  }
  // ln 2 in two parts: the first has 15 trailing zeros, so n times it is exact.
  Value* first = b.CreateFSub(x, b.CreateFMul(n, real(b, f32, 0.693359375)));
  Value* second = b.CreateFMul(n, real(b, f32, 2.12194440054690583e-4));
  Value* r = b.CreateFAdd(first, second);
  Value* lost = b.CreateFAdd(b.CreateFSub(first, r), second);  // what rounding took from r: a quarter of a unit of the result
  // Taylor's series: |r|^8 / 8! < 6e-9.
  static constexpr double c[] = {1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720, 1.0 / 5040};
  Value* rest = b.CreateFAdd(b.CreateFAdd(b.CreateFMul(b.CreateFMul(r, r), polynomial(b, r, c)), lost), r);
  return {b.CreateSub(b.CreateBitCast(shifted, i32), integer(i32, 0x4B400000U)), rest};
}

/// 2^n of i32 n in -126..127.
Value* powerOfTwo(Builder& b, Value* n, Type* f32) {
  Type* i32 = n->getType();
  return b.CreateBitCast(b.CreateShl(b.CreateAdd(n, integer(i32, 127)), integer(i32, 23)), f32);
}

Value* clamp(Builder& b, Value* x, double low, double high) {  // NaN stays
  Type* t = x->getType();
  x = b.CreateSelect(b.CreateFCmpOLT(x, real(b, t, low)), real(b, t, low), x);
  return b.CreateSelect(b.CreateFCmpOGT(x, real(b, t, high)), real(b, t, high), x);
}
Value* widen(Builder& b, Value* x) { return b.CreateFPExt(x, withElement(x->getType(), b.getDoubleTy())); }
Value* narrow(Builder& b, Value* x) { return b.CreateFPTrunc(x, withElement(x->getType(), b.getFloatTy())); }

}  // namespace

Value* real(Builder&, Type* type, double value) { return llvm::ConstantFP::get(type, value); }

Type* withElement(Type* type, Type* element) {
  if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type))
    return llvm::FixedVectorType::get(element, vector->getNumElements());
  return element;
}

Value* callLanes(Builder& b, const char* name, llvm::ArrayRef<Value*> arguments) {
  Type* type = arguments[0]->getType();
  Type* element = type->getScalarType();
  llvm::SmallVector<Type*, 2> types(arguments.size(), element);
  llvm::Module* module = b.GetInsertBlock()->getModule();
  auto callee = module->getOrInsertFunction(std::string(name) + (element->isFloatTy() ? "f" : ""),
                                            llvm::FunctionType::get(element, types, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector == nullptr) return b.CreateCall(callee, arguments);
  Value* result = llvm::PoisonValue::get(type);
  for (std::uint64_t lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::SmallVector<Value*, 2> parts;
    for (Value* a : arguments) parts.push_back(b.CreateExtractElement(a, lane));
    result = b.CreateInsertElement(result, b.CreateCall(callee, parts), lane);
  }
  return result;
}

Value* emitExp(Builder& b, Value* x) {
  if (!isF32(x)) return callLanes(b, "exp", {x});
  Contract contract(b);
  // Beyond these ends the result is 0 or infinite anyway. In two factors: 2^128 and 2^-150 are no f32.
  const ExpParts parts = expParts(b, clamp(b, x, -104, 89));
  Value* half = b.CreateAShr(parts.n, integer(parts.n->getType(), 1));
  Value* power = powerOfTwo(b, half, x->getType());
  Value* other = powerOfTwo(b, b.CreateSub(parts.n, half), x->getType());
  return b.CreateFMul(b.CreateFMul(b.CreateFAdd(parts.rest, real(b, x->getType(), 1.0)), power), other);
}

Value* emitTanh(Builder& b, Value* x) {
  if (!isF32(x)) return callLanes(b, "tanh", {x});
  Contract contract(b);
  // (e^2x - 1) / (e^2x + 1), with e^2x - 1 = (2^n - 1) + 2^n (e^r - 1): no cancellation near 0. tanh(10) rounds to 1.
  const ExpParts parts = expParts(b, clamp(b, b.CreateFAdd(x, x), -20, 20));
  Value* power = powerOfTwo(b, parts.n, x->getType());
  Value* minus = b.CreateFAdd(b.CreateFSub(power, real(b, x->getType(), 1.0)), b.CreateFMul(power, parts.rest));
  Value* ratio = b.CreateFDiv(minus, b.CreateFAdd(minus, real(b, x->getType(), 2.0)));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, ratio, x);  // tanh(-0) = -0
}

Value* emitLog(Builder& b, Value* x) {
  if (!isF32(x)) return callLanes(b, "log", {x});
  Contract contract(b);
  Value* wide = widen(b, x);
  Type* f64 = wide->getType();
  Type* i64 = withElement(f64, b.getInt64Ty());
  // x = 2^e m with sqrt(1/2) <= m < sqrt(2). Every f32, subnormals too, is a normal f64.
  Value* bits = b.CreateBitCast(wide, i64);
  Value* e = b.CreateAShr(b.CreateSub(bits, integer(i64, 0x3FE6A09E667F3BCDU)), integer(i64, 52));
  Value* m = b.CreateBitCast(b.CreateSub(bits, b.CreateShl(e, integer(i64, 52))), f64);
  Value* exponent;
  {
    Builder::FastMathFlagGuard guard(b);
    b.setFastMathFlags({});
    exponent = b.CreateFSub(b.CreateBitCast(b.CreateAdd(e, integer(i64, 0x4338000000000000U)), f64), real(b, f64, 0x1.8p52));
  }
  // log m = 2 artanh(s), s = (m - 1) / (m + 1), |s| < 0.172; the terms left out are below 2e-14 of the sum.
  Value* f = b.CreateFSub(m, real(b, f64, 1.0));
  Value* s = b.CreateFDiv(f, b.CreateFAdd(m, real(b, f64, 1.0)));
  static constexpr double c[] = {2.0, 2.0 / 3, 2.0 / 5, 2.0 / 7, 2.0 / 9, 2.0 / 11, 2.0 / 13, 2.0 / 15};
  Value* log = b.CreateFMul(s, polynomial(b, b.CreateFMul(s, s), c));
  log = narrow(b, b.CreateFAdd(b.CreateFMul(exponent, real(b, f64, 0.69314718055994531)), log));
  Type* f32 = x->getType();
  Value* infinity = llvm::ConstantFP::getInfinity(f32);
  log = b.CreateSelect(b.CreateFCmpOEQ(x, infinity), infinity, log);
  log = b.CreateSelect(b.CreateFCmpOEQ(x, real(b, f32, 0.0)), llvm::ConstantFP::getInfinity(f32, true), log);
  return b.CreateSelect(b.CreateFCmpULT(x, real(b, f32, 0.0)), llvm::ConstantFP::getNaN(f32), log);  // NaN too
}

Value* emitErf(Builder& b, Value* x) {
  if (!isF32(x)) return callLanes(b, "erf", {x});
  Contract contract(b);
  // erf(x) / x as a polynomial in t = x^2 / 8 - 1 on |x| <= 4, by Chebyshev interpolation in 22 points: relative error 2.1e-12.
  // erf(4) rounds to 1 in f32.
  static constexpr double c[] = {0.35353099564409746,    -0.17657623330158756,    0.13167511672717516,    -0.10771044247615774,
                                 0.090209000799871819,   -0.074727867838360704,   0.059886801040637698,   -0.045765077878499212,
                                 0.033061459397470239,   -0.022473827344932043,   0.014345773496301898,   -0.0086050226136647652,
                                 0.0048645444851124287,  -0.0025816672387885308,  0.0012724411639804154,  -0.00060662970562111495,
                                 0.0002990814426379683,  -0.00012508945346589517, 3.1121289408064803e-05, -1.3260380926920112e-05,
                                 1.3246133141674834e-05, -4.467242670949824e-06};
  Value* wide = clamp(b, widen(b, x), -4, 4);
  Value* t = b.CreateFSub(b.CreateFMul(b.CreateFMul(wide, wide), real(b, wide->getType(), 0.125)), real(b, wide->getType(), 1.0));
  return narrow(b, b.CreateFMul(wide, polynomial(b, t, c)));
}

Value* emitPow(Builder& b, Value* x, Value* y, std::optional<double> exponent) {
  if (exponent && *exponent == 2.0) return b.CreateFMul(x, x);
  const bool whole =
      exponent && *exponent == static_cast<double>(static_cast<int>(*exponent)) && *exponent >= 1 && *exponent <= 16;
  if (!whole || !isF32(x)) return callLanes(b, "pow", {x, y});
  Value *square = widen(b, x), *product = nullptr;
  for (int n = static_cast<int>(*exponent); n != 0; n /= 2) {
    if (n % 2 == 1) product = product == nullptr ? square : b.CreateFMul(product, square);
    if (n > 1) square = b.CreateFMul(square, square);
  }
  return narrow(b, product);
}

namespace {

/// Its upper half.
Value* emitFromBfloat16(Builder& b, Value* bits) {
  Value* wide = b.CreateZExt(bits, withElement(bits->getType(), b.getInt32Ty()));
  return b.CreateBitCast(b.CreateShl(wide, integer(wide->getType(), 16)), withElement(bits->getType(), b.getFloatTy()));
}

/// In integers, so that every processor rounds alike: the conversion of AVX512_BF16 flushes subnormal numbers.
Value* emitToBfloat16(Builder& b, Value* x) {
  Type* i32 = withElement(x->getType(), b.getInt32Ty());
  Value* bits = b.CreateBitCast(x, i32);
  Value* odd = b.CreateAnd(b.CreateLShr(bits, integer(i32, 16)), integer(i32, 1));
  Value* rounded = b.CreateAdd(bits, b.CreateAdd(odd, integer(i32, 0x7FFF)));
  Value* quiet = b.CreateOr(bits, integer(i32, 0x400000));
  Value* chosen = b.CreateSelect(b.CreateFCmpUNO(x, x), quiet, rounded);
  return b.CreateTrunc(b.CreateLShr(chosen, integer(i32, 16)), withElement(x->getType(), b.getInt16Ty()));
}

/// On a card conversions of f16 stand for themselves: elsewhere LLVM may compute in f16 what it proves equal, and a card before
/// compute capability 8.0 or a reader of PTX need not know such instructions.
bool isOnCard(Builder& b) { return llvm::Triple(b.GetInsertBlock()->getModule()->getTargetTriple()).isNVPTX(); }

/// `convert` of each lane.
Value* byLane(Builder& b, Value* x, Type* element, const std::function<Value*(Value*)>& convert) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  if (vector == nullptr) return convert(x);
  Value* all = llvm::PoisonValue::get(withElement(vector, element));
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane)
    all = b.CreateInsertElement(all, convert(b.CreateExtractElement(x, lane)), lane);
  return all;
}

}  // namespace

Value* emitFromNarrow(Builder& b, std::int32_t dtype, Value* bits) {
  if (dtype == TBEM_BF16) return emitFromBfloat16(b, bits);
  if (isOnCard(b)) {
    return byLane(b, bits, b.getFloatTy(),
                  [&](Value* lane) { return b.CreateIntrinsic(llvm::Intrinsic::convert_from_fp16, {b.getFloatTy()}, {lane}); });
  }
  Value* half = b.CreateBitCast(bits, withElement(bits->getType(), b.getHalfTy()));
  return b.CreateFPExt(half, withElement(bits->getType(), b.getFloatTy()));
}

Value* emitToNarrow(Builder& b, std::int32_t dtype, Value* x) {
  if (dtype == TBEM_BF16) return emitToBfloat16(b, x);
  if (isOnCard(b)) {
    return byLane(b, x, b.getInt16Ty(),
                  [&](Value* lane) { return b.CreateIntrinsic(llvm::Intrinsic::convert_to_fp16, {b.getFloatTy()}, {lane}); });
  }
  Value* half = b.CreateFPTrunc(x, withElement(x->getType(), b.getHalfTy()));
  return b.CreateBitCast(half, withElement(x->getType(), b.getInt16Ty()));
}

Value* emitMinMax(Builder& b, bool maximum, Value* x, Value* y) {
  llvm::FastMathFlags flags;
  flags.setNoSignedZeros(true);  // which zero of two is left open, as in PyTorch
  Builder::FastMathFlagGuard guard(b);
  b.setFastMathFlags(flags);
  return b.CreateBinaryIntrinsic(maximum ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum, x, y);
}

Value* emitUniform(Builder& b, Value* element, Value* seed, Value* step, std::uint64_t stream, Type* type) {
  Type* i64 = element->getType();
  Type* i32 = withElement(i64, b.getInt32Ty());
  auto spread = [&](Value* scalar) -> Value* {
    auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(i64);
    return vector == nullptr ? scalar : b.CreateVectorSplat(vector->getNumElements(), scalar);
  };
  auto low = [&](Value* v) { return b.CreateTrunc(v, i32); };
  auto high = [&](Value* v) { return b.CreateTrunc(b.CreateLShr(v, integer(i64, 32)), i32); };
  Value* c[4] = {low(element), high(element), spread(step), integer(i32, stream & 0xFFFFFFFFU)};
  Value* k0 = b.CreateXor(b.CreateTrunc(seed, b.getInt32Ty()), b.getInt32(static_cast<std::uint32_t>(stream >> 32U)));
  Value* k1 = b.CreateTrunc(b.CreateLShr(seed, 32), b.getInt32Ty());
  for (int round = 0; round < 10; ++round) {
    Value* p0 = b.CreateMul(b.CreateZExt(c[0], i64), integer(i64, 0xD2511F53U));
    Value* p1 = b.CreateMul(b.CreateZExt(c[2], i64), integer(i64, 0xCD9E8D57U));
    Value* next[4] = {b.CreateXor(b.CreateXor(high(p1), c[1]), spread(k0)), low(p1),
                      b.CreateXor(b.CreateXor(high(p0), c[3]), spread(k1)), low(p0)};
    std::copy(next, next + 4, c);
    k0 = b.CreateAdd(k0, b.getInt32(0x9E3779B9U));
    k1 = b.CreateAdd(k1, b.getInt32(0xBB67AE85U));
  }
  Value* word = b.CreateLShr(c[0], integer(i32, 8));  // 24 bits: signed conversion is exact, and cheaper
  return b.CreateFMul(b.CreateSIToFP(word, type), real(b, type, 0x1p-24));
}

}  // namespace tbem::jit
