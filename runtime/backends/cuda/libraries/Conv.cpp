// Convolutions and their gradients by cuDNN.
#include "runtime/backends/cuda/device/Device.h"
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Bias.h"
#include "runtime/backends/cuda/libraries/Cudnn.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>

namespace tbem::cuda {
namespace {

/// Which operand is which; `result` is what the primitive computes, one of the three before it.
struct Roles {
  cudnn::Pass pass;
  int image, weight, output, result;
};

Roles rolesOf(int primitive) {
  if (primitive == TBEM_PRIMITIVE_conv2d) return {cudnn::Pass::Forward, 0, 1, 3, 3};
  if (primitive == TBEM_PRIMITIVE_conv2d_input_gradient) return {cudnn::Pass::DataGradient, 2, 1, 0, 2};
  return {cudnn::Pass::WeightGradient, 0, 2, 1, 2};
}

constexpr int kBias = 2;  // of conv2d's operands

bool hasBias(const tbem_op_desc& op) { return op.primitive == TBEM_PRIMITIVE_conv2d && op.operands[kBias].present != 0; }

/// A tensor without elements: the result is nothing or, where sums are over nothing, zeros.
bool isEmpty(const tbem_op_desc& op) {
  const Roles roles = rolesOf(op.primitive);
  return runtime::elementCount(op.operands[roles.image]) == 0 || runtime::elementCount(op.operands[roles.weight]) == 0 ||
         runtime::elementCount(op.operands[roles.output]) == 0;
}

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

tbem_status unsupported(const tbem_op_desc& op, const std::string& why) {
  return fail(TBEM_UNSUPPORTED,
              fmt::format("cuda: {}: {}", runtime::signature(static_cast<tbem_primitive>(op.primitive)).name, why));
}

class Conv final : public Op {
public:
  Conv(const tbem_op_desc& from, std::optional<PreparedConvolution> ready) : Op(from), ready(std::move(ready)) {}

  tbem_status run(void* const* memory, void* work, const double*) override {
    const Roles roles = rolesOf(desc.primitive);
    const tbem_operand& result = operands[static_cast<std::size_t>(roles.result)];
    if (runtime::elementCount(result) == 0) return TBEM_OK;
    if (!ready) {
      const Device* device = nullptr;
      if (const tbem_status status = openDevice(device)) return status;
      const int zeroed = device->driver->set8(reinterpret_cast<DevicePointer>(memory[roles.result]), 0,
                                              runtime::extentBytes(result), device->stream);
      if (const tbem_status status = check(*device, zeroed, "zeroing a convolution's result")) return status;
    } else if (const std::string why = ready->run({memory[roles.image], memory[roles.weight], memory[roles.output], work});
               !why.empty()) {
      return fail(TBEM_FAILED, fmt::format("cuda: {}", why));
    }
    if (!hasBias(desc)) return TBEM_OK;
    return addBias(memory[roles.result], memory[kBias], runtime::elementCount(result), result.dims[1],
                   result.dims[2] * result.dims[3]);
  }

private:
  std::optional<PreparedConvolution> ready;  ///< nothing: a tensor is empty
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = plainLayouts(op)) return status;
  if (isEmpty(op)) return TBEM_OK;
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
  std::optional<PreparedConvolution> ready;
  if (!isEmpty(op)) {
    const cudnn::Convolution problem = problemOf(op);
    const auto engines = enginesOf(problem);
    if (!engines) return unsupported(op, engines.error());
    auto prepared = PreparedConvolution::prepare(problem, engines->front().workspace);
    if (!prepared) return unsupported(op, prepared.error());
    ready.emplace(std::move(*prepared));
  }
  out = std::make_unique<Conv>(op, std::move(ready));
  return TBEM_OK;
}

}  // namespace

Family convFamily() { return {query, create}; }

}  // namespace tbem::cuda
