// ONNX's element-wise operators, softmax, and what torch.onnx writes several of for one of PyTorch's.
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace tbem::imports {

namespace {

void unary(OnnxGraph& graph, const char* op) {
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  graph.give(op, {graph.operand(0)}, graph.shape(0));
}

/// The operand, or the number that it is: a constant of one element needs no tensor, where it leaves the result's rank alone.
Argument operandOrNumber(OnnxGraph& graph, std::size_t input, std::size_t rank) {
  const OnnxTensor& tensor = graph.in(input);
  if (tensor.value || tensor.rank() > rank) return graph.operand(input);
  const std::optional<double> number = graph.number(input);
  return number ? realArgument(*number) : graph.operand(input);
}

/// Real numbers that are known when the model is read give one that is: torch.onnx computes the scale of attention from a shape.
bool isFolded(OnnxGraph& graph, double (*compute)(double, double)) {
  std::array<double, 2> numbers = {};
  if (graph.node->inputs.size() > numbers.size()) return false;
  for (std::size_t i = 0; i < graph.node->inputs.size(); ++i) {
    const OnnxTensor& tensor = graph.in(i);
    const bool isKnown = !tensor.value && tensor.rank() == 0 && tensor.isReal();
    const std::optional<double> number = isKnown ? graph.number(i) : std::nullopt;
    if (!number) return false;
    numbers[i] = *number;
  }
  OnnxTensor result;
  result.facts = graph.in(0).facts;
  result.real = compute(numbers[0], numbers[1]);
  graph.giveOn(std::move(result));
  return true;
}

std::vector<Size> sharedShape(OnnxGraph& graph) {
  const auto shape = broadcast(graph.shape(0), graph.shape(1));
  if (!shape || graph.node->inputs.size() != 2) throw Damaged{"its operands do not fit, or are not two"};
  return *shape;
}

/// + - * / of two operands with shapes as they are broadcast.
void arithmetic(OnnxGraph& graph, const std::string& word) {
  const std::vector<Size> shape = sharedShape(graph);
  if (word == "div" && !graph.isReal(0)) throw NoForm{"it divides whole numbers, which are not known when the model is read"};
  const Facts facts = {shape, graph.in(0).facts.type};
  Argument left = operandOrNumber(graph, 0, graph.in(1).rank()), right = operandOrNumber(graph, 1, graph.in(0).rank());
  const bool isNumber = left.kind == Argument::Kind::Real;
  if (isNumber && right.kind == Argument::Kind::Real) left = graph.operand(0);
  if (isNumber && word == "div") {  // ATen has no number divided by a tensor
    const ValueId inverse = graph.add("reciprocal.default", {right}, facts);
    return graph.give("mul.Tensor", {valueArgument(inverse), left}, facts);
  }
  if (isNumber && word != "sub") std::swap(left, right);
  graph.give(word + ".Tensor", {left, right}, facts);
}

void comparison(OnnxGraph& graph, std::string word) {
  if (graph.in(0).isOfSizes() && graph.in(1).isOfSizes()) return onnxSizes().at(graph.node->op)(graph);
  static const std::map<std::string, std::string> kTurned = {
      {"lt", "gt"}, {"gt", "lt"}, {"le", "ge"}, {"ge", "le"}, {"eq", "eq"}};
  const std::vector<Size> shape = sharedShape(graph);
  Argument left = operandOrNumber(graph, 0, graph.in(1).rank()), right = operandOrNumber(graph, 1, graph.in(0).rank());
  if (left.kind == Argument::Kind::Real && right.kind == Argument::Kind::Real) left = graph.operand(0);
  if (graph.in(0).facts.type == "bool") {
    left = graph.operand(0);
    right = graph.operand(1);
  }
  if (left.kind == Argument::Kind::Real) {
    std::swap(left, right);
    word = kTurned.at(word);
  }
  graph.give(word + ".Tensor", {left, right}, Facts{shape, "bool"});
}

void logical(OnnxGraph& graph, const char* op) {
  graph.give(op, {graph.operand(0), graph.operand(1)}, Facts{sharedShape(graph), "bool"});
}

void negation(OnnxGraph& graph) {
  if (!graph.in(0).sizes) return graph.give("logical_not.default", {graph.operand(0)}, graph.shape(0));
  std::vector<Size> turned;
  for (const Size& flag : graph.sizes(0)) turned.push_back(sizeOf(flag.number == 0 ? 1 : 0));
  graph.giveSizes(std::move(turned), graph.shape(0), "bool");
}

/// Of one operand or more, from the left.
void chained(OnnxGraph& graph, const char* op) {
  Argument all = graph.operand(0);
  std::vector<Size> shape = graph.shape(0);
  if (graph.node->inputs.size() == 1) return graph.giveSame(0);
  for (std::size_t input = 1; input < graph.node->inputs.size(); ++input) {
    const auto both = broadcast(shape, graph.shape(input));
    if (!both) throw Damaged{"its operands do not fit"};
    shape = *both;
    const std::vector<Argument> arguments = {all, graph.operand(input)};
    if (input + 1 == graph.node->inputs.size()) return graph.give(op, arguments, shape);
    all = valueArgument(graph.add(op, arguments, {shape, graph.in(0).facts.type}));
  }
}

void power(OnnxGraph& graph) {
  if (isFolded(graph, [](double a, double b) { return std::pow(a, b); })) return;
  const std::vector<Size> shape = sharedShape(graph);
  const std::optional<double> exponent = graph.number(1);
  if (!exponent || graph.in(1).rank() > graph.in(0).rank()) throw NoForm{"its exponent is no number"};
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  graph.give("pow.Tensor_Scalar", {graph.operand(0), realArgument(*exponent)}, shape);
}

void remainder(OnnxGraph& graph) {
  if (graph.in(0).isOfSizes() && graph.in(1).isOfSizes()) return onnxSizes().at("Mod")(graph);
  throw NoForm{"its operands are not known when the model is read"};
}

void clip(OnnxGraph& graph) {
  std::array<Argument, 2> bounds;
  for (std::size_t i = 0; i < 2; ++i) {
    if (!graph.has(i + 1)) continue;
    const std::optional<double> bound = graph.number(i + 1);
    if (!bound) throw NoForm{"its bounds are no numbers"};
    if (std::isfinite(*bound)) bounds[i] = realArgument(*bound);
  }
  if (!graph.isReal(0)) throw NoForm{"it is of whole numbers"};
  if (bounds[0].isNone() && bounds[1].isNone()) return graph.giveSame(0);
  const bool isSix = !bounds[0].isNone() && !bounds[1].isNone() && bounds[0].real == 0 && bounds[1].real == 6;
  if (isSix) return unary(graph, "relu6.default");
  graph.give("clamp.default", {graph.operand(0), bounds[0], bounds[1]}, graph.shape(0));
}

void choice(OnnxGraph& graph) {
  if (graph.in(0).sizes && graph.in(1).isOfSizes() && graph.in(2).isOfSizes()) return onnxSizes().at("Where")(graph);
  const auto either = broadcast(graph.shape(1), graph.shape(2));
  const auto shape = either ? broadcast(graph.shape(0), *either) : std::nullopt;
  if (!shape) throw Damaged{"its operands do not fit"};
  const std::size_t rank = graph.in(0).rank();
  Argument first = operandOrNumber(graph, 1, std::max(rank, graph.in(2).rank()));
  Argument second = operandOrNumber(graph, 2, std::max(rank, graph.in(1).rank()));
  graph.give("where.self", {graph.operand(0), first, second}, Facts{*shape, graph.in(1).facts.type});
}

void softmax(OnnxGraph& graph, const char* op) {
  const std::size_t axis = graph.axis(graph.integer("axis", -1), graph.in(0).rank());
  graph.give(op, {graph.operand(0), integerArgument(static_cast<std::int64_t>(axis))}, graph.shape(0));
}

bool isAbout(const std::optional<double>& number, double value) { return number && std::abs(*number - value) < 1e-6; }

/// PyTorch's gelu as torch.onnx writes it before opset 20: x * (erf(x / sqrt(2)) + 1) * 0.5.
void errorFunction(OnnxGraph& graph) {
  const OnnxNode* const erf = graph.node;
  const OnnxNode* const scaled = graph.has(0) ? graph.maker(erf->inputs[0]) : nullptr;
  const OnnxNode* const sum = graph.onlyReader(erf, "Add");
  const OnnxNode* const product = graph.onlyReader(sum, "Mul");
  const OnnxNode* const half = graph.onlyReader(product, "Mul");
  const auto numberIn = [&](const OnnxNode* node, std::size_t input) { return graph.numberCalled(node->inputs[input]); };
  const auto isBinary = [](const OnnxNode* node) { return node != nullptr && node->inputs.size() == 2; };
  const bool isScaled = isBinary(scaled) && isBinary(sum) && isBinary(product) && isBinary(half) &&
                        ((scaled->op == "Div" && isAbout(numberIn(scaled, 1), std::sqrt(2.0))) ||
                         (scaled->op == "Mul" && isAbout(numberIn(scaled, 1), std::sqrt(0.5))));
  const auto holds = [&](const OnnxNode* node, double value) {
    return isAbout(numberIn(node, 0), value) || isAbout(numberIn(node, 1), value);
  };
  const auto reads = [&](const OnnxNode* node, const std::string& name) {
    return node->inputs[0] == name || node->inputs[1] == name;
  };
  if (!isScaled || !holds(sum, 1) || !holds(half, 0.5) || !reads(product, scaled->inputs[0]))
    throw NoForm{"it is no part of a gelu"};
  OnnxTensor& x = graph.known(scaled->inputs[0]);
  OnnxTensor result;
  result.facts = x.facts;
  result.value = graph.add("gelu.default", {valueArgument(graph.valueOf(x, scaled->inputs[0], ""))}, x.facts);
  graph.done.insert({sum, product, half});
  graph.name(half->outputs[0], std::move(result));
}

void gelu(OnnxGraph& graph) {
  Argument approximate = textArgument(graph.text("approximate", "none"));
  graph.give("gelu.default", {graph.operand(0), std::move(approximate)}, graph.shape(0));
}

void cast(OnnxGraph& graph) {
  static const std::map<std::int64_t, const char*> kTypes = {{1, "float32"},  {6, "int32"},    {7, "int64"},   {9, "bool"},
                                                             {10, "float32"}, {11, "float32"}, {16, "float32"}};
  const auto type = kTypes.find(graph.integer("to", 0));
  if (type == kTypes.end()) throw NoForm{fmt::format("element type {}", graph.integer("to", 0))};
  OnnxTensor& operand = graph.in(0);
  const bool isWhole = std::string_view(type->second).starts_with("int");
  const Facts facts = {operand.facts.shape, type->second};
  if (operand.facts.type == type->second) return graph.giveSame(0);
  if (isWhole && operand.isOfSizes()) {
    OnnxTensor same;
    same.facts = facts;
    same.sizes = graph.sizes(0);
    return graph.giveOn(std::move(same));
  }
  const bool isKnown = !operand.value && operand.rank() == 0;
  const std::optional<double> number = isKnown ? graph.number(0) : std::nullopt;
  if (number && !isWhole && std::string_view(type->second) != "bool") {
    OnnxTensor same;
    same.facts = facts;
    same.real = number;
    return graph.giveOn(std::move(same));
  }
  if (isKnown && !number && operand.sizes && !isWhole)
    throw NoForm{"it computes with a size that is open: export the model for a fixed one"};
  graph.give("to.dtype", {graph.operand(0)}, facts);
}

void sizesOrArithmetic(OnnxGraph& graph, std::string_view op, const char* word, double (*compute)(double, double)) {
  if (graph.in(0).isOfSizes() && graph.in(1).isOfSizes()) return onnxSizes().at(op)(graph);
  if (isFolded(graph, compute)) return;
  arithmetic(graph, word);
}

/// Of an element: alpha * x + beta, from 0 to 1.
void hardSigmoid(OnnxGraph& graph) {
  const double alpha = graph.real("alpha", 0.2), beta = graph.real("beta", 0.5);
  if (isAbout(alpha, 1.0 / 6) && beta == 0.5) return unary(graph, "hardsigmoid.default");
  const Facts facts = graph.in(0).facts;
  const ValueId product = graph.add("mul.Tensor", {graph.operand(0), realArgument(alpha)}, facts);
  const ValueId sum = graph.add("add.Tensor", {valueArgument(product), realArgument(beta)}, facts);
  graph.give("clamp.default", {valueArgument(sum), realArgument(0), realArgument(1)}, facts);
}

void selu(OnnxGraph& graph) {
  if (!isAbout(graph.real("alpha", 1.67326319), 1.67326319) || !isAbout(graph.real("gamma", 1.05070102), 1.05070102))
    throw NoForm{"alpha or gamma are not those of its paper"};
  unary(graph, "selu.default");
}

/// A slope for what is below 0, broadcast to the operand.
void slopedRelu(OnnxGraph& graph) {
  const Facts facts = graph.in(0).facts;
  if (broadcast(facts.shape, graph.shape(1)) != facts.shape) throw Damaged{"its slope does not fit"};
  const Argument x = graph.operand(0);
  const ValueId below = graph.add("lt.Scalar", {x, realArgument(0)}, {facts.shape, "bool"});
  const ValueId product = graph.add("mul.Tensor", {x, graph.operand(1)}, facts);
  graph.give("where.self", {valueArgument(below), valueArgument(product), x}, facts);
}

}  // namespace

const OnnxOperators& onnxElements() {
  static const OnnxOperators kOperators = {
      {"Relu", [](OnnxGraph& graph) { unary(graph, "relu.default"); }},
      {"Sigmoid", [](OnnxGraph& graph) { unary(graph, "sigmoid.default"); }},
      {"Tanh", [](OnnxGraph& graph) { unary(graph, "tanh.default"); }},
      {"Exp", [](OnnxGraph& graph) { unary(graph, "exp.default"); }},
      {"Log", [](OnnxGraph& graph) { unary(graph, "log.default"); }},
      {"Sqrt",
       [](OnnxGraph& graph) {
         if (!isFolded(graph, [](double a, double) { return std::sqrt(a); })) unary(graph, "sqrt.default");
       }},
      {"Abs", [](OnnxGraph& graph) { unary(graph, "abs.default"); }},
      {"Sign", [](OnnxGraph& graph) { unary(graph, "sign.default"); }},
      {"Ceil", [](OnnxGraph& graph) { unary(graph, "ceil.default"); }},
      {"Floor", [](OnnxGraph& graph) { unary(graph, "floor.default"); }},
      {"Sin", [](OnnxGraph& graph) { unary(graph, "sin.default"); }},
      {"Cos", [](OnnxGraph& graph) { unary(graph, "cos.default"); }},
      {"Neg", [](OnnxGraph& graph) { unary(graph, "neg.default"); }},
      {"Reciprocal", [](OnnxGraph& graph) { unary(graph, "reciprocal.default"); }},
      {"Not", negation},
      {"Softplus", [](OnnxGraph& graph) { unary(graph, "softplus.default"); }},
      {"HardSwish", [](OnnxGraph& graph) { unary(graph, "hardswish.default"); }},
      {"Mish", [](OnnxGraph& graph) { unary(graph, "mish.default"); }},
      {"Selu", selu},
      {"HardSigmoid", hardSigmoid},
      {"PRelu", slopedRelu},
      {"Elu",
       [](OnnxGraph& graph) {
         graph.give("elu.default", {graph.operand(0), realArgument(graph.real("alpha", 1))}, graph.shape(0));
       }},
      {"LeakyRelu",
       [](OnnxGraph& graph) {
         graph.give("leaky_relu.default", {graph.operand(0), realArgument(graph.real("alpha", 0.01))}, graph.shape(0));
       }},
      {"Add", [](OnnxGraph& graph) { sizesOrArithmetic(graph, "Add", "add", [](double a, double b) { return a + b; }); }},
      {"Sub", [](OnnxGraph& graph) { sizesOrArithmetic(graph, "Sub", "sub", [](double a, double b) { return a - b; }); }},
      {"Mul", [](OnnxGraph& graph) { sizesOrArithmetic(graph, "Mul", "mul", [](double a, double b) { return a * b; }); }},
      {"Div", [](OnnxGraph& graph) { sizesOrArithmetic(graph, "Div", "div", [](double a, double b) { return a / b; }); }},
      {"Mod", remainder},
      {"Sum", [](OnnxGraph& graph) { chained(graph, "add.Tensor"); }},
      {"Max", [](OnnxGraph& graph) { chained(graph, "maximum.default"); }},
      {"Min", [](OnnxGraph& graph) { chained(graph, "minimum.default"); }},
      {"Less", [](OnnxGraph& graph) { comparison(graph, "lt"); }},
      {"LessOrEqual", [](OnnxGraph& graph) { comparison(graph, "le"); }},
      {"Greater", [](OnnxGraph& graph) { comparison(graph, "gt"); }},
      {"GreaterOrEqual", [](OnnxGraph& graph) { comparison(graph, "ge"); }},
      {"Equal", [](OnnxGraph& graph) { comparison(graph, "eq"); }},
      {"And", [](OnnxGraph& graph) { logical(graph, "logical_and.default"); }},
      {"Or", [](OnnxGraph& graph) { logical(graph, "logical_or.default"); }},
      {"Pow", power},
      {"Clip", clip},
      {"Where", choice},
      {"Softmax", [](OnnxGraph& graph) { softmax(graph, "softmax.int"); }},
      {"LogSoftmax", [](OnnxGraph& graph) { softmax(graph, "log_softmax.int"); }},
      {"Erf", errorFunction},
      {"Gelu", gelu},
      {"Cast", cast}};
  return kOperators;
}

}  // namespace tbem::imports
