// row_gradient_sums: the scale of each row, the sums over each row, those over the rows.
#include "runtime/backends/cuda/ops/Reduction.h"

#include <algorithm>
#include <cstdio>

namespace tbem::cuda {
namespace {

constexpr std::uint64_t kSumBytes = 2 * sizeof(double);

struct Plan {
  std::int64_t rows;
  Reduction ofRows, ofColumns;
  /// The scales, and then what the sums that are made in turn need.
  std::uint64_t bytes() const { return scales() + std::max(ofRows.bytes(kSumBytes), ofColumns.bytes(kSumBytes)); }
  std::uint64_t scales() const { return (static_cast<std::uint64_t>(rows) + 1) / 2 * 2 * sizeof(double); }
};

Plan planOf(const tbem_operand& x) {
  const auto last = static_cast<std::size_t>(x.rank - 1);
  Reduced features{}, rows{};
  features[last] = true;
  std::fill(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(last), true);
  Plan plan{1, reductionOver(x, features), reductionOver(x, rows)};
  for (std::size_t d = 0; d < last; ++d) plan.rows *= x.dims[d];
  return plan;
}

class RowGradientSums final : public Op {
public:
  explicit RowGradientSums(const tbem_op_desc& from) : Op(from), plan_(planOf(operands[1])) {}

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const auto real = [memory](int k) { return static_cast<float*>(memory[k]); };
    auto* const scale = static_cast<double*>(work);
    void* const shares = static_cast<char*>(work) + plan_.scales();
    RowSumOperands of{memory[0], memory[1], real(2), real(3), real(4), scale, real(7), real(8)};
    if (plan_.rows > 0) {
      const tbem_status status = launch({"RowSums", "tbem_RowSums_scale"}, {blocksFor(plan_.rows), kThreads}, of.variance, scale,
                                        static_cast<std::uint64_t>(plan_.rows), scalars[0]);
      if (status != TBEM_OK) return status;
    }
    if (const tbem_status status =
            reduce(TBEM_REDUCTION_KERNELS_OF_TYPE(operands[1].dtype, RowSums, rows), plan_.ofRows, of, shares))
      return status;
    of.first = real(5), of.second = real(6);
    return reduce(TBEM_REDUCTION_KERNELS_OF_TYPE(operands[1].dtype, RowSums, columns), plan_.ofColumns, of, shares);
  }

private:
  Plan plan_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  info.workspace = planOf(op.operands[1]).bytes();
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:rows and columns");
  return TBEM_OK;
}

}  // namespace

Family rowSumFamily() { return Family::of<RowGradientSums>(query); }

}  // namespace tbem::cuda
