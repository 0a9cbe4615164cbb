// Operators that own weights: convolutions, dense layers, normalisations, embeddings.
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

/// A weight of the model that this operator alone reads, and nothing computed from it.
bool isWeight(const Exported& exported, const Value& node, std::size_t position) {
  return position < node.arguments.size() && node.arguments[position].kind == Argument::Kind::Value &&
         exported[node.arguments[position].value].kind == Value::Kind::Weight &&
         !exported[node.arguments[position].value].isShared;
}
bool isAbsent(const Value& node, std::size_t position) {
  return position >= node.arguments.size() || node.arguments[position].isNone();
}

/// Convolutions of one, two and three dimensions, and the transposed one of two.
std::optional<Expression> convolution(const NodeReader& node, std::size_t dimensions, bool transposed) {
  const Facts& weight = node.facts(1);
  const std::size_t dilationAt = transposed ? 7 : 5;
  const std::int64_t groups = node.integer(6, "groups", 1);
  Numbers kernel, stride = node.integers(3, "stride", dimensions), dilation = node.integers(dilationAt, "dilation", dimensions);
  for (std::size_t axis = 2; axis < weight.rank(); ++axis) kernel.push_back(weight.shape[axis].number);
  if (kernel.size() != dimensions) throw UnlikeNode();
  if (stride.empty()) stride.assign(dimensions, 1);
  if (dilation.empty()) dilation.assign(dimensions, 1);
  Numbers pad = node.integers(4, "padding", dimensions);
  if (node.at(4, "padding").kind == Argument::Kind::Text) {
    pad.assign(dimensions, 0);
    for (std::size_t axis = 0; axis < dimensions && node.at(4).text == "same"; ++axis) {
      const std::int64_t whole = dilation[axis] * (kernel[axis] - 1);
      if (whole % 2 != 0) return std::nullopt;
      pad[axis] = whole / 2;
    }
  }
  if (pad.empty()) pad.assign(dimensions, 0);
  const std::string one = dimensions == 3 ? "[1, 1, 1]" : "1", none = dimensions == 3 ? "[0, 0, 0]" : "0";
  const auto sizes = [&](const char* name, const Numbers& numbers) {
    return dimensions == 3 ? node.hole(name, listText(numbers)) : node.even(name, numbers);
  };
  const std::int64_t out = transposed ? node.dimension(1, 1).number * groups : node.dimension(1, 0).number;
  const bool hasBias = node.has(2, "bias");
  const std::string word = fmt::format("conv{}{}d", transposed ? "_transpose" : "", dimensions);
  std::vector<emit::Argument> arguments = {{"out", node.hole("out", out), ""},
                                           {"kernel", sizes("kernel", kernel), ""},
                                           {"stride", sizes("stride", stride), one},
                                           {"pad", sizes("pad", pad), none}};
  if (transposed) {
    Numbers output = node.integers(5, "output_padding", dimensions);
    if (output.empty()) output.assign(dimensions, 0);
    arguments.push_back({"output_pad", sizes("output_pad", output), none});
  }
  arguments.push_back({"dilation", sizes("dilation", dilation), one});
  arguments.push_back({"groups", node.hole("groups", groups), "1"});
  arguments.push_back({"use_bias", node.hole("use_bias", hasBias ? "true" : "false"), "true"});
  return call(word, {node.operand(0)}, std::move(arguments));
}

std::optional<Expression> linear(const NodeReader& node) {
  return call("dense", {node.operand(0)},
              {{"", node.hole("out", node.dimension(1, 0).number), ""},
               {"use_bias", node.hole("use_bias", node.has(2, "bias") ? "true" : "false"), "true"}});
}

std::optional<Expression> batchNorm(const NodeReader& node) {
  const std::optional<std::string> eps = numberText(node.real(7, "eps", 1e-5));
  const std::optional<std::string> momentum = numberText(node.real(6, "momentum", 0.1));
  if (!eps || !momentum) return std::nullopt;
  return call("batch_norm", {node.operand(0)},
              {{"eps", node.hole("eps", *eps), "0.00001"}, {"momentum", node.hole("momentum", *momentum), "0.1"}});
}

