// Functions of numbers in IR, for scalars and vectors alike.
//
// Of f32, by polynomials, in any vector width, with no library call: log and erf are computed in f64 and rounded once, error
// below 0.51 ulp; exp and tanh, which activations and their gradients live on, are computed in f32, error below 1 and 2.5 ulp:
// half the time (tested against libm in f64 over all f32). Everything else, and all functions of f64, call the C library lane by
// lane: error below 1 ulp as glibc states. Integer powers of f32 up to 16 are products in f64, rounded once.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <optional>

namespace tbem::jit {

using Builder = llvm::IRBuilder<>;

/// A constant of the type of `like`'s elements, splatted to its shape; `type` may be scalar or vector.
llvm::Value* real(Builder& b, llvm::Type* type, double value);
/// `type`'s element type or, for vectors of n lanes, a vector of n `element`.
llvm::Type* withElement(llvm::Type* type, llvm::Type* element);

llvm::Value* emitExp(Builder& b, llvm::Value* x);
llvm::Value* emitLog(Builder& b, llvm::Value* x);
llvm::Value* emitTanh(Builder& b, llvm::Value* x);
llvm::Value* emitErf(Builder& b, llvm::Value* x);
/// `exponent`: where it is a constant of the program.
llvm::Value* emitPow(Builder& b, llvm::Value* x, llvm::Value* y, std::optional<double> exponent);
/// `name` without a suffix ("sin"): the C library's function for the element type, lane by lane.
llvm::Value* callLanes(Builder& b, const char* name, llvm::ArrayRef<llvm::Value*> arguments);
/// The smaller or larger number; NaN if either is.
llvm::Value* emitMinMax(Builder& b, bool maximum, llvm::Value* x, llvm::Value* y);

/// f32 from the bits (i16) of bf16 or f16.
llvm::Value* emitFromNarrow(Builder& b, std::int32_t dtype, llvm::Value* bits);
/// The bits (i16) of the number of bf16 or f16 that is nearest to a f32, ties to even; NaN stays NaN.
llvm::Value* emitToNarrow(Builder& b, std::int32_t dtype, llvm::Value* x);

/// Uniform in [0, 1) from Philox4x32-10 as runtime/core/Philox.h defines it: `element` i64 (scalar or vector), `seed` and `step`
/// scalars (i64, i32); `type`: float or double of the same shape as `element`.
llvm::Value* emitUniform(Builder& b, llvm::Value* element, llvm::Value* seed, llvm::Value* step, std::uint64_t stream,
                         llvm::Type* type);

}  // namespace tbem::jit
