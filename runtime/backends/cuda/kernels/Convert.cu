// reorder: elements of another type.
#include "runtime/backends/cuda/kernels/Real.cuh"
#include "runtime/backends/cuda/kernels/Shape.cuh"

namespace tbem::cuda {
namespace {

template <class To, class From>
__device__ To as(From value) {
  if constexpr (sizeof(From) == sizeof(Bfloat16)) {
    return asFloat(value);
  } else if constexpr (sizeof(To) == sizeof(Bfloat16)) {
    return rounded<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

template <class From, class To>
__device__ void convert(const From* x, To* y, std::uint64_t count) {
  const auto at = threadNumber<std::uint64_t>();
  if (at < count) y[at] = as<To>(x[at]);
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
TBEM_CONVERT(f16, tbem::cuda::Float16, f32, float)
TBEM_CONVERT(f32, float, f16, tbem::cuda::Float16)