std::optional<Expression> layerNorm(const NodeReader& node) {
  const std::optional<std::string> eps = numberText(node.real(4, "eps", 1e-5));
  if (!eps) return std::nullopt;
  const bool isAffine = node.has(2, "weight"), hasBias = node.has(3, "bias");
  return call("layer_norm", {node.operand(0)},
              {{"axes", node.hole("axes", static_cast<std::int64_t>(node.integers(1, "normalized_shape").size())), "1"},
               {"eps", node.hole("eps", *eps), "0.00001"},
               {"affine", node.hole("affine", isAffine ? "true" : "false"), "true"},
               {"use_bias", node.hole("use_bias", hasBias ? "true" : "false"), isAffine ? "true" : "false"}});
}

std::optional<Expression> groupNorm(const NodeReader& node) {
  const std::optional<std::string> eps = numberText(node.real(4, "eps", 1e-5));
  if (!eps) return std::nullopt;
  return call("group_norm", {node.operand(0)},
              {{"groups", node.hole("groups", node.integer(1, "num_groups", 1)), ""},
               {"eps", node.hole("eps", *eps), "0.00001"},
               {"affine", node.hole("affine", node.has(2, "weight") ? "true" : "false"), "true"}});
}

std::optional<Expression> embedding(const NodeReader& node) {
  return call("embedding", {node.operand(1)},
              {{"vocab", node.hole("vocab", node.dimension(0, 0).number), ""},
               {"width", node.hole("width", node.dimension(0, 1).number), ""},
               {"padding", node.hole("padding", node.integer(2, "padding_idx", -1)), "-1"}});
}

/// lstm_layer, gru_layer and rnn_layer of simplify/Recurrent.cpp, and PyTorch's cells: input, state, the two weights and their
/// biases; of a layer then whether it goes back, and whether it is rectified.
std::size_t statesOf(std::string_view word) { return word.starts_with("lstm") ? 2 : 1; }

/// Where the operands of a cell or layer are among the node's arguments: those of an LSTM's cell have their states in a list.
std::vector<Argument> recurrentArguments(const Value& node) {
  std::vector<Argument> flat;
  for (const Argument& argument : node.arguments) {
    if (argument.kind == Argument::Kind::List)
      flat.insert(flat.end(), argument.items.begin(), argument.items.end());
    else
      flat.push_back(argument);
  }
  return flat;
}

std::vector<std::pair<std::string, ValueId>> recurrentWeights(const Exported& exported, const Value& node,
                                                              std::string_view word) {
  constexpr std::array<const char*, 4> kNames = {"from_x.weight", "from_h.weight", "from_x.bias", "from_h.bias"};
  const std::vector<Argument> arguments = recurrentArguments(node);
  std::vector<std::pair<std::string, ValueId>> weights;
  for (std::size_t w = 0; w < kNames.size(); ++w) {
    const std::size_t at = 1 + statesOf(word) + w;
    if (at >= arguments.size() || arguments[at].isNone()) continue;
    const bool isOwn = arguments[at].kind == Argument::Kind::Value && exported[arguments[at].value].kind == Value::Kind::Weight &&
                       !exported[arguments[at].value].isShared;
    if (!isOwn) return {};
    weights.emplace_back(kNames[w], arguments[at].value);
  }
  return weights.size() % 2 == 0 ? weights : std::vector<std::pair<std::string, ValueId>>{};
}

