// Convolutions and their gradients by cuDNN.
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Bias.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace tbem::cuda {
namespace {

/// Which operand is which.
struct Roles {
  cudnn::Pass pass;
  int image, weight, output;
};

Roles rolesOf(int primitive) {
  if (primitive == TBEM_PRIMITIVE_conv2d) return {cudnn::Pass::Forward, 0, 1, 3};
  if (primitive == TBEM_PRIMITIVE_conv2d_input_gradient) return {cudnn::Pass::DataGradient, 2, 1, 0};
  return {cudnn::Pass::WeightGradient, 0, 2, 1};
}

constexpr int kBias = 2;  // of conv2d's operands

bool hasBias(const tbem_op_desc& op) { return op.primitive == TBEM_PRIMITIVE_conv2d && op.operands[kBias].present != 0; }

cudnn::Convolution problemOf(const tbem_op_desc& op) {
  const runtime::Conv2d c = runtime::conv2d(op);
  return {.pass = rolesOf(op.primitive).pass,
          .n = c.n,
          .c = c.c,
          .h = c.h,
          .w = c.w,
          .out = c.o,
          .kernel = {c.kh, c.kw},
          .stride = {c.strideH, c.strideW},
          .dilation = {c.dilationH, c.dilationW},
          .pad = {c.top, c.left, c.bottom, c.right},
          .groups = c.groups};
}

class Conv final : public Op {
public:
  Conv(const tbem_op_desc& from, PreparedConvolution ready) : Op(from), ready(std::move(ready)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const Roles roles = rolesOf(desc.primitive);
    const std::string why = ready.run({memory[roles.image], memory[roles.weight], memory[roles.output], work});
    if (!why.empty()) return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
    if (!hasBias(desc)) return TBEM_OK;
    const tbem_operand& y = operands[static_cast<std::size_t>(roles.output)];
    return addBias(memory[roles.output], memory[kBias], runtime::elementCount(y), y.dims[1], y.dims[2] * y.dims[3]);
  }

private:
  PreparedConvolution ready;
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  const auto engines = enginesOf(problemOf(op));
  if (!engines) return unsupported(op, engines.error());
  const cudnn::Engine& first = engines->front();
  const std::string notes = cudnn::notesOf(first);
  info.workspace = first.workspace;
  std::snprintf(info.implementation, sizeof info.implementation, "%s",
                fmt::format("cuDNN engine {}{}{}", first.index, notes.empty() ? "" : ", ", notes).c_str());
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  const cudnn::Convolution problem = problemOf(op);
  const auto engines = enginesOf(problem);
  if (!engines) return unsupported(op, engines.error());
  auto ready = PreparedConvolution::prepare(problem, engines->front().workspace);
  if (!ready) return unsupported(op, ready.error());
  out = std::make_unique<Conv>(op, std::move(*ready));
  return TBEM_OK;
}

}  // namespace

Family convFamily() { return {query, create}; }

}  // namespace tbem::cuda
