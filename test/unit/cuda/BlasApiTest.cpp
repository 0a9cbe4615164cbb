// Our numbers of cuBLASLt's enumerations, and the sizes of its types, against its own header where that is installed.
#include "runtime/backends/cuda/libraries/BlasApi.h"

#include <gtest/gtest.h>

#if __has_include(<cublasLt.h>)
#include <cublasLt.h>

namespace tbem::cuda::blas {
namespace {

TEST(CublasApi, NumbersAreThoseOfTheHeader) {
  const std::pair<int, int> pairs[] = {
      {kComputeF32, CUBLAS_COMPUTE_32F},
      {kComputeTf32, CUBLAS_COMPUTE_32F_FAST_TF32},
      {kTypeF32, CUDA_R_32F},
      {kTypeF16, CUDA_R_16F},
      {kTypeBf16, CUDA_R_16BF},
      {kPlain, CUBLAS_OP_N},
      {kTransposed, CUBLAS_OP_T},
      {kAddBias, CUBLASLT_EPILOGUE_BIAS},
      {kInComputeType, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE},
      {kInOutputType, CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE},
      {kTransposeA, CUBLASLT_MATMUL_DESC_TRANSA},
      {kTransposeB, CUBLASLT_MATMUL_DESC_TRANSB},
      {kEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE},
      {kBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER},
      {kBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT},
      {kBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET},
      {kMostWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES},
      {kReductions, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK},
      {kAlignA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES},
      {kAlignB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES},
      {kAlignC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES},
      {kAlignD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES},
  };
  for (const auto& [ours, theirs] : pairs) EXPECT_EQ(ours, theirs);
}

TEST(CublasApi, TypesAreAsLarge) {
  EXPECT_EQ(sizeof(Algorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(Heuristic), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(Heuristic, workspace), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(Heuristic, state), offsetof(cublasLtMatmulHeuristicResult_t, state));
}

}  // namespace
}  // namespace tbem::cuda::blas
#endif
