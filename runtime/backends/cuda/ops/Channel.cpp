// channel_moments, channel_gradient_sums.
#include "runtime/backends/cuda/device/Images.h"
#include "runtime/backends/cuda/ops/Reduction.h"

#include <cstdio>

namespace tbem::cuda {
namespace {

constexpr std::uint64_t kSumBytes = 2 * sizeof(double);

Reduction planOf(const tbem_op_desc& op) {
  Reduced reduced;
  reduced.fill(true);
  reduced[static_cast<std::size_t>(axisAsItLies(orderOf(op), 1))] = false;
  return reductionOver(asItLies(op.operands[0]), reduced);
}

class Channel final : public Op {
public:
  explicit Channel(const tbem_op_desc& from) : Op(from), plan_(planOf(desc)) {
    if (orderOf(desc) == ImageOrder::ChannelsLast) return;
    for (int d = 2; d < operands[0].rank; ++d) plane_ *= static_cast<std::uint64_t>(operands[0].dims[d]);
  }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const auto real = [memory](int k) { return static_cast<float*>(memory[k]); };
    ChannelOperands of{};
    of.plane = plane_;
    of.count = static_cast<std::uint64_t>(plan_.count);
    if (desc.primitive == TBEM_PRIMITIVE_channel_moments) {
      of.x = memory[0], of.first = real(1), of.second = real(2);
      return reduce(TBEM_REDUCTION_KERNELS_OF_TYPE(operands[0].dtype, Channel, moments), plan_, of, work);
    }
    of.dy = memory[0], of.x = memory[1], of.mean = real(2), of.variance = real(3), of.first = real(4), of.second = real(5);
    of.eps = scalars[0];
    return reduce(TBEM_REDUCTION_KERNELS_OF_TYPE(operands[0].dtype, Channel, gradients), plan_, of, work);
  }

private:
  Reduction plan_;
  std::uint64_t plane_ = 1;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = imageLayouts(op)) return status;
  const Reduction plan = planOf(op);
  info.workspace = plan.bytes(kSumBytes);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:%s", plan.shares > 1 ? "shares" : "whole");
  return TBEM_OK;
}

}  // namespace

Family channelFamily() { return Family::of<Channel>(query); }

}  // namespace tbem::cuda
