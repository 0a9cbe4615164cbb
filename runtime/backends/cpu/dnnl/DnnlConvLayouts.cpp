// The layouts and the algorithm of a convolution or one of its gradients.
//
// Choice of layouts: channels in blocks of 16 (AVX-512) or 8 (AVX2) where those of the image or of the result divide into blocks,
// or where the image has at most three channels (it then stays row-major); else channels last, which needs no padding and was
// measured 14 to 35 % faster than padded blocks for 24 -> 40 channels. One side is enough: a layer of 24 channels between layers
// of 144 costs less padded than the reorders around it (steps of squeezenet, googlenet and efficientnet at 96x96 took 5 to 14 %
// less). In channels last, forward takes the weight layout that the weight gradient writes, so that no step has to convert
// gradients.
#include "runtime/backends/cpu/dnnl/DnnlConv.h"
#include "runtime/backends/cpu/dnnl/DnnlWeights.h"
#include "runtime/backends/cpu/ops/View.h"

#include <array>

namespace tbem::cpu {
namespace {

using namespace onednn;

/// How free activations are filled: by the library, as channels last, or as the other activation, whose layout is chosen.
enum class Activations { Library, ChannelsLast, LikeOther };

struct ConvOperands {
  const tbem_operand& image;
  const tbem_operand& weight;
  const tbem_operand* bias;  ///< nullptr: none
  const tbem_operand& result;
};

/// The descriptor for these operands, `any` left to the library; empty where it has none.
Descriptor descriptorOf(const tbem_op_desc& op, int primitive, const ConvOperands& of,
                        dnnl_alg_kind_t algorithm = dnnl_convolution_direct) {
  const auto& [image, weight, bias, result] = of;
  const runtime::Conv2d c = runtime::conv2d(op);
  const dnnl_dim_t strides[2] = {c.strideH, c.strideW}, dilates[2] = {c.dilationH - 1, c.dilationW - 1};
  const dnnl_dim_t before[2] = {c.top, c.left}, after[2] = {c.bottom, c.right};
  const dnnl_memory_desc_t x = describeOperand(image), y = describeOperand(result);
  dnnl_memory_desc_t w, b;
  if (!describeWeight(weight, c.groups, w)) return {};
  if (bias != nullptr) b = describeOperand(*bias);
  dnnl_convolution_desc_t made;
  dnnl_status_t status = dnnl_success;
  if (primitive == TBEM_PRIMITIVE_conv2d) {
    status = dnnl_dilated_convolution_forward_desc_init(&made, dnnl_forward_training, algorithm, &x, &w,
                                                        bias != nullptr ? &b : nullptr, &y, strides, dilates, before, after);
  } else if (primitive == TBEM_PRIMITIVE_conv2d_input_gradient) {
    status = dnnl_dilated_convolution_backward_data_desc_init(&made, algorithm, &x, &w, &y, strides, dilates, before, after);
  } else {
    status = dnnl_dilated_convolution_backward_weights_desc_init(&made, algorithm, &x, &w, nullptr, &y, strides, dilates, before,
                                                                 after);
  }
  // oneDNN 2.6.3's generated weight gradients of bf16 leave taps that never meet the image unwritten (NaN where memory held it):
  // never used there.
  const bool unwritten = primitive == TBEM_PRIMITIVE_conv2d_weight_gradient && image.dtype == TBEM_BF16 && !meetsEveryTap(c);
  return status == dnnl_success ? describe(&made, threadsOf(op), unwritten ? "avx512_core" : "") : Descriptor();
}

/// Reads the three layouts that the library chose into `operands`; false where one cannot be said.
bool readChoice(const tbem_op_desc& op, const Descriptor& made, std::vector<tbem_operand>& operands) {
  const Roles roles = rolesOf(op);
  const bool forward = op.primitive == TBEM_PRIMITIVE_conv2d, data = op.primitive == TBEM_PRIMITIVE_conv2d_input_gradient;
  const auto image = data ? dnnl_query_diff_src_md : dnnl_query_src_md;
  const auto weight = forward || data ? dnnl_query_weights_md : dnnl_query_diff_weights_md;
  const auto result = forward ? dnnl_query_dst_md : dnnl_query_diff_dst_md;
  const std::int64_t groups = runtime::conv2d(op).groups;
  const auto read = [&](int k, const dnnl_memory_desc_t& memory) {
    return !operands[static_cast<std::size_t>(k)].layout.any || readLayout(memory, operands[static_cast<std::size_t>(k)]);
  };
  tbem_operand& w = operands[static_cast<std::size_t>(roles.weight)];
  if (w.layout.any && !readWeight(made.memory(weight), groups, w)) return false;
  if (roles.bias >= 0 && operands[static_cast<std::size_t>(roles.bias)].layout.any) {
    runtime::setPlain(operands[static_cast<std::size_t>(roles.bias)]);
  }
  return read(roles.image, made.memory(image)) && read(roles.result, made.memory(result));
}

/// oneDNN 2.6.3's strided 1x1 weight gradient for AVX2 is wrong in channels last where the image's channels are no multiple of 8
/// (relative errors from 0.07 to 4 with fewer than 8 channels, against ref): never used there.
bool knownWrong(const tbem_op_desc& op, const Descriptor& made, const tbem_operand& image) {
  const runtime::Conv2d c = runtime::conv2d(op);
  return op.primitive == TBEM_PRIMITIVE_conv2d_weight_gradient && made.implementation() == "jit_1x1:avx2" &&
         (c.strideH > 1 || c.strideW > 1) && c.c % 8 != 0 && image.layout.blocks == 0;
}

Attempt attempt(const tbem_op_desc& op, Activations activations, bool plainWeight) {
  Attempt a;
  a.operands.assign(op.operands, op.operands + op.inputs + op.outputs);
  const Roles roles = rolesOf(op);
  tbem_operand& image = a.operands[static_cast<std::size_t>(roles.image)];
  tbem_operand& weight = a.operands[static_cast<std::size_t>(roles.weight)];
  tbem_operand& result = a.operands[static_cast<std::size_t>(roles.result)];
  const tbem_operand* bias = roles.bias >= 0 ? &a.operands[static_cast<std::size_t>(roles.bias)] : nullptr;
  if (activations == Activations::ChannelsLast) {
    if (image.layout.any) runtime::setChannelsLast(image);
    if (result.layout.any) runtime::setChannelsLast(result);
    if (weight.layout.any && weight.dtype == TBEM_F32 && op.primitive == TBEM_PRIMITIVE_conv2d && !plainWeight) {
      const Descriptor gradient = descriptorOf(op, TBEM_PRIMITIVE_conv2d_weight_gradient, {image, weight, nullptr, result});
      if (gradient && rank(gradient) == 2)
        readWeight(gradient.memory(dnnl_query_diff_weights_md), runtime::conv2d(op).groups, weight);
    }
  }
  if (activations == Activations::LikeOther) {
    if (image.layout.any) setLike(image, result);
    if (result.layout.any) setLike(result, image);
  }
  if (plainWeight && weight.layout.any) runtime::setPlain(weight);
  tbem_operand plainBias;
  if (bias != nullptr && bias->layout.any) {
    plainBias = *bias;
    runtime::setPlain(plainBias);
    bias = &plainBias;
  }
  a.descriptor = descriptorOf(op, op.primitive, {image, weight, bias, result});
  if (a.descriptor && readChoice(op, a.descriptor, a.operands) && !knownWrong(op, a.descriptor, image))
    a.rank = rank(a.descriptor);
  return a;
}

bool isChannelsLast(const tbem_operand& operand) {
  ChannelView view;
  return channelView(operand, view) && operand.layout.blocks == 0 && !view.plain();
}

/// Which side's channels divide into blocks, in every group.
struct BlocksFit {
  bool image, result;
};
BlocksFit blocksFit(const runtime::Conv2d& c) {
  const std::int64_t block = dnnl_get_effective_cpu_isa() >= dnnl_cpu_isa_avx512_core && isaText() != "avx2_vnni" ? 16 : 8;
  const bool depthwise = c.groups > 1 && c.groups == c.c && c.groups == c.o;
  const std::int64_t groups = depthwise ? 1 : c.groups;
  return {c.c / groups % block == 0, c.o / groups % block == 0};
}
bool prefersBlocks(const runtime::Conv2d& c) {
  const BlocksFit fit = blocksFit(c);
  return c.groups > 1 ? fit.image && fit.result : fit.image || fit.result;
}

/// The best of the ways to fill what is `any` for the direct algorithm.
Attempt chooseDirect(const tbem_op_desc& op) {
  const Roles roles = rolesOf(op);
  const tbem_operand &image = op.operands[roles.image], &result = op.operands[roles.result];
  std::vector<Activations> order = {Activations::Library, Activations::ChannelsLast};
  const auto says = [](const tbem_operand& o) { return !o.layout.any && o.dims[1] > 1; };  // one channel is of every kind
  if (says(image) || says(result)) {
    const bool last = (says(image) && isChannelsLast(image)) || (says(result) && isChannelsLast(result));
    order = {last ? Activations::ChannelsLast : Activations::Library, Activations::LikeOther};
  } else if (!prefersBlocks(runtime::conv2d(op))) {
    order = {Activations::ChannelsLast, Activations::Library};
  }
  Attempt best;
  for (const bool plainWeight : {false, true}) {
    if (plainWeight && !op.operands[roles.weight].layout.any) break;
    for (const Activations activations : order) {
      Attempt next = attempt(op, activations, plainWeight);
      if (next.rank > best.rank) best = std::move(next);
      if (best.rank == 2) return best;
    }
  }
  return best;
}

/// Winograd's F(4x4, 3x3) (Lavin & Gray 2016, arXiv 1509.09308) takes in all three directions the layouts of the direct forward
/// convolution: what is `any` is filled by asking for that one.
Attempt chooseWinograd(const tbem_op_desc& op) {
  const runtime::Conv2d c = runtime::conv2d(op);
  const Roles roles = rolesOf(op);
  Attempt a;
  const bool fits = c.kh == 3 && c.kw == 3 && c.strideH == 1 && c.strideW == 1 && c.dilationH == 1 && c.dilationW == 1 &&
                    c.groups == 1 && (c.c <= 3 || blocksFit(c).image) && blocksFit(c).result && op.operands[0].dtype == TBEM_F32;
  if (!fits) return a;
  a.operands.assign(op.operands, op.operands + op.inputs + op.outputs);
  tbem_op_desc filled = op;
  filled.operands = a.operands.data();
  if (!fillAsForward(filled)) return a;
  const tbem_operand& image = a.operands[static_cast<std::size_t>(roles.image)];
  const tbem_operand& weight = a.operands[static_cast<std::size_t>(roles.weight)];
  const tbem_operand& result = a.operands[static_cast<std::size_t>(roles.result)];
  const tbem_operand* bias = roles.bias >= 0 ? &a.operands[static_cast<std::size_t>(roles.bias)] : nullptr;
  a.descriptor = descriptorOf(op, op.primitive, {image, weight, bias, result}, dnnl_convolution_winograd);
  if (a.descriptor && a.descriptor.implementation().find("wino") != std::string_view::npos) a.rank = 2;
  return a;
}

}  // namespace

Roles rolesOf(const tbem_op_desc& op) {
  switch (op.primitive) {
    case TBEM_PRIMITIVE_conv2d:
      return {0, 1, op.operands[2].present ? 2 : -1, 3};
    case TBEM_PRIMITIVE_conv2d_input_gradient:
      return {2, 1, -1, 0};
    default:
      return {0, 2, -1, 1};
  }
}

Attempt chooseLayouts(const tbem_op_desc& op) {
  switch (static_cast<ConvAlgorithm>(op.algorithm)) {
    case ConvAlgorithm::Direct:
      return chooseDirect(op);
    case ConvAlgorithm::Winograd:
      return chooseWinograd(op);
    case ConvAlgorithm::Cropped:
      break;
  }
  return {};
}

bool fillAsForward(tbem_op_desc& op) {
  const Roles roles = rolesOf(op);
  tbem_operand &image = op.operands[roles.image], &weight = op.operands[roles.weight], &result = op.operands[roles.result];
  if (roles.bias >= 0 && op.operands[roles.bias].layout.any) runtime::setPlain(op.operands[roles.bias]);
  if (!image.layout.any && !weight.layout.any && !result.layout.any) return true;
  std::array<tbem_operand, 4> operands = {image, weight, tbem_operand{}, result};
  tbem_op_desc forward = op;
  forward.primitive = TBEM_PRIMITIVE_conv2d;
  forward.inputs = 3, forward.outputs = 1, forward.operands = operands.data();
  forward.algorithm = static_cast<std::int32_t>(ConvAlgorithm::Direct);
  const Attempt direct = chooseDirect(forward);
  if (direct.rank < 2) return false;
  image = direct.operands[0], weight = direct.operands[1], result = direct.operands[3];
  return true;
}

}  // namespace tbem::cpu
