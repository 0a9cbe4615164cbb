// Functions of elements, products of matrices, attention.
#include "compiler/emit/keras/Writers.h"
#include "compiler/emit/python/Infix.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit::keras {

namespace {

/// A function of one tensor by its name in Keras.
struct Unary {
  std::string_view word, callee;
};
constexpr auto kUnary = std::to_array<Unary>({{"relu", "ops.relu"},
                                              {"relu6", "ops.relu6"},
                                              {"selu", "ops.selu"},
                                              {"sigmoid", "ops.sigmoid"},
                                              {"hard_sigmoid", "ops.hard_sigmoid"},
                                              {"tanh", "ops.tanh"},
                                              {"silu", "ops.silu"},
                                              {"hard_swish", "ops.hard_swish"},
                                              {"softplus", "ops.softplus"},
                                              {"mish", "keras.activations.mish"},
                                              {"exp", "ops.exp"},
                                              {"log", "ops.log"},
                                              {"log1p", "ops.log1p"},
                                              {"expm1", "ops.expm1"},
                                              {"sqrt", "ops.sqrt"},
                                              {"rsqrt", "ops.rsqrt"},
                                              {"abs", "ops.abs"},
                                              {"sign", "ops.sign"},
                                              {"stop_gradient", "ops.stop_gradient"},
                                              {"floor", "ops.floor"},
                                              {"sin", "ops.sin"},
                                              {"cos", "ops.cos"},
                                              {"square", "ops.square"},
                                              {"logical_not", "ops.logical_not"}});

/// The operands of a function that broadcasts them, with their dimensions in one order.
class Aligned {
public:
  explicit Aligned(const KerasCall& call) : call(call) {
    for (std::size_t k = 0; k < call.call.tensors.size(); ++k) rank = std::max(rank, call.rank(k));
    for (std::size_t k = 0; k < call.call.tensors.size(); ++k) isLast = isLast || (call.rank(k) == rank && call.isLast(k));
    if (isLast) call.makesLast();
  }