std::optional<Expression> recurrent(const NodeReader& node, std::string_view word) {
  const bool isLayer = word.ends_with("_layer");
  const bool isKnown = isLayer || word == "lstm_cell" || word == "gru_cell" || word == "rnn_tanh_cell" || word == "rnn_relu_cell";
  std::vector<std::pair<std::string, ValueId>> weights = recurrentWeights(node.exported, node.node, word);
  if (!isKnown || weights.empty()) return std::nullopt;
  const std::vector<Argument> arguments = recurrentArguments(node.node);
  const std::size_t states = statesOf(word);
  std::vector<Marked> tensors;
  for (std::size_t t = 0; t <= states; ++t) {
    if (arguments[t].kind != Argument::Kind::Value) return std::nullopt;
    tensors.push_back(NodeReader::operandOf(arguments[t].value));
  }
  const std::vector<Size>& shape = node.exported[weights[1].second].facts.shape;  // of the weight from_h: [gates * width, width]
  if (shape.size() != 2) throw UnlikeNode();
  const auto flag = [&](std::size_t behind) {
    const std::size_t at = 5 + states + behind;
    return at < arguments.size() && arguments[at].kind == Argument::Kind::Bool && arguments[at].integer != 0;
  };
  const auto flagHole = [&](const char* name, bool given) { return node.hole(name, given ? "true" : "false"); };
  const std::string kind(word.substr(0, word.find('_')));
  Expression made =
      call(isLayer ? std::string(word) : kind, std::move(tensors), {{"width", node.hole("width", shape[1].number), ""}});
  if (kind == "rnn") {
    const bool rectified = isLayer ? flag(1) : word == "rnn_relu_cell";
    made.arguments.push_back({"rectified", flagHole("rectified", rectified), "false"});
  }
  if (isLayer) made.arguments.push_back({"reverse", flagHole("reverse", flag(0)), "false"});
  made.arguments.push_back({"use_bias", flagHole("use_bias", weights.size() == 4), "true"});
  made.weights = std::move(weights);
  return made;
}

std::optional<Expression> prelu(const NodeReader& node) {
  const bool isShared = node.dimension(1, 0).number == 1;
  return call("prelu", {node.operand(0)}, {{"shared", node.hole("shared", isShared ? "true" : "false"), "false"}});
}

double rmsEps(const NodeReader& node) {
  return node.real(3, "eps", node.facts(0).type == "float64" ? 0x1p-52 : 0x1p-23);  // the type's own
}

std::optional<Expression> rmsNorm(const NodeReader& node) {
  // PyTorch's own number where none is given: the distance from 1 to the next number of the type.
  const std::optional<std::string> eps = numberText(rmsEps(node));
  if (!eps || node.integers(1, "normalized_shape").size() != 1) return std::nullopt;
  return call("rms_norm", {node.operand(0)},
              {{"eps", node.hole("eps", *eps), "0.000001"},
               {"affine", node.hole("affine", node.has(2, "weight") ? "true" : "false"), "true"}});
}

/// The bias of a convolution as what is added to its result.
std::string added(const NodeReader& node, const std::string& text) {
  if (!node.has(2, "bias")) return text;
  return fmt::format("{} + reshape({}, shape: [{}, 1, 1])", text, node.operand(2), node.size(node.dimension(2, 0), "out"));
}

/// A convolution with a kernel that is computed, or that something else reads, too.
std::optional<Expression> correlation(const NodeReader& node, std::size_t dimensions) {
  std::optional<Expression> own = convolution(node, dimensions, false);
  if (!own) return std::nullopt;
  std::erase_if(own->arguments, [](const emit::Argument& argument) {
    return argument.keyword == "out" || argument.keyword == "kernel" || argument.keyword == "use_bias";
  });
  if (dimensions == 2 && !node.has(2, "bias"))
    return call("correlate2d", {node.operand(0), node.operand(1)}, std::move(own->arguments));
  std::string arguments;
  for (const emit::Argument& argument : own->arguments) {
    const char* const before = argument.keyword == "pad" ? "0" : "1";
    const bool isPair = dimensions == 1 && argument.keyword != "groups";
    arguments +=
        fmt::format(", {}: {}", argument.keyword, isPair ? fmt::format("[{}, {}]", before, argument.text) : argument.text);
  }
  Expression made;
  if (dimensions == 2) {
    made.text = added(node, fmt::format("correlate2d({}, {}{})", node.operand(0), node.operand(1), arguments));
    made.binding = node.has(2, "bias") ? Binding::Sum : Binding::Atom;
    return made;
  }
  const auto plane = [&](std::size_t position) {
    return fmt::format("reshape({}, shape: [{}, {}, 1, {}])", node.operand(position),
                       node.size(node.dimension(position, 0), "size"), node.size(node.dimension(position, 1), "size"),
                       node.size(node.dimension(position, 2), "size"));
  };
  made.text =
      fmt::format("reshape({}, shape: {})", added(node, fmt::format("correlate2d({}, {}{})", plane(0), plane(1), arguments)),
                  node.shape(node.result().shape));
  return made;
}

