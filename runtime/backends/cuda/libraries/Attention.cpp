// attention and its gradient, by engines of cuDNN's, which do not keep the matrix of scores but for that of one gradient.
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"
#include "runtime/core/NarrowFloat.h"

#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <utility>

namespace tbem::cuda {

namespace {

class Attention final : public Op {
public:
  Attention(const tbem_op_desc& from, PreparedPlan ready) : Op(from), ready_(std::move(ready)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const std::string why = ready_.run(std::span<void* const>(memory, operands.size()), work);
    return why.empty() ? TBEM_OK : fail(TBEM_FAILED, fmt::format("cuda: {}", why));
  }

private:
  PreparedPlan ready_;
};

Asked askedFor(const tbem_op_desc& op) {
  const runtime::Attention a = runtime::attention(op);
  return {cudnn::Attention{.gradient = op.primitive == TBEM_PRIMITIVE_attention_gradient,
                           .dtype = op.operands[0].dtype,
                           .batch = a.outer,
                           .heads = a.heads,
                           .l = a.l,
                           .m = a.m,
                           .d = a.d,
                           .e = a.e,
                           .causal = a.causal,
                           .headsInside = a.headsInside},
          false};
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  if (!runtime::isNarrow(op.operands[0].dtype)) return unsupported(op, "cuDNN has it for bf16 and f16 alone");
  const auto engines = enginesOf(askedFor(op));
  if (!engines) return unsupported(op, engines.error());
  const cudnn::Engine& engine = engines->front();
  info.workspace = engine.workspace;
  const std::string notes = cudnn::notesOf(engine);
  std::snprintf(info.implementation, sizeof info.implementation, "cuDNN engine %lld%s%s", static_cast<long long>(engine.index),
                notes.empty() ? "" : ", ", notes.c_str());
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  const Asked asked = askedFor(op);
  const auto engines = enginesOf(asked);
  if (!engines) return unsupported(op, engines.error());
  auto ready = PreparedPlan::prepare(asked, engines->front());
  if (!ready) return unsupported(op, ready.error());
  out = std::make_unique<Attention>(op, std::move(*ready));
  return TBEM_OK;
}

}  // namespace

Family attentionFamily() { return {query, create}; }

}  // namespace tbem::cuda
