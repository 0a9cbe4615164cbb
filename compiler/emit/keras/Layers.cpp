// Layers that hold weights.
#include "compiler/emit/keras/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit::keras {

namespace {

std::string evenHole(const KerasCall& call, const char* name, const char* parameter) {
  return call.hole(name, evenText(call.several(parameter)));
}
Argument bias(const KerasCall& call) { return {"use_bias", call.hole("use_bias", pythonText(call.flag("use_bias"))), "True"}; }

/// Zeros around an image as ZeroPadding2D takes them: one number, one for rows and one for columns, or one for each side.
std::string zeros(const Numbers& pad) {
  if (isSymmetric(pad)) return evenText({pad[0], pad[1]});
  return fmt::format("(({}, {}), ({}, {}))", pad[0], pad[2], pad[1], pad[3]);
}

Code conv2d(const KerasCall& call) {
  const Numbers size = call.shape(0), stride = call.integers("stride"), pad = call.integers("pad");
  const std::int64_t groups = call.integer("groups");
  const bool isDepthwise = groups > 1 && groups == size[1] && stride[0] == stride[1];
  const char* const name = isDepthwise ? "DepthwiseConv2D" : "Conv2D";
  CallText made{(call.choices.pads ? "" : "layers.") + std::string(name), {}};
  if (!isDepthwise) made.arguments.push_back({"", call.hole("filters", call.integer("out")), ""});
  made.arguments.push_back({"", evenHole(call, "kernel_size", "kernel"), ""});
  made.arguments.push_back({"strides", evenHole(call, "strides", "stride"), "1"});
  if (call.choices.pads) {
    made.arguments.push_back({"padding", call.hole("padding", zeros(pad)), "0"});
  } else {
    made.arguments.push_back({"padding", call.hole("padding", isZero(pad) ? "\"valid\"" : "\"same\""), "\"valid\""});
  }
  made.arguments.push_back({"dilation_rate", evenHole(call, "dilation_rate", "dilation"), "1"});
  if (isDepthwise) {
    made.arguments.push_back({"depth_multiplier", call.hole("depth_multiplier", call.integer("out") / groups), "1"});
  } else {
    made.arguments.push_back({"groups", call.hole("groups", groups), "1"});
  }
  made.arguments.push_back(bias(call));
  call.makesLast();
  return moduleCode(std::move(made), call.withLast(0));
}

/// Of signals and volumes, which Keras pads in a step of its own.
Code convolution(const KerasCall& call, const char* type, Numbers pad) {
  pad.insert(pad.end(), pad.begin(), pad.end());
  call.makesLast();
  return moduleCode({fmt::format("layers.{}", type),
                     {{"", call.hole("filters", call.integer("out")), ""},
                      {"", evenHole(call, "kernel_size", "kernel"), ""},
                      {"strides", evenHole(call, "strides", "stride"), "1"},
                      {"dilation_rate", evenHole(call, "dilation_rate", "dilation"), "1"},
                      {"groups", call.hole("groups", call.integer("groups")), "1"},
                      bias(call)}},
                    padded(call, call.withLast(0), pad));
}
Code conv1d(const KerasCall& call) { return convolution(call, "Conv1D", {call.integer("pad")}); }
Code conv3d(const KerasCall& call) { return convolution(call, "Conv3D", call.integers("pad")); }

/// Keras computes all that the kernel reaches; what our padding takes away is cut off behind it.
Code convTranspose2d(const KerasCall& call) {
  const Numbers cut = cropping(call);
  call.makesLast();
  CallText made{isZero(cut) ? "layers.Conv2DTranspose" : "Conv2DTranspose",
                {{"", call.hole("filters", call.integer("out")), ""},
                 {"", evenHole(call, "kernel_size", "kernel"), ""},
                 {"strides", evenHole(call, "strides", "stride"), "1"},
                 bias(call)}};
  if (!isZero(cut)) made.arguments.push_back({"cropping", call.hole("cropping", zeros(cut)), ""});
  return moduleCode(std::move(made), call.withLast(0));
}

Code dense(const KerasCall& call) {
  return moduleCode({"layers.Dense", {{"", call.hole("units", call.integer("out")), ""}, bias(call)}}, call.inOrder(0));
}

Code batchNorm(const KerasCall& call) {
  call.keepsLayout();
  return moduleCode({call.row.graph().training ? "BatchNormalization" : "layers.BatchNormalization",
                     {{"axis", call.hole("axis", call.axisOf(1)), "-1"},
                      {"momentum", call.hole("momentum", pythonRest(call.real("momentum"))), "0.99"},
                      {"epsilon", call.realHole("eps"), "0.001"}}},
                    call.operand(0));
}

/// The last axes, which are normalised together.
std::string lastAxes(std::int64_t count) {
  if (count == 1) return "-1";
  Numbers axes;
  for (std::int64_t axis = -count; axis < 0; ++axis) axes.push_back(axis);
  return pythonText(axes);
}
Code layerNorm(const KerasCall& call) {
  const Argument axis{"axis", call.hole("axis", lastAxes(call.integer("axes"))), "-1"};
  const Argument eps{"epsilon", call.realHole("eps"), "0.001"};
  if (!call.flag("affine")) return functionCode("ops.layer_normalization", {{"", call.inOrder(0), ""}, axis, eps});
  return moduleCode(
      {"layers.LayerNormalization", {axis, eps, {"center", call.hole("center", pythonText(call.flag("use_bias"))), "True"}}},
      call.inOrder(0));
}

Code rmsNorm(const KerasCall& call) {
  const Argument eps{"epsilon", call.realHole("eps"), "1e-06"};
  if (call.flag("affine")) return moduleCode({"layers.RMSNormalization", {eps}}, call.inOrder(0));
  return functionCode("ops.rms_normalization", {{"", call.inOrder(0), ""}, eps});
}

Code groupNorm(const KerasCall& call) {
  const std::string affine = pythonText(call.flag("affine"));
  call.keepsLayout();
  return moduleCode({"layers.GroupNormalization",
                     {{"", call.hole("groups", call.integer("groups")), ""},
                      {"axis", call.hole("axis", call.axisOf(1)), "-1"},
                      {"epsilon", call.realHole("eps"), "0.001"},
                      {"center", affine, "True"},
                      {"scale", affine, "True"}}},
                    call.operand(0));
}

Code embedding(const KerasCall& call) {
  return moduleCode({"layers.Embedding",
                     {{"", call.hole("vocab", call.integer("vocab")), ""}, {"", call.hole("width", call.integer("width")), ""}}},
                    call.operand(0));
}

/// One slope a channel, or one for all.
Code prelu(const KerasCall& call) {
  Numbers shared;
  const auto rank = static_cast<std::int64_t>(call.rank());
  const std::int64_t channels = call.axisOf(1) < 0 ? rank - 1 : 1;
  for (std::int64_t axis = 1; axis < rank; ++axis) {
    if (axis != channels || call.flag("shared")) shared.push_back(axis);
  }
  call.keepsLayout();
  return moduleCode({"layers.PReLU", {{"shared_axes", shared.empty() ? "None" : pythonText(shared), "None"}}}, call.operand(0));
}

constexpr auto kWriters = std::to_array<Writer>({{"conv2d", conv2d},
                                                 {"conv1d", conv1d},
                                                 {"conv3d", conv3d},
                                                 {"conv_transpose2d", convTranspose2d},
                                                 {"dense", dense},
                                                 {"batch_norm", batchNorm},
                                                 {"layer_norm", layerNorm},
                                                 {"rms_norm", rmsNorm},
                                                 {"group_norm", groupNorm},
                                                 {"embedding", embedding},
                                                 {"prelu", prelu}});

constexpr auto kNames = std::to_array<WeightName>({{"Dense", "weight", "kernel", "ops.transpose({0})"},
                                                   {"Dense", "bias", "bias", "{0}"},
                                                   {"Conv1D", "weight", "kernel", "ops.transpose({0}, (2, 1, 0))"},
                                                   {"Conv2D", "weight", "kernel", "ops.transpose({0}, (3, 2, 0, 1))"},
                                                   {"Conv2DTranspose", "weight", "kernel", "ops.transpose({0}, (3, 2, 0, 1))"},
                                                   {"Conv3D", "weight", "kernel", "ops.transpose({0}, (4, 3, 0, 1, 2))"},
                                                   {"Conv1D", "bias", "bias", "{0}"},
                                                   {"Conv2D", "bias", "bias", "{0}"},
                                                   {"Conv2DTranspose", "bias", "bias", "{0}"},
                                                   {"Conv3D", "bias", "bias", "{0}"},
                                                   {"BatchNormalization", "weight", "gamma", "{0}"},
                                                   {"BatchNormalization", "bias", "beta", "{0}"},
                                                   {"BatchNormalization", "running_mean", "moving_mean", "{0}"},
                                                   {"BatchNormalization", "running_variance", "moving_variance", "{0}"},
                                                   {"LayerNormalization", "weight", "gamma", "{0}"},
                                                   {"LayerNormalization", "bias", "beta", "{0}"},
                                                   {"GroupNormalization", "weight", "gamma", "{0}"},
                                                   {"GroupNormalization", "bias", "beta", "{0}"},
                                                   {"RMSNormalization", "weight", "scale", "{0}"},
                                                   {"Embedding", "weight", "embeddings", "{0}"}});

}  // namespace

Numbers cropping(const CallReader& call) {
  const Numbers size = call.shape(0), result = call.resultShape(), kernel = call.integers("kernel"),
                stride = call.integers("stride"), pad = call.integers("pad");
  Numbers cut = {pad[0], pad[1], 0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t whole = (size[axis + 2] - 1) * stride[axis] + std::max(kernel[axis], stride[axis]);
    cut[axis + 2] = whole - pad[axis] - result[axis + 2];
  }
  return cut;
}

const WeightName* weightNameOf(std::string_view callee, std::string_view weight) {
  if (callee.starts_with("layers.")) callee.remove_prefix(7);
  const auto name =
      std::find_if(kNames.begin(), kNames.end(), [&](const WeightName& one) { return one.type == callee && one.ours == weight; });
  return name == kNames.end() ? nullptr : &*name;
}

std::span<const Writer> layerWriters() { return kWriters; }

}  // namespace tbem::emit::keras
