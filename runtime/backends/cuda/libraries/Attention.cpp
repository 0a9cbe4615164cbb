// attention and its gradient, by engines of cuDNN's, which do not keep the matrix of scores but for that of one gradient. All but
// log_sums are taken where they lie: heads in front of the rows, or behind them, as dense layers make and read them.
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"
#include "runtime/core/NarrowFloat.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <vector>

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

/// Of [.., heads, rows, numbers]; as if row-major along what has one element alone. Nothing where the numbers of a row do not lie
/// beside each other, or no one stride leads through all batches.
std::optional<cudnn::RowStrides> rowStridesOf(const tbem_operand& x) {
  tbem_operand plain = x;
  runtime::setPlain(plain);
  const int numbers = x.rank - 1;
  if (x.layout.blocks != 0 || (x.dims[numbers] != 1 && x.layout.strides[numbers] != 1)) return std::nullopt;
  const std::int64_t all = runtime::elementCount(x);
  const auto along = [&](int d) { return d < 0 ? all : (x.dims[d] == 1 ? plain : x).layout.strides[d]; };
  std::int64_t batch = all, outer = 0;
  for (int d = x.rank - 4; d >= 0; --d) {
    if (x.dims[d] == 1) continue;
    if (outer == 0) batch = along(d);
    if (outer != 0 && along(d) != outer) return std::nullopt;
    outer = along(d) * x.dims[d];
  }
  return cudnn::RowStrides{batch, along(x.rank - 3), along(x.rank - 2)};
}

/// What cuDNN is asked. Errors: an operand lies in no way that it can be told.
tl::expected<Asked, std::string> askedFor(const tbem_op_desc& op) {
  const bool gradient = op.primitive == TBEM_PRIMITIVE_attention_gradient;
  const int logSums = gradient ? 5 : 4;
  std::vector<cudnn::RowStrides> strides;
  bool isRowMajor = true;
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    const tbem_operand& x = op.operands[k];
    isRowMajor = isRowMajor && runtime::isPlain(x);
    const auto rows = k == logSums ? cudnn::RowStrides{} : rowStridesOf(x);
    if (!rows || (k == logSums && !runtime::isPlain(x)))
      return tl::unexpected(fmt::format("operand {} does not lie in rows that one stride leads through", k));
    strides.push_back(*rows);
  }
  if (isRowMajor) strides.clear();
  const runtime::Attention a = runtime::attention(op);
  return Asked{cudnn::Attention{.gradient = gradient,
                                .dtype = op.operands[0].dtype,
                                .batch = a.outer,
                                .heads = a.heads,
                                .l = a.l,
                                .m = a.m,
                                .d = a.d,
                                .e = a.e,
                                .causal = a.causal,
                                .strides = std::move(strides)},
               false};
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    if (op.operands[k].layout.any != 0) runtime::setPlain(op.operands[k]);
  }
  if (!runtime::isNarrow(op.operands[0].dtype)) return unsupported(op, "cuDNN has it for bf16 and f16 alone");
  const auto asked = askedFor(op);
  if (!asked) return unsupported(op, asked.error());
  const auto engines = enginesOf(*asked);
  if (!engines) return unsupported(op, engines.error());
  const cudnn::Engine& engine = engines->front();
  info.workspace = engine.workspace;
  const std::string notes = cudnn::notesOf(engine);
  std::snprintf(info.implementation, sizeof info.implementation, "cuDNN engine %lld%s%s", static_cast<long long>(engine.index),
                notes.empty() ? "" : ", ", notes.c_str());
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  const auto asked = askedFor(op);
  if (!asked) return unsupported(op, asked.error());
  const auto engines = enginesOf(*asked);
  if (!engines) return unsupported(op, engines.error());
  auto ready = PreparedPlan::prepare(*asked, engines->front());
  if (!ready) return unsupported(op, ready.error());
  out = std::make_unique<Attention>(op, std::move(*ready));
  return TBEM_OK;
}

}  // namespace

Family attentionFamily() { return {query, create}; }

}  // namespace tbem::cuda
