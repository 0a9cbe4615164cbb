// Convolutions and their gradients: which of the ways to compute them (ConvWays.h) is which algorithm.
#include "runtime/backends/cuda/device/Images.h"
#include "runtime/backends/cuda/libraries/Bias.h"
#include "runtime/backends/cuda/libraries/ConvWays.h"
#include "runtime/backends/cuda/libraries/TargetCard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace tbem::cuda {

ConvRoles convRoles(int primitive) {
  if (primitive == TBEM_PRIMITIVE_conv2d) return {cudnn::Pass::Forward, 0, 1, 3};
  if (primitive == TBEM_PRIMITIVE_conv2d_input_gradient) return {cudnn::Pass::DataGradient, 2, 1, 0};
  return {cudnn::Pass::WeightGradient, 0, 2, 1};
}

cudnn::Convolution problemOf(const tbem_op_desc& op) {
  const runtime::Conv2d c = runtime::conv2d(op);
  return {.pass = convRoles(op.primitive).pass,
          .dtype = op.operands[0].dtype,
          .order = orderOf(op) == ImageOrder::ChannelsLast ? cudnn::Order::Nhwc : cudnn::Order::Nchw,
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

tbem_status addConvBias(const tbem_op_desc& op, void* const* memory) {
  constexpr int kBias = 2, kResult = 3;  // of conv2d's operands
  if (op.primitive != TBEM_PRIMITIVE_conv2d || op.operands[kBias].present == 0) return TBEM_OK;
  const tbem_operand& y = op.operands[kResult];
  const std::int64_t plane = orderOf(op) == ImageOrder::ChannelsLast ? 1 : y.dims[2] * y.dims[3];
  return addBias({memory[kResult], memory[kBias], y.dtype, op.operands[kBias].dtype, runtime::elementCount(y), y.dims[1], plane});
}

namespace {

/// Where a product is the default: cuDNN's deterministic engines in f32 reach a tenth of what products do. In bf16, where this
/// was not measured, a product still gives a weight's gradient in f32, and needs no images in another order.
bool isBestAsProduct(const cudnn::Convolution& problem) {
  if (!isProduct(problem) || problem.pass == cudnn::Pass::Forward || problem.order == cudnn::Order::Nhwc) return false;
  return problem.pass == cudnn::Pass::WeightGradient || problem.stride != std::array<std::int64_t, 2>{1, 1};
}

/// An engine, or nothing: a product.
using Choice = std::optional<cudnn::Engine>;

/// Adds engines that are not among the choices yet, by their numbers, up to so many choices.
void addEngines(const std::vector<cudnn::Engine>& engines, std::size_t most, std::vector<Choice>& choices) {
  for (const cudnn::Engine& engine : engines) {
    const auto same = [&](const Choice& other) { return other && other->index == engine.index; };
    if (choices.size() < most && std::none_of(choices.begin(), choices.end(), same)) choices.emplace_back(engine);
  }
}

/// The way of the description's algorithm: the default, and then others that may be faster on a card. Errors, in words.
tl::expected<Choice, std::string> choiceOf(const tbem_op_desc& op) {
  const cudnn::Convolution problem = problemOf(op);
  const Asked asked{evenProblem(problem).problem, hasTf32(op)};
  const auto number = static_cast<std::size_t>(op.algorithm);
  const bool productFirst = isBestAsProduct(problem);
  const bool productLater = isProduct(problem) && !productFirst && problem.order == cudnn::Order::Nchw;
  std::vector<Choice> choices;
  if (productFirst) choices.emplace_back();
  if (number < choices.size()) return choices[number];
  const auto engines = enginesOf(asked);
  if (!engines) return tl::unexpected(engines.error());
  addEngines(*engines, TBEM_MAX_ALGORITHMS - (productLater ? 1 : 0), choices);
  if (productLater) choices.emplace_back();
  if (number < choices.size()) return choices[number];
  const auto others = fallbackEnginesOf(asked);
  if (!others) return tl::unexpected(others.error());
  addEngines(*others, TBEM_MAX_ALGORITHMS, choices);
  if (number < choices.size()) return choices[number];
  return tl::unexpected(fmt::format("it has no algorithm {}, but {}", number, choices.size()));
}

ConvWay wayOf(const tbem_op_desc& op, const Choice& choice) { return choice ? engineWay(op, *choice) : productWay(op); }

/// The cheaper order of the images where nothing says it. Tensor cores read channels beside each other: where an engine of theirs
/// is given row-major images, it copies them into its workspace before. So the order is the one whose default needs less of it;
/// one among many: where it alone has row-major images, what the next convolution reads is copied, too. Channels last is only for
/// such engines: others are made for the row-major order.
ImageOrder cheaperOrder(const tbem_op_desc& op) {
  std::vector<tbem_operand> operands(op.operands, op.operands + op.inputs + op.outputs);
  tbem_op_desc asked = op;
  asked.operands = operands.data();
  asked.algorithm = 0;
  const auto workspaceIn = [&](ImageOrder order, bool onTensorCores) -> std::optional<std::uint64_t> {
    std::copy_n(op.operands, operands.size(), operands.begin());
    if (imageLayouts(asked, order) != TBEM_OK || orderOf(asked) != order) return std::nullopt;
    const auto choice = choiceOf(asked);
    if (!choice || (onTensorCores && !(*choice && (*choice)->has(cudnn::Numerical::TensorCore)))) return std::nullopt;
    return wayOf(asked, *choice).workspace;
  };
  const bool narrow = op.operands[0].dtype != TBEM_F32;
  if ((!narrow && !hasTf32(op)) || evenProblem(problemOf(op)).copies()) return ImageOrder::RowMajor;
  const auto last = workspaceIn(ImageOrder::ChannelsLast, true);
  if (!last) return ImageOrder::RowMajor;
  const auto rowMajor = workspaceIn(ImageOrder::RowMajor, false);
  const tbem_operand& output = op.operands[convRoles(op.primitive).output];
  const std::uint64_t copied = static_cast<std::uint64_t>(runtime::elementCount(output)) * runtime::elementBytes(output.dtype);
  return !rowMajor || *last < *rowMajor + copied ? ImageOrder::ChannelsLast : ImageOrder::RowMajor;
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  const SaidOrder said = saidOrder(op);
  if (said.differs) return unsupported(op, "images in different orders");
  const ImageOrder order = said.order ? *said.order : cheaperOrder(op);
  if (const tbem_status status = imageLayouts(op, order)) return status;
  if (order == ImageOrder::ChannelsLast && evenProblem(problemOf(op)).copies())
    return unsupported(op, "padding that differs between two sides, of images with their channels last");
  const auto choice = choiceOf(op);
  if (!choice) return unsupported(op, choice.error());
  const ConvWay way = wayOf(op, *choice);
  info.workspace = way.workspace;
  std::snprintf(info.implementation, sizeof info.implementation, "%s", way.implementation.c_str());
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  const auto choice = choiceOf(op);
  if (!choice) return unsupported(op, choice.error());
  auto ready = *choice ? prepareEngine(op, **choice) : prepareProduct(op);
  if (!ready) return unsupported(op, ready.error());
  out = std::move(*ready);
  return TBEM_OK;
}

}  // namespace

Family convFamily() { return {query, create}; }

}  // namespace tbem::cuda
