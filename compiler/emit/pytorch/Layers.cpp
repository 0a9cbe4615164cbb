// Modules that hold weights.
#include "compiler/emit/pytorch/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit {

namespace {

Code convolution(const CallReader& call, const char* type, const Numbers& pad) {
  const bool isImage = pad.size() == 4;
  CallText made{fmt::format("nn.{}", type), {}};
  made.arguments = {{"", call.hole("in_channels", call.shape(0)[1]), ""},
                    {"", call.hole("out_channels", call.integer("out")), ""},
                    {"kernel_size", call.hole("kernel_size", evenText(call.several("kernel"))), ""},
                    {"stride", call.hole("stride", evenText(call.several("stride"))), "1"},
                    {"padding", isImage ? padding(call, pad) : call.hole("padding", evenText(pad)), "0"},
                    {"dilation", call.hole("dilation", evenText(call.several("dilation"))), "1"},
                    {"groups", call.hole("groups", call.integer("groups")), "1"},
                    {"bias", call.hole("bias", pythonText(call.flag("use_bias"))), "True"}};
  return moduleCode(std::move(made), isImage ? paddedOperand(call, pad, "") : call.operand(0));
}

Code conv2d(const CallReader& call) { return convolution(call, "Conv2d", call.integers("pad")); }
Code conv1d(const CallReader& call) { return convolution(call, "Conv1d", {call.integer("pad")}); }
Code conv3d(const CallReader& call) { return convolution(call, "Conv3d", call.integers("pad")); }

Code convTranspose2d(const CallReader& call) {
  const Numbers pad = call.integers("pad");
  return moduleCode({"nn.ConvTranspose2d",
                     {{"", call.hole("in_channels", call.shape(0)[1]), ""},
                      {"", call.hole("out_channels", call.integer("out")), ""},
                      {"kernel_size", call.hole("kernel_size", evenText(call.integers("kernel"))), ""},
                      {"stride", call.hole("stride", evenText(call.integers("stride"))), "1"},
                      {"padding", padding(call, pad), "0"},
                      {"output_padding", call.hole("output_padding", evenText(call.integers("output_pad"))), "0"},
                      {"groups", call.hole("groups", call.integer("groups")), "1"},
                      {"bias", call.hole("bias", pythonText(call.flag("use_bias"))), "True"},
                      {"dilation", call.hole("dilation", evenText(call.integers("dilation"))), "1"}}},
                    call.operand(0));
}

Code dense(const CallReader& call) {
  return moduleCode({"nn.Linear",
                     {{"", call.hole("in_features", call.shape(0).back()), ""},
                      {"", call.hole("out_features", call.integer("out")), ""},
                      {"bias", call.hole("bias", pythonText(call.flag("use_bias"))), "True"}}},
                    call.operand(0));
}

Code batchNorm(const CallReader& call) {
  const std::size_t rank = call.shape(0).size();
  return moduleCode({fmt::format("nn.BatchNorm{}d", rank == 2 ? 1 : rank - 2),
                     {{"", call.hole("channels", call.shape(0)[1]), ""},
                      {"eps", call.realHole("eps"), "1e-05"},
                      {"momentum", call.realHole("momentum"), "0.1"}}},
                    call.operand(0));
}

Code layerNorm(const CallReader& call) {
  const Numbers shape = call.shape(0);
  const Numbers last(shape.end() - call.integer("axes"), shape.end());
  const std::string text = last.size() == 1 ? pythonText(last.front()) : pythonText(last);
  if (!call.flag("affine"))
    return functionCode(
        "F.layer_norm",
        {{"", call.operand(0), ""}, {"", call.hole("features", pythonText(last)), ""}, {"eps", call.realHole("eps"), "1e-05"}});
  return moduleCode({"nn.LayerNorm",
                     {{"", call.hole("features", text), ""},
                      {"eps", call.realHole("eps"), "1e-05"},
                      {"bias", call.hole("bias", pythonText(call.flag("use_bias"))), "True"}}},
                    call.operand(0));
}

Code rmsNorm(const CallReader& call) {
  if (!call.flag("affine"))
    return functionCode("F.rms_norm", {{"", call.operand(0), ""},
                                       {"", call.hole("features", pythonText(Numbers{call.shape(0).back()})), ""},
                                       {"eps", call.realHole("eps"), ""}});
  return moduleCode({"nn.RMSNorm", {{"", call.hole("features", call.shape(0).back()), ""}, {"eps", call.realHole("eps"), ""}}},
                    call.operand(0));
}

Code groupNorm(const CallReader& call) {
  const Argument groups{"", call.hole("groups", call.integer("groups")), ""};
  const Argument eps{"eps", call.realHole("eps"), "1e-05"};
  if (!call.flag("affine")) return functionCode("F.group_norm", {{"", call.operand(0), ""}, groups, eps});
  return moduleCode({"nn.GroupNorm", {groups, {"", call.hole("channels", call.shape(0)[1]), ""}, eps}}, call.operand(0));
}

Code embedding(const CallReader& call) {
  const std::int64_t padding = call.integer("padding");
  return moduleCode({"nn.Embedding",
                     {{"", call.hole("vocab", call.integer("vocab")), ""},
                      {"", call.hole("width", call.integer("width")), ""},
                      {"padding_idx", padding < 0 ? "None" : call.hole("padding", padding), "None"}}},
                    call.operand(0));
}

Code prelu(const CallReader& call) {
  return moduleCode({"nn.PReLU", {{"", call.hole("channels", call.flag("shared") ? 1 : call.shape(0)[1]), "1"}}},
                    call.operand(0));
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

}  // namespace

std::span<const Writer> layerWriters() { return kWriters; }

}  // namespace tbem::emit