  Marked operator()(std::size_t position, Binding least = Binding::Any) const {
    const std::size_t own = call.rank(position);
    if (!isLast) return call.inOrder(position, least);
    if (own == rank) return call.withLast(position, least);
    if (own == 0) return call.operand(position, least);
    if (own + 1 < rank) return call.inOrder(position, Binding::Atom) + "[..., None]";  // it has no channels
    Numbers order;
    for (std::size_t axis = 1; axis < own; ++axis) order.push_back(static_cast<std::int64_t>(axis));
    order.push_back(0);
    return own == 1 ? call.operand(position, least) : transposed(call.inOrder(position), order);
  }

private:
  const KerasCall& call;
  std::size_t rank = 0;
  bool isLast = false;
};

Code infix(const KerasCall& call, const Infix& row) {
  const Aligned operand(call);
  return infixCode(call, row, [&](std::size_t position, Binding least) { return operand(position, least); });
}

Code negation(const KerasCall& call) {
  call.keepsLayout();
  return expressionCode("-" + call.operand(0, Binding::Atom), Binding::Sign);
}

Code broadcasting(const KerasCall& call, const char* callee) {
  const Aligned operand(call);
  std::vector<Argument> arguments;
  for (std::size_t k = 0; k < call.call.tensors.size(); ++k) arguments.push_back({"", operand(k), ""});
  return functionCode(callee, std::move(arguments));
}
Code maximum(const KerasCall& call) { return broadcasting(call, "ops.maximum"); }
Code minimum(const KerasCall& call) { return broadcasting(call, "ops.minimum"); }
Code where(const KerasCall& call) { return broadcasting(call, "ops.where"); }

/// A function of one tensor with an argument.
Code withArgument(const KerasCall& call, const char* callee, std::vector<Argument> arguments) {
  call.keepsLayout();
  arguments.insert(arguments.begin(), {"", call.operand(0), ""});
  return functionCode(callee, std::move(arguments));
}
/// TensorFlow's own has the slope in single precision, whatever the type of its tensors.
Code leakyRelu(const KerasCall& call) {
  call.keepsLayout();
  return functionCode("ops.where", {{"", call.operand(0, Binding::Sum) + " > 0", ""},
                                    {"", call.operand(0), ""},
                                    {"", fmt::format("{} * {}", call.realHole("slope"), call.operand(0, Binding::Sign)), ""}});
}
Code elu(const KerasCall& call) { return withArgument(call, "ops.elu", {{"alpha", call.realHole("alpha"), "1.0"}}); }
Code gelu(const KerasCall& call) {
  return withArgument(call, "gelu", {{"approximate", call.hole("approximate", pythonText(call.flag("approximate"))), "False"}});
}
Code clip(const KerasCall& call) {
  return withArgument(call, "ops.clip", {{"", call.realHole("low"), ""}, {"", call.realHole("high"), ""}});
}
Code identity(const KerasCall& call) {
  call.keepsLayout();
  return expressionCode(call.operand(0), Binding::Any);
}

Code dropout(const KerasCall& call) {
  call.keepsLayout();
  return moduleCode({"layers.Dropout", {{"", call.realHole("p"), ""}}}, call.operand(0));
}
Code stochasticDepth(const KerasCall& call) {
  call.keepsLayout();
  std::string shape = "None";
  for (std::size_t axis = 1; axis < call.rank(); ++axis) shape += ", 1";
  return moduleCode({"layers.Dropout", {{"", call.realHole("p"), ""}, {"noise_shape", "(" + shape + ")", ""}}}, call.operand(0));
}

Code alongAxis(const KerasCall& call, const char* callee) {
  return withArgument(call, callee, {{"axis", call.hole("axis", call.axisOf(call.integer("axis"))), "-1"}});
}
Code softmax(const KerasCall& call) { return alongAxis(call, "ops.softmax"); }
Code logSoftmax(const KerasCall& call) { return alongAxis(call, "ops.log_softmax"); }

Code matmul(const KerasCall& call) {
  const auto side = [&](std::size_t position, const char* transpose) {
    const Marked text = call.inOrder(position);
    return call.flag(transpose) ? fmt::format("ops.swapaxes({}, -1, -2)", text) : text;
  };
  return functionCode("ops.matmul", {{"", side(0, "transpose_a"), ""}, {"", side(1, "transpose_b"), ""}});
}

Code attentionLayer(const KerasCall& call, std::vector<Argument> settings) {
  Code code;
  code.module = CallText{"Attention", std::move(settings)};
  code.call.arguments = {{"", call.inOrder(0), ""}, {"", call.inOrder(1), ""}, {"", call.inOrder(2), ""}};
  return code;
}
Code attention(const KerasCall& call) {
  return attentionLayer(call, {{"causal", call.hole("causal", pythonText(call.flag("causal"))), "False"},
                               {"dropout", call.realHole("dropout"), "0.0"}});
}
Code maskedAttention(const KerasCall& call) {
  Code code = attentionLayer(call, {{"dropout", call.realHole("dropout"), "0.0"}});
  code.call.arguments.push_back({"added", call.inOrder(3), ""});
  return code;
}

constexpr auto kWriters = std::to_array<Writer>({{"neg", negation},
                                                 {"maximum", maximum},
                                                 {"minimum", minimum},
                                                 {"where", where},
                                                 {"leaky_relu", leakyRelu},
                                                 {"elu", elu},
                                                 {"gelu", gelu},
                                                 {"hard_tanh", clip},
                                                 {"clamp", clip},
                                                 {"dropout", dropout},
                                                 {"stochastic_depth", stochasticDepth},
                                                 {"identity", identity},
                                                 {"softmax", softmax},
                                                 {"log_softmax", logSoftmax},
                                                 {"matmul", matmul},
                                                 {"scaled_dot_product_attention", attention},
                                                 {"masked_attention", maskedAttention}});

}  // namespace

std::span<const Writer> functionWriters() { return kWriters; }

bool hasWord(std::string_view word) { return rowOf(kUnary, word) != nullptr || infixOf(word) != nullptr; }

std::optional<Code> wordCode(const KerasCall& call) {
  const std::string_view word = call.call.decl->name.text;
  if (const Unary* unary = rowOf(kUnary, word)) return withArgument(call, std::string(unary->callee).c_str(), {});
  if (const Infix* sign = infixOf(word)) return infix(call, *sign);
  return std::nullopt;
}

}  // namespace tbem::emit::keras
