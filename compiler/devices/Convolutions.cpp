#include "compiler/devices/Convolutions.h"

namespace tbem::driver {

namespace {

struct Places {
  cudnn::Pass pass;
  std::size_t x, weight, y;  ///< operands of the call
};

std::optional<Places> placesOf(const estimate::NativeCall& call) {
  if (!call.own.symbol.empty()) return std::nullopt;
  switch (call.primitive) {
    case TBEM_PRIMITIVE_conv2d:
      return Places{cudnn::Pass::Forward, 0, 1, 3};
    case TBEM_PRIMITIVE_conv2d_input_gradient:
      return Places{cudnn::Pass::DataGradient, 2, 1, 0};
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
      return Places{cudnn::Pass::WeightGradient, 0, 2, 1};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<cudnn::Convolution> convolutionOf(const estimate::Program& program, const estimate::NativeCall& call,
                                                cudnn::Order order) {
  const auto places = placesOf(call);
  if (!places) return std::nullopt;
  const tbem_operand& x = program[call.operands[places->x]].operand;
  const tbem_operand& weight = program[call.operands[places->weight]].operand;
  const tbem_operand& y = program[call.operands[places->y]].operand;
  // A weight's gradient may be f32 where the images are bf16: the images' type is the convolution's.
  const std::int32_t dtype = places->pass == cudnn::Pass::DataGradient ? y.dtype : x.dtype;
  if (dtype != TBEM_F32 && dtype != TBEM_F16 && dtype != TBEM_BF16) return std::nullopt;
  cudnn::Convolution p;
  p.pass = places->pass;
  p.dtype = dtype;
  p.order = order;
  p.n = x.dims[0], p.c = x.dims[1], p.h = x.dims[2], p.w = x.dims[3];
  p.out = weight.dims[0];
  p.kernel = {weight.dims[2], weight.dims[3]};
  const std::vector<std::int64_t>& a = call.attributes;  // stride[2] pad[4] dilation[2] groups
  p.stride = {a[0], a[1]};
  p.pad = {a[2], a[3], a[4], a[5]};
  p.dilation = {a[6], a[7]};
  p.groups = a[8];
  return p;
}

std::vector<ConvolutionCall> convolutionsOf(const estimate::Program& program, cudnn::Order order, std::size_t& left) {
  std::vector<ConvolutionCall> found;
  left = 0;
  for (std::uint32_t at = 0; at < program.steps.size(); ++at) {
    const estimate::Step& step = program.steps[at];
    if (step.kind != estimate::Step::Kind::Call) continue;
    const estimate::NativeCall& call = program.calls[step.index];
    if (const auto problem = convolutionOf(program, call, order)) {
      found.push_back({step.index, at, *problem});
    } else if (placesOf(call)) {
      ++left;
    }
  }
  return found;
}

}  // namespace tbem::driver
