// Functions of elements, products of matrices, attention.
#include "compiler/emit/python/Infix.h"
#include "compiler/emit/pytorch/Writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit {

namespace {

/// A function of one tensor by its name in PyTorch.
struct Unary {
  std::string_view word, callee;
};
constexpr auto kUnary = std::to_array<Unary>({{"relu", "F.relu"},
                                              {"relu6", "F.relu6"},
                                              {"selu", "F.selu"},
                                              {"sigmoid", "torch.sigmoid"},
                                              {"tanh", "torch.tanh"},
                                              {"silu", "F.silu"},
                                              {"hard_swish", "F.hardswish"},
                                              {"softplus", "F.softplus"},
                                              {"mish", "F.mish"},
                                              {"exp", "torch.exp"},
                                              {"log", "torch.log"},
                                              {"log1p", "torch.log1p"},
                                              {"expm1", "torch.expm1"},
                                              {"sqrt", "torch.sqrt"},
                                              {"rsqrt", "torch.rsqrt"},
                                              {"abs", "torch.abs"},
                                              {"sign", "torch.sign"},
                                              {"floor", "torch.floor"},
                                              {"sin", "torch.sin"},
                                              {"cos", "torch.cos"},
                                              {"square", "torch.square"},
                                              {"logical_not", "torch.logical_not"}});

Code negation(const CallReader& call) { return expressionCode("-" + call.operand(0, Binding::Atom), Binding::Sign); }

Code extremum(const CallReader& call, const char* name) {
  return functionCode(fmt::format("torch.{}", name), {{"", call.operand(0), ""}, {"", call.operand(1), ""}});
}
/// F.hardsigmoid's gradient has a sixth in single precision, whatever the type of its tensors (PyTorch 2.15).
Code hardSigmoid(const CallReader& call) {
  return expressionCode(fmt::format("F.relu6({} + 3) / 6", call.operand(0, Binding::Sum)), Binding::Product);
}
Code maximum(const CallReader& call) { return extremum(call, "maximum"); }
Code minimum(const CallReader& call) { return extremum(call, "minimum"); }
Code where(const CallReader& call) {
  return functionCode("torch.where", {{"", call.operand(0), ""}, {"", call.operand(1), ""}, {"", call.operand(2), ""}});
}

Code leakyRelu(const CallReader& call) {
  return functionCode("F.leaky_relu", {{"", call.operand(0), ""}, {"negative_slope", call.realHole("slope"), "0.01"}});
}
Code elu(const CallReader& call) {
  return functionCode("F.elu", {{"", call.operand(0), ""}, {"alpha", call.realHole("alpha"), "1.0"}});
}
Code gelu(const CallReader& call) {
  return functionCode(
      "F.gelu", {{"", call.operand(0), ""},
                 {"approximate", call.hole("approximate", call.flag("approximate") ? "\"tanh\"" : "\"none\""), "\"none\""}});
}
Code hardTanh(const CallReader& call) {
  return functionCode(
      "F.hardtanh",
      {{"", call.operand(0), ""}, {"min_val", call.realHole("low"), "-1.0"}, {"max_val", call.realHole("high"), "1.0"}});
}
Code clamp(const CallReader& call) {
  return functionCode("torch.clamp",
                      {{"", call.operand(0), ""}, {"min", call.realHole("low"), ""}, {"max", call.realHole("high"), ""}});
}
Code dropout(const CallReader& call) {
  return functionCode("F.dropout",
                      {{"", call.operand(0), ""}, {"p", call.realHole("p"), "0.5"}, {"training", "self.training", ""}});
}
Code stochasticDepth(const CallReader& call) {
  std::string ones = fmt::format("{}.new_ones({}.shape[0]", call.operand(0, Binding::Atom), call.operand(0, Binding::Atom));
  for (std::size_t axis = 1; axis < call.shape(0).size(); ++axis) ones += ", 1";
  return expressionCode(
      fmt::format("{} * F.dropout({}), {}, self.training)", call.operand(0, Binding::Product), ones, call.realHole("p")),
      Binding::Product);
}
Code stopGradient(const CallReader& call) { return expressionCode(call.operand(0, Binding::Atom) + ".detach()", Binding::Atom); }
Code identity(const CallReader& call) { return expressionCode(call.operand(0), Binding::Any); }

Code softmaxBy(const CallReader& call, const char* name) {
  return functionCode(fmt::format("torch.{}", name),
                      {{"", call.operand(0), ""}, {"dim", call.hole("dim", call.integer("axis")), ""}});
}
Code softmax(const CallReader& call) { return softmaxBy(call, "softmax"); }
Code logSoftmax(const CallReader& call) { return softmaxBy(call, "log_softmax"); }

Code matmul(const CallReader& call) {
  const auto side = [&](std::size_t position, const char* transpose, Binding least) {
    return call.flag(transpose) ? call.operand(position, Binding::Atom) + ".mT" : call.operand(position, least);
  };
  return expressionCode(fmt::format("{} @ {}", side(0, "transpose_a", Binding::Product), side(1, "transpose_b", Binding::Sign)),
                        Binding::Product);
}

Code attentionWith(const CallReader& call, Argument mask) {
  const double p = call.real("dropout").toDouble();
  const Marked hole = call.realHole("dropout");
  return functionCode("F.scaled_dot_product_attention",
                      {{"", call.operand(0), ""},
                       {"", call.operand(1), ""},
                       {"", call.operand(2), ""},
                       {"dropout_p", p == 0 ? hole : hole + " if self.training else 0.0", "0.0"},
                       std::move(mask)});
}
Code attention(const CallReader& call) {
  return attentionWith(call, {"is_causal", call.hole("causal", pythonText(call.flag("causal"))), "False"});
}
Code maskedAttention(const CallReader& call) { return attentionWith(call, {"attn_mask", call.operand(3), ""}); }

constexpr auto kWriters = std::to_array<Writer>({{"neg", negation},
                                                 {"hard_sigmoid", hardSigmoid},
                                                 {"maximum", maximum},
                                                 {"minimum", minimum},
                                                 {"where", where},
                                                 {"leaky_relu", leakyRelu},
                                                 {"elu", elu},
                                                 {"gelu", gelu},
                                                 {"hard_tanh", hardTanh},
                                                 {"clamp", clamp},
                                                 {"dropout", dropout},
                                                 {"stochastic_depth", stochasticDepth},
                                                 {"identity", identity},
                                                 {"stop_gradient", stopGradient},
                                                 {"softmax", softmax},
                                                 {"log_softmax", logSoftmax},
                                                 {"matmul", matmul},
                                                 {"scaled_dot_product_attention", attention},
                                                 {"masked_attention", maskedAttention}});

}  // namespace

std::span<const Writer> functionWriters() { return kWriters; }

bool hasWord(std::string_view word) { return rowOf(kUnary, word) != nullptr || infixOf(word) != nullptr; }

std::optional<Code> wordCode(const CallReader& call) {
  const std::string_view word = call.call.decl->name.text;
  if (const Unary* unary = rowOf(kUnary, word)) return functionCode(std::string(unary->callee), {{"", call.operand(0), ""}});
  if (const Infix* sign = infixOf(word))
    return infixCode(call, *sign, [&](std::size_t position, Binding least) { return call.operand(position, least); });
  return std::nullopt;
}

}  // namespace tbem::emit
