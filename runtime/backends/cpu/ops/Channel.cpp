// channel_moments and channel_gradient_sums: Ioffe & Szegedy 2015 (arXiv 1502.03167), section 3.
#include "runtime/backends/cpu/ops/ChannelReduce.h"
#include "runtime/backends/cpu/ops/Op.h"

#include <cmath>
#include <cstdio>

namespace tbem::cpu {
namespace {

class Moments final : public Op {
public:
  explicit Moments(const tbem_op_desc& from) : Op(from) { sumView(operands[0], view_); }

  tbem_status run(void* const* memory, void* work, const double*) override {
    auto* mean = static_cast<float*>(memory[1]);
    auto* variance = static_cast<float*>(memory[2]);
    const auto count = static_cast<double>(view_.n * view_.points);
    channelReduce(ChannelSum::Moments, view_, {memory[0], nullptr, isNarrow(operands[0])}, static_cast<double*>(work), threads,
                  [&](std::int64_t c, const double* pair) {
                    mean[c] = static_cast<float>(pair[0]);
                    variance[c] = static_cast<float>(pair[1] / count);
                  });
    return TBEM_OK;
  }

private:
  ChannelView view_;
};

class GradientSums final : public Op {
public:
  explicit GradientSums(const tbem_op_desc& from) : Op(from) { sumView(operands[0], view_); }

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    const auto* mean = static_cast<const float*>(memory[2]);
    const auto* variance = static_cast<const float*>(memory[3]);
    auto* dweight = static_cast<float*>(memory[4]);
    auto* dbias = static_cast<float*>(memory[5]);
    channelReduce(ChannelSum::Gradient, view_, {memory[0], memory[1], isNarrow(operands[0]), mean}, static_cast<double*>(work),
                  threads, [&](std::int64_t c, const double* pair) {
                    dweight[c] = static_cast<float>(pair[0] / std::sqrt(static_cast<double>(variance[c]) + scalars[0]));
                    dbias[c] = static_cast<float>(pair[1]);
                  });
    return TBEM_OK;
  }

private:
  ChannelView view_;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  fillAny(op);
  ChannelView view, other;
  const bool gradient = op.primitive == TBEM_PRIMITIVE_channel_gradient_sums;
  bool known = sumView(op.operands[0], view);
  if (gradient) known = known && runtime::sameLayout(op.operands[0], op.operands[1]);
  for (int k = gradient ? 2 : 1; k < op.inputs + op.outputs; ++k)
    known = known && runtime::isPlain(op.operands[k]) && op.operands[k].dtype == TBEM_F32;
  if (!known)
    return fail(
        TBEM_UNSUPPORTED,
        "cpu: per-channel sums take row-major, channels-last or channel-blocked tensors of one layout, statistics in f32");
  info.workspace = channelWorkspace(view);
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:channel");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (op.primitive == TBEM_PRIMITIVE_channel_moments) {
    out = std::make_unique<Moments>(op);
  } else {
    out = std::make_unique<GradientSums>(op);
  }
  return TBEM_OK;
}

}  // namespace

Family channelFamily() { return {query, create}; }

}  // namespace tbem::cpu
