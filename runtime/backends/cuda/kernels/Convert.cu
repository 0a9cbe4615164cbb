// reorder: elements of another type.
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

/// The upper half of a f32, as runtime/core/Bfloat16.h has it: rounded to nearest even; a NaN stays one.
struct Bfloat16 {
  std::uint16_t bits;
};

template <class To, class From>
struct As {
  static __device__ To of(From value) { return static_cast<To>(value); }
};
template <>
struct As<float, Bfloat16> {
  static __device__ float of(Bfloat16 value) { return __uint_as_float(static_cast<std::uint32_t>(value.bits) << 16); }
};
template <>
struct As<Bfloat16, float> {
  static __device__ Bfloat16 of(float value) {
    const std::uint32_t whole = __float_as_uint(value);
    const bool nan = (whole & 0x7FFFFFFFU) > 0x7F800000U;
    return {static_cast<std::uint16_t>((nan ? whole | 0x400000U : whole + 0x7FFFU + ((whole >> 16) & 1U)) >> 16)};
  }
};

template <class From, class To>
__device__ void convert(const From* x, To* y, std::uint64_t count) {
  const auto at = threadNumber<std::uint64_t>();
  if (at < count) y[at] = As<To, From>::of(x[at]);
}

}  // namespace
}  // namespace tbem::cuda

#define TBEM_CONVERT(from, From, to, To)                                                             \
  extern "C" __global__ void tbem_Convert_##from##_##to(const From* x, To* y, std::uint64_t count) { \
    tbem::cuda::convert(x, y, count);                                                                \
  }
TBEM_CONVERT(f64, double, f32, float)
TBEM_CONVERT(f64, double, i64, std::int64_t)
TBEM_CONVERT(f64, double, i32, std::int32_t)
TBEM_CONVERT(f32, float, f64, double)
TBEM_CONVERT(f32, float, i64, std::int64_t)
TBEM_CONVERT(f32, float, i32, std::int32_t)
TBEM_CONVERT(i64, std::int64_t, f64, double)
TBEM_CONVERT(i64, std::int64_t, f32, float)
TBEM_CONVERT(i64, std::int64_t, i32, std::int32_t)
TBEM_CONVERT(i32, std::int32_t, f64, double)
TBEM_CONVERT(i32, std::int32_t, f32, float)
TBEM_CONVERT(i32, std::int32_t, i64, std::int64_t)
TBEM_CONVERT(bf16, tbem::cuda::Bfloat16, f32, float)
TBEM_CONVERT(f32, float, bf16, tbem::cuda::Bfloat16)
