// What PyTorch allocates beside the result of a sum over the rows of a matrix, which a bias's gradient is: partial sums of blocks
// that share an output, and a counter for each group of outputs. Rules: setReduceConfig and gpu_reduce_kernel in
// aten/src/ATen/native/cuda/Reduce.cuh of PyTorch 2.15.
#pragma once

#include <cstdint>

namespace tbem::estimate {

/// What decides how a sum is split; 0: no GPU is known, nothing is counted.
struct SumUnits {
  std::int64_t multiprocessors = 0, threadsPerMultiprocessor = 0;
};

/// Bytes; both 0 where no two blocks share an output.
struct SumBuffers {
  std::uint64_t partial = 0, counters = 0;
  bool operator==(const SumBuffers&) const = default;
};

/// Of a row-major matrix of f32, f16 or bf16 (`accumulator` 4) or f64 (8).
SumBuffers sumBuffers(std::uint64_t rows, std::uint64_t columns, std::uint64_t accumulator, const SumUnits& units);

}  // namespace tbem::estimate
