// PReLU (He et al. 2015) as an operator with weights of its own, and functions that fail in each way that a caller must notice.
#include "tbem/native.h"

#include <cstdint>
#include <cstdio>
#include <cstring>

TBEM_NATIVE_LIBRARY

namespace {

std::int64_t pixels(const tbem_operand& x) { return x.dims[2] * x.dims[3]; }

template <class T>
struct Prelu {
  /// y = x > 0 ? x : slope[c] * x + shift[c], where there is a shift.
  static void forward(void* context, std::int64_t begin, std::int64_t end) {
    const auto& args = *static_cast<const tbem_native_args*>(context);
    const tbem_operand& shape = args.operands[0];
    const auto* x = static_cast<const T*>(args.data[0]);
    const auto* slope = static_cast<const T*>(args.data[1]);
    const auto* shift = static_cast<const T*>(args.data[2]);
    auto* y = static_cast<T*>(args.data[3]);
    for (std::int64_t i = begin * shape.dims[1] * pixels(shape); i < end * shape.dims[1] * pixels(shape); ++i) {
      const std::int64_t c = i / pixels(shape) % shape.dims[1];
      y[i] = x[i] > 0 ? x[i] : slope[c] * x[i] + (shift != nullptr ? shift[c] : T(0));
    }
  }
  static void inputGradient(const tbem_native_args& args) {
    const tbem_operand& shape = args.operands[0];
    const auto* x = static_cast<const T*>(args.data[0]);
    const auto* slope = static_cast<const T*>(args.data[1]);
    const auto* dy = static_cast<const T*>(args.data[2]);
    auto* dx = static_cast<T*>(args.data[3]);
    for (std::int64_t i = 0; i < shape.dims[0] * shape.dims[1] * pixels(shape); ++i)
      dx[i] = x[i] > 0 ? dy[i] : slope[i / pixels(shape) % shape.dims[1]] * dy[i];
  }
  static void slopeGradient(const tbem_native_args& args) {
    const tbem_operand& shape = args.operands[0];
    const auto* x = static_cast<const T*>(args.data[0]);
    const auto* dy = static_cast<const T*>(args.data[1]);
    auto* sums = static_cast<double*>(args.workspace);
    auto* dslope = static_cast<T*>(args.data[2]);
    std::memset(sums, 0, sizeof(double) * static_cast<std::size_t>(shape.dims[1]));
    for (std::int64_t i = 0; i < shape.dims[0] * shape.dims[1] * pixels(shape); ++i) {
      if (x[i] <= 0) sums[i / pixels(shape) % shape.dims[1]] += static_cast<double>(x[i]) * static_cast<double>(dy[i]);
    }
    for (std::int64_t c = 0; c < shape.dims[1]; ++c) dslope[c] = static_cast<T>(sums[c]);
  }
};

bool isDouble(const tbem_native_args* args) { return args->operands[0].dtype == TBEM_F64; }

}  // namespace

extern "C" {

std::int32_t prelu(const tbem_native_args* args) {
  if (args->inputs != 3 || args->attribute_count != 1 || args->operands[2].present != args->attributes[0]) return TBEM_INVALID;
  args->parallel(args, isDouble(args) ? Prelu<double>::forward : Prelu<float>::forward, const_cast<tbem_native_args*>(args),
                 args->operands[0].dims[0]);
  return TBEM_OK;
}
std::int32_t prelu_input_gradient(const tbem_native_args* args) {
  isDouble(args) ? Prelu<double>::inputGradient(*args) : Prelu<float>::inputGradient(*args);
  return TBEM_OK;
}
std::int32_t prelu_slope_gradient(const tbem_native_args* args) {
  isDouble(args) ? Prelu<double>::slopeGradient(*args) : Prelu<float>::slopeGradient(*args);
  return TBEM_OK;
}
std::uint64_t prelu_slope_gradient_workspace(const tbem_native_args* args) {
  return sizeof(double) * static_cast<std::uint64_t>(args->operands[0].dims[1]);
}

/// Says what it was given: pair 2, pads 4, a list with its length, reals apart.
std::int32_t tells(const tbem_native_args* args) {
  int at = std::snprintf(args->message, args->message_size, "attributes");
  for (std::int32_t i = 0; i < args->attribute_count; ++i)
    at += std::snprintf(args->message + at, args->message_size - static_cast<std::size_t>(at), " %d",
                        static_cast<int>(args->attributes[i]));
  for (std::int32_t i = 0; i < args->scalar_count; ++i)
    at += std::snprintf(args->message + at, args->message_size - static_cast<std::size_t>(at), "; scalar %g", args->scalars[i]);
  return TBEM_FAILED;
}
}