/// A normalisation of rows, times a weight that something else reads, too, or that is computed.
std::optional<Expression> scaledNorm(const NodeReader& node, std::string_view word) {
  const bool isRms = word == "rms_norm";
  const std::size_t axes = node.integers(1, "normalized_shape").size();
  const std::optional<std::string> eps = numberText(isRms ? rmsEps(node) : node.real(4, "eps", 1e-5));
  if (!eps || (isRms && axes != 1) || !node.has(2, "weight")) return std::nullopt;
  Expression made;
  made.text = fmt::format("{}({}, {}eps: {}, affine: false) * {}", word, node.operand(0),
                          isRms ? std::string() : fmt::format("axes: {}, ", node.hole("axes", static_cast<std::int64_t>(axes))),
                          node.hole("eps", *eps), node.operand(2, Binding::Sign));
  made.binding = Binding::Product;
  if (isRms || !node.has(3, "bias")) return made;
  made.text += " + " + node.operand(3, Binding::Product);
  made.binding = Binding::Sum;
  return made;
}

/// Batch normalisation of one sample, whose statistics nothing keeps: each channel by its own mean and variance, as
/// "standardised" weights of convolutions are made (Qiao et al. 2019).
std::optional<Expression> ownStatistics(const NodeReader& node) {
  const Facts& facts = node.facts(0);
  const bool isOne = facts.rank() == 3 && facts.shape[0].number == 1 && facts.shape[0].symbolic.empty();
  const std::optional<std::string> eps = numberText(node.real(7, "eps", 1e-5));
  if (!isOne || !node.flag(5, "training", false) || node.has(3, "running_mean") || !eps) return std::nullopt;
  Expression made =
      call("layer_norm", {node.operand(0)}, {{"eps", node.hole("eps", *eps), "0.00001"}, {"affine", "false", "true"}});
  const auto channels = [&](std::size_t position) {
    return fmt::format("reshape({}, shape: [{}, 1])", node.operand(position), node.size(facts.shape[1], "channels"));
  };
  if (!node.has(1, "weight") && !node.has(2, "bias")) return made;
  made.text = fmt::format("layer_norm({}, eps: {}, affine: false)", node.operand(0), made.arguments[0].text);
  made.callee.clear();
  if (node.has(1, "weight")) made.text += " * " + channels(1);
  if (node.has(2, "bias")) made.text += " + " + channels(2);
  made.binding = node.has(2, "bias") ? Binding::Sum : Binding::Product;
  return made;
}

/// A weight as its direction times its length (Salimans and Kingma 2016): v * (g / |v|), by one axis.
std::optional<Expression> weightNorm(const NodeReader& node) {
  const Facts& facts = node.facts(0);
  if (node.integer(2, "dim", 0) < 0) return std::nullopt;  // one norm of all elements
  const std::size_t along = node.axis(2, "dim", 0, facts.rank());
  std::vector<std::int64_t> axes;
  for (std::size_t d = 0; d < facts.rank(); ++d) {
    if (d != along) axes.push_back(static_cast<std::int64_t>(d));
  }
  Expression made;
  made.text =
      fmt::format("{0} * ({1} / reshape(sqrt(sum(square({0}), axis: {2})), shape: {3}))", node.operand(0, Binding::Product),
                  node.operand(1, Binding::Product), listText(axes), node.shape(node.facts(1).shape));
  made.binding = Binding::Product;
  return made;
}

