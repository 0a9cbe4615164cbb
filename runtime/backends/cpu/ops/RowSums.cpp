// row_gradient_sums: one pass over dy and x. Ba et al. 2016 (arXiv 1607.06450), equations 3 and 4.
//
// Rows are cut into slices of a fixed length, whose sums over rows are joined in order: the same bits for any number of threads.
#include "runtime/backends/cpu/loops/RowLoops.h"
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/backends/cpu/ops/View.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tbem::cpu {
namespace {

constexpr std::int64_t kSlice = 32;  ///< rows a slice

struct Rows {
  std::int64_t rows, features;
  std::int64_t slices() const { return (rows + kSlice - 1) / kSlice; }
  /// In the workspace: two sums a feature for each slice, then a scale a row.
  std::int64_t columns() const { return 2 * slices() * features; }
};

Rows rowsOf(const tbem_operand& x) {
  const std::int64_t features = x.dims[x.rank - 1];
  return {runtime::elementCount(x) / features, features};
}

class RowGradientSums final : public Op {
public:
  explicit RowGradientSums(const tbem_op_desc& from) : Op(from), shape_(rowsOf(operands[1])) {}

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    auto* const columns = static_cast<float*>(work);
    float* const scales = columns + shape_.columns();
    const auto* variance = static_cast<const float*>(memory[2]);
    const auto* mean = static_cast<const float*>(memory[4]);
    const std::int64_t features = shape_.features;
    parallelFor(threads, shape_.slices(), 2 * shape_.rows * features, [&](std::int64_t slice) {
      const std::int64_t first = slice * kSlice, rows = std::min(kSlice, shape_.rows - first);
      for (std::int64_t r = first; r < first + rows; ++r)
        scales[r] = static_cast<float>(1 / std::sqrt(static_cast<double>(variance[r]) + scalars[0]));
      RowSums s;
      s.dy = static_cast<const float*>(memory[0]) + first * features;
      s.x = static_cast<const float*>(memory[1]) + first * features;
      s.mean = mean != nullptr ? mean + first : nullptr;
      s.scale = scales + first;
      s.weight = static_cast<const float*>(memory[3]);
      s.rows = rows, s.features = features;
      s.dweight = columns + 2 * slice * features, s.dbias = s.dweight + features;
      s.sumG = static_cast<float*>(memory[7]) + first, s.sumGx = static_cast<float*>(memory[8]) + first;
      rowSums(s);
    });
    for (int which = 0; which < 2; ++which) joinSlices(columns + which * features, static_cast<float*>(memory[5 + which]));
    return TBEM_OK;
  }

private:
  /// Sums over the slices, some neighbouring features at a time: each slice is read along its row.
  void joinSlices(const float* parts, float* result) const {
    constexpr std::int64_t kTogether = 64;
    for (std::int64_t first = 0; first < shape_.features; first += kTogether) {
      const std::int64_t count = std::min(kTogether, shape_.features - first);
      double sums[kTogether] = {};
      for (std::int64_t slice = 0; slice < shape_.slices(); ++slice) {
        const float* const part = parts + 2 * slice * shape_.features + first;
        for (std::int64_t i = 0; i < count; ++i) sums[i] += static_cast<double>(part[i]);
      }
      for (std::int64_t i = 0; i < count; ++i) result[first + i] = static_cast<float>(sums[i]);
    }
  }

  Rows shape_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    if (op.operands[k].present && !runtime::isPlain(op.operands[k]))
      return fail(TBEM_UNSUPPORTED, "cpu: sums over rows take row-major operands");
  }
  const Rows rows = rowsOf(op.operands[1]);
  info.workspace = static_cast<std::uint64_t>(rows.columns() + rows.rows) * sizeof(float);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:row");
  return TBEM_OK;
}

}  // namespace

Family rowSumFamily() { return Family::of<RowGradientSums>(query); }

}  // namespace tbem::cpu
