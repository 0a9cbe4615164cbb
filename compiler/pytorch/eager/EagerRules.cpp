#include "compiler/pytorch/eager/EagerRules.h"

#include <algorithm>
#include <iterator>

namespace tbem::estimate {

namespace {

/// An activation function, which keeps one tensor.
constexpr EagerRule activation(std::string_view name, EagerKeep keep, EagerInPlace inPlace) {
  return {name, keep, EagerExtra::Nothing, EagerResult::New, EagerGradient::New, inPlace};
}

constexpr EagerRule kRules[] = {
    {"conv1d", EagerKeep::Operands},
    {"conv2d", EagerKeep::Operands},
    {"conv3d", EagerKeep::Operands},
    {"conv_transpose2d", EagerKeep::Operands},
    {"correlate2d", EagerKeep::Operands},
    {"dense", EagerKeep::Factors},
    {"matmul", EagerKeep::Factors},
    {"embedding"},
    {"padded_gather"},
    {"batch_norm", EagerKeep::First, EagerExtra::Moments},
    {"layer_norm", EagerKeep::First, EagerExtra::Moments},
    {"norm_channels", EagerKeep::First, EagerExtra::Moments},
    {"group_norm", EagerKeep::First, EagerExtra::Moments},
    {"instance_norm", EagerKeep::First, EagerExtra::Moments},
    activation("relu", EagerKeep::Results, EagerInPlace::Result),
    {"sigmoid", EagerKeep::Results},
    {"tanh", EagerKeep::Results},
    {"exp", EagerKeep::Results},
    {"sqrt", EagerKeep::Results},
    {"rsqrt", EagerKeep::Results},
    {"softmax", EagerKeep::Results},
    {"log_softmax", EagerKeep::Results},
    activation("relu6", EagerKeep::First, EagerInPlace::Copy),
    activation("leaky_relu", EagerKeep::First, EagerInPlace::Result),
    activation("elu", EagerKeep::First, EagerInPlace::Result),
    activation("silu", EagerKeep::First, EagerInPlace::Copy),
    activation("mish", EagerKeep::First, EagerInPlace::Copy),
    activation("hard_swish", EagerKeep::First, EagerInPlace::Copy),
    activation("hard_sigmoid", EagerKeep::First, EagerInPlace::Copy),
    activation("hard_tanh", EagerKeep::First, EagerInPlace::Copy),
    {"gelu", EagerKeep::First},
    {"softplus", EagerKeep::First},
    {"prelu", EagerKeep::First},
    {"dropout", EagerKeep::Nothing, EagerExtra::Mask},
    {"stochastic_depth", EagerKeep::Nothing, EagerExtra::SampleMask},
    {"max_pool1d", EagerKeep::First, EagerExtra::Indices},
    {"max_pool2d", EagerKeep::First, EagerExtra::Indices},
    {"max_pool3d", EagerKeep::First, EagerExtra::Indices},
    {"adaptive_max_pool2d", EagerKeep::First, EagerExtra::Indices},
    {"avg_pool1d", EagerKeep::First},
    {"avg_pool2d", EagerKeep::First},
    {"adaptive_avg_pool2d", EagerKeep::First},
    {"mean"},
    {"sum"},
    {"scaled_dot_product_attention", EagerKeep::Both, EagerExtra::LogSums},
    {"masked_attention", EagerKeep::Both, EagerExtra::LogSums},
    {"add", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::New, EagerGradient::Pass, EagerInPlace::Sum},
    {"sub", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::New, EagerGradient::Pass},
    {"add_scalar", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::New, EagerGradient::Pass},
    {"sub_scalar", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::New, EagerGradient::Pass},
    {"neg"},
    {"mul_scalar"},
    {"div_scalar"},
    {"scalar_sub"},
    {"mul", EagerKeep::Factors, EagerExtra::Nothing, EagerResult::New, EagerGradient::Product},
    {"divide", EagerKeep::Operands, EagerExtra::Nothing, EagerResult::New, EagerGradient::Product},
    {"concat", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::New, EagerGradient::Pass},
    {"identity", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::View, EagerGradient::Pass},
    {"flip"},
    {"roll_axis"},
    {"stop_gradient", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::View, EagerGradient::Stop},
    {"upsample2d"},
    {"pad_reflect", EagerKeep::First},
    {"pad_edge", EagerKeep::First},
    {"permute", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::View, EagerGradient::Pass},
    {"flatten", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::Reshape, EagerGradient::Pass},
    {"reshape", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::Reshape, EagerGradient::Pass},
    {"slice", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::Slice, EagerGradient::New},
    {"split", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::View, EagerGradient::New},
    {"broadcast_to", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::Expand, EagerGradient::New},
    {"ones", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::Expand, EagerGradient::New},
    {"zeros", EagerKeep::Nothing, EagerExtra::Nothing, EagerResult::Expand, EagerGradient::New},
    {"cross_entropy", EagerKeep::Nothing, EagerExtra::LogSoftmax, EagerResult::New, EagerGradient::Loss},
    {"nll", EagerKeep::First},
    {"mse", EagerKeep::Operands},
    {"l1", EagerKeep::Operands},
    {"huber", EagerKeep::Operands},
    {"smooth_l1", EagerKeep::Operands},
    {"bce", EagerKeep::Operands},
    {"bce_with_logits", EagerKeep::Operands},
    {"kl_div", EagerKeep::Operands},
};

}  // namespace

const EagerRule* eagerRule(std::string_view name) {
  const auto* found = std::ranges::find(kRules, name, &EagerRule::name);
  return found == std::end(kRules) ? nullptr : found;
}

}  // namespace tbem::estimate