/// The same operators with weights that something else has, too, or that are computed.
std::optional<Expression> withGivenWeights(const NodeReader& node, std::string_view word) {
  const std::int64_t padding = word == "embedding" ? node.integer(2, "padding_idx", -1) : -1;
  if (padding >= 0)
    return call("padded_gather", {node.operand(0), node.operand(1)}, {{"padding", node.hole("padding", padding), ""}});
  if (word == "embedding") return call("gather", {node.operand(0), node.operand(1)});
  if (word == "linear") {
    Expression product = call("matmul", {node.operand(0), node.operand(1)}, {{"transpose_b", "true", "false"}});
    if (!node.has(2, "bias")) return product;
    Expression sum;
    sum.text = fmt::format("matmul({}, {}, transpose_b: true) + {}", node.operand(0), node.operand(1),
                           node.operand(2, Binding::Product));
    sum.binding = Binding::Sum;
    return sum;
  }
  if (word == "conv1d" || word == "conv2d") return correlation(node, word == "conv1d" ? 1 : 2);
  if (word == "layer_norm" || word == "rms_norm") return scaledNorm(node, word);
  if (word == "batch_norm") return ownStatistics(node);
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, ValueId>> weightsOf(const Exported& exported, const Value& node) {
  const std::string word = wordOf(node);
  if (word.ends_with("_layer") || word.ends_with("_cell")) return recurrentWeights(exported, node, word);
  std::vector<std::pair<std::string, std::size_t>> places;
  if (word == "linear" || word == "conv1d" || word == "conv2d" || word == "conv3d" || word == "conv_transpose2d")
    places = {{"weight", 1}, {"bias", 2}};
  else if (word == "batch_norm")
    places = {{"weight", 1}, {"bias", 2}, {"running_mean", 3}, {"running_variance", 4}};
  else if (word == "layer_norm" || word == "group_norm")
    places = {{"weight", 2}, {"bias", 3}};
  else if (word == "rms_norm")
    places = {{"weight", 2}};
  else if (word == "embedding")
    places = {{"weight", 0}};
  else if (word == "prelu")
    places = {{"weight", 1}};
  std::vector<std::pair<std::string, ValueId>> weights;
  for (const auto& [name, position] : places) {
    const bool isOptional = name == "bias" || word.ends_with("_norm");
    if (isAbsent(node, position) && isOptional && word != "batch_norm") continue;
    if (!isWeight(exported, node, position)) return {};
    weights.emplace_back(name, node.arguments[position].value);
  }
  return weights;
}

std::optional<Expression> layerOf(const NodeReader& node, std::string_view word) {
  if (word.ends_with("_layer") || word.ends_with("_cell")) return recurrent(node, word);
  const bool isLayer = word == "linear" || word == "conv1d" || word == "conv2d" || word == "conv3d" ||
                       word == "conv_transpose2d" || word == "batch_norm" || word == "layer_norm" || word == "group_norm" ||
                       word == "embedding" || word == "prelu" || word == "rms_norm";
  if (word == "_weight_norm") return weightNorm(node);
  if (!isLayer) return std::nullopt;
  std::vector<std::pair<std::string, ValueId>> weights = weightsOf(node.exported, node.node);
  const bool hasNone = (word == "layer_norm" || word == "group_norm" || word == "rms_norm") && !node.has(2, "weight");
  if (weights.empty() && !hasNone) return withGivenWeights(node, word);
  std::optional<Expression> made;
  if (word == "linear") made = linear(node);
  if (word == "conv1d") made = convolution(node, 1, false);
  if (word == "conv2d") made = convolution(node, 2, false);
  if (word == "conv3d") made = convolution(node, 3, false);
  if (word == "conv_transpose2d") made = convolution(node, 2, true);
  if (word == "batch_norm") made = batchNorm(node);
  if (word == "layer_norm") made = layerNorm(node);
  if (word == "rms_norm") made = rmsNorm(node);
  if (word == "group_norm") made = groupNorm(node);
  if (word == "embedding") made = embedding(node);
  if (word == "prelu") made = prelu(node);
  if (made) made->weights = std::move(weights);
  return made;
}

}  // namespace tbem::imports
