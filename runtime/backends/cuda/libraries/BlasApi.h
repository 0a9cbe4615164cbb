// The part of cuBLASLt that is used here: prototypes, types, and the numbers of its enumerations, so that nothing of it is needed
// to build. Source: NVIDIA cuBLAS documentation, "Using the cuBLASLt API" (cublasLt.h of CUDA 12 and 13); a test compares with
// that header where it is installed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tbem::cuda::blas {

using Status = int;  ///< 0: success

constexpr int kComputeF32 = 68;   ///< without TF32
constexpr int kComputeTf32 = 77;  ///< f32 factors rounded to TF32
constexpr int kTypeF32 = 0, kTypeF16 = 2, kTypeBf16 = 14;
constexpr std::int32_t kPlain = 0, kTransposed = 1;  ///< of a factor
constexpr std::uint32_t kAddBias = 4;                ///< of epilogues: a value for each row of the result, columns innermost
/// Of schemes of reduction those whose parts are added in a fixed order, through the workspace; without parts is always allowed.
constexpr std::uint32_t kInComputeType = 2, kInOutputType = 4;

enum DescriptionAttribute : int { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8 };
enum LayoutAttribute : int { kBatchCount = 5, kBatchStride = 6 };
enum PreferenceAttribute : int { kMostWorkspace = 1, kReductions = 3, kAlignA = 5, kAlignB = 6, kAlignC = 7, kAlignD = 8 };

struct Algorithm {
  std::array<std::uint64_t, 8> data;
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace;
  Status state;
  float waves;
  std::array<int, 4> reserved;
};

/// The functions, as the library exports them.
struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, not an expression
#define TBEM_BLAS_FUNCTION(result, name, symbol, parameters) result(*name) parameters = nullptr;
#include "runtime/backends/cuda/libraries/blas.def"
#undef TBEM_BLAS_FUNCTION
};

}  // namespace tbem::cuda::blas
