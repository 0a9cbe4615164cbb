// Reductions over any axes (kernels/Reduction.cuh): how the elements are shared out.
#pragma once

#include "runtime/backends/cuda/ops/Shapes.h"

#include <array>

namespace tbem::cuda {

struct Reduction {
  std::int64_t outputs = 1, count = 1;
  bool wide = false;
  std::uint32_t blocks = 1, shares = 1;
  ReduceShape<std::uint32_t> narrow;
  ReduceShape<std::uint64_t> large;

  /// What the shares of all results take; 0 where there is one each.
  std::uint64_t bytes(std::uint64_t sumBytes) const {
    return shares == 1 ? 0 : shares * static_cast<std::uint64_t>(outputs) * sumBytes;
  }
};

using Reduced = std::array<bool, TBEM_MAX_RANK>;

/// Of a row-major tensor over the axes that are `reduced`; results row-major over the others.
Reduction reductionOver(const tbem_operand& x, const Reduced& reduced);
/// Over all elements of a vector.
Reduction reductionOfAll(std::int64_t count);

/// tbem_FILE_NAME_32 and _64.
struct ReductionKernels {
  const char *file, *narrow, *wide;
};
#define TBEM_REDUCTION_KERNELS(file, name) \
  tbem::cuda::ReductionKernels { #file, "tbem_" #file "_" #name "_32", "tbem_" #file "_" #name "_64" }

/// Those of tbem_FILE_NAME_f32, _bf16 and _f16, by an operand's type.
#define TBEM_REDUCTION_KERNELS_OF_TYPE(type, file, name)                                                        \
  tbem::cuda::ofType(type, TBEM_REDUCTION_KERNELS(file, name##_f32), TBEM_REDUCTION_KERNELS(file, name##_bf16), \
                     TBEM_REDUCTION_KERNELS(file, name##_f16))

template <class Operands>
tbem_status reduce(const ReductionKernels& kernels, const Reduction& plan, const Operands& operands, void* partials) {
  if (plan.outputs == 0) return TBEM_OK;
  const Grid grid{plan.blocks, kThreads, 0, plan.shares};
  return plan.wide ? launch({kernels.file, kernels.wide}, grid, plan.large, operands, partials)
                   : launch({kernels.file, kernels.narrow}, grid, plan.narrow, operands, partials);
}

}  // namespace tbem::cuda
