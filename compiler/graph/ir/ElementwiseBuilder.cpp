#include "compiler/graph/ir/ElementwiseBuilder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tbem::graph {

namespace {
/// The FLOP part that a node counts as; empty: logic, choices and casts compute no number.
std::string_view partOf(ElemOp op) {
  switch (op) {
    case ElemOp::Add:
    case ElemOp::Sub:
    case ElemOp::Neg:
      return "add";
    case ElemOp::Mul:
      return "mul";
    case ElemOp::Div:
      return "divide";
    case ElemOp::Minimum:
    case ElemOp::Maximum:
    case ElemOp::Equal:
    case ElemOp::Less:
    case ElemOp::LessEqual:
      return "cmp";
    case ElemOp::Abs:
      return "abs";
    case ElemOp::Exp:
      return "exp";
    case ElemOp::Log:
      return "log";
    case ElemOp::Sqrt:
      return "sqrt";
    case ElemOp::Rsqrt:
      return "rsqrt";
    case ElemOp::Pow:
      return "pow";
    case ElemOp::Tanh:
      return "tanh";
    case ElemOp::Erf:
      return "erf";
    case ElemOp::Sin:
      return "sin";
    case ElemOp::Cos:
      return "cos";
    case ElemOp::Floor:
      return "floor";
    default:
      return {};
  }
}

using Names = ElementwiseBuilder::Names;

/// Where dimension k of an operand lies in the result, by name: the second `k` of [k, k] is the second there. -1: no name says.
std::int64_t axisByName(const Names& labels, std::size_t k, const Names& result) {
  if (k >= labels.size() || labels[k].empty()) return -1;
  const auto earlier = std::count(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(k), labels[k]);
  auto at = std::find(result.begin(), result.end(), labels[k]);
  for (auto i = earlier; i > 0 && at != result.end(); --i) at = std::find(at + 1, result.end(), labels[k]);
  return at == result.end() ? -1 : at - result.begin();
}

/// A name that the operand and the result have a different number of times, or that the result has not although its dimension
/// there has another: no rule says which is meant. Empty: nothing is wrong.
std::string ambiguity(const Names& labels, std::size_t k, const Names& result, std::int64_t axis) {
  if (k >= labels.size() || labels[k].empty()) return "";
  const auto here = std::count(labels.begin(), labels.end(), labels[k]),
             there = std::count(result.begin(), result.end(), labels[k]);
  if (there != 0 && here != there)
    return fmt::format("it has it {} and the result {}", here == 1 ? "once" : fmt::format("{} times", here),
                       there == 1 ? "once" : fmt::format("{} times", there));
  const bool isPlain = labels[k].find('#') == std::string::npos;  // dimensions of a spread `..s` align on the right
  const bool other =
      axis >= 0 && axis < static_cast<std::int64_t>(result.size()) && !result[static_cast<std::size_t>(axis)].empty();
  if (there == 0 && isPlain && other) return "the result has none of that name";
  return "";
}

std::uint64_t hashOf(const ElemNode& node) {
  std::uint64_t h = static_cast<std::uint64_t>(node.op);
  for (const std::uint64_t part : {std::uint64_t{node.a}, std::uint64_t{node.b}, std::uint64_t{node.c}, std::uint64_t{node.input},
                                   static_cast<std::uint64_t>(node.value.num), static_cast<std::uint64_t>(node.value.den),
                                   static_cast<std::uint64_t>(node.scalar)}) {
    h = (h ^ part) * 0xFF51AFD7ED558CCDULL;
    h ^= h >> 32;
  }
  return h;
}

bool isSame(const ElemNode& left, const ElemNode& right) {
  return left.op == right.op && left.a == right.a && left.b == right.b && left.c == right.c && left.input == right.input &&
         left.value == right.value && left.scalar == right.scalar && left.stream == right.stream;
}
}  // namespace

std::uint64_t randomStream(std::string_view path) {
  std::uint64_t h = 0xCBF29CE484222325ULL;  // FNV-1a
  for (const char c : path) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return h;
}

ElementwiseBuilder::ElementwiseBuilder(GraphBuilder& graph, sema::ExprPool& pool, std::vector<ExprId> shape, Names names,
                                       std::string_view path)
    : graph(graph), pool(pool), shapeOfResults(std::move(shape)), names(std::move(names)), stream(randomStream(path)) {
  constexpr std::size_t kUsualNodes = 8, kUsualOperands = 4;
  nodes.reserve(kUsualNodes);
  hashes.reserve(kUsualNodes);
  varies.reserve(kUsualNodes);
  operands.reserve(kUsualOperands);
  inputs.reserve(kUsualOperands);
}

// ---- Nodes ------------------------------------------------------------------------------------------------------------

ElementwiseBuilder::Node ElementwiseBuilder::add(ElemNode node, bool nodeVaries) {
  const std::uint64_t hash = hashOf(node);
  for (auto same = std::ranges::find(hashes, hash); same != hashes.end(); same = std::find(same + 1, hashes.end(), hash)) {
    const auto at = static_cast<Node>(same - hashes.begin());
    if (isSame(nodes[at], node)) return at;
  }
  const auto at = static_cast<Node>(nodes.size());
  nodes.push_back(node);
  varies.push_back(nodeVaries);
  hashes.push_back(hash);
  return at;
}

ElementwiseBuilder::Node ElementwiseBuilder::operation(ElemOp op, Node a, Node b, Node c) {
  ElemNode node;
  node.op = op;
  node.a = a;
  node.b = b;
  node.c = c;
  if (op == ElemOp::Random) {
    // The first is numbered as in the operator's gradient, and so are the others in their order.
    node.stream = stream + randoms++ * 0x9E3779B97F4A7C15U;
    return add(node, true);
  }
  const int count = operandCount(op);
  return add(node, varies[a] || (count > 1 && varies[b]) || (count > 2 && varies[c]));
}

ElementwiseBuilder::Node ElementwiseBuilder::constant(Rational value) {
  return add({.op = ElemOp::Constant, .value = value}, false);
}

ElementwiseBuilder::Node ElementwiseBuilder::scalar(ExprId value) { return add({.op = ElemOp::Scalar, .scalar = value}, false); }

ElementwiseBuilder::Node ElementwiseBuilder::coordinate(std::uint32_t dimension) {
  return add({.op = ElemOp::Index, .input = dimension}, true);
}

// ---- Operands ---------------------------------------------------------------------------------------------------------

ElementwiseBuilder::Alignment ElementwiseBuilder::align(const std::vector<ExprId>& operand, const Names& namesOfOperand) const {
  Alignment result;
  result.operand.axes.reserve(operand.size());
  const bool isAlike = operand.size() == shapeOfResults.size() && namesOfOperand == names;  // as most are
  for (std::size_t k = 0; k < operand.size(); ++k) {
    std::int64_t axis = isAlike ? static_cast<std::int64_t>(k) : axisByName(namesOfOperand, k, names);
    if (axis < 0) axis = static_cast<std::int64_t>(shapeOfResults.size()) - static_cast<std::int64_t>(operand.size() - k);
    if (!isAlike) result.why = ambiguity(namesOfOperand, k, names, axis);
    const bool one = pool.constantValue(operand[k]) == Rational::of(1);
    if (!result.why.empty())
      result.fault = Alignment::Fault::Ambiguous;
    else if (axis < 0 && !one)
      result.fault = Alignment::Fault::TooManyDimensions;
    if (result.fault != Alignment::Fault::None) return result;
    const bool spread =
        one && (axis < 0 || pool.constantValue(shapeOfResults[static_cast<std::size_t>(axis)]) != Rational::of(1));
    result.operand.axes.push_back(spread ? -1 : static_cast<std::int32_t>(axis));
  }
  return result;
}

ElementwiseBuilder::Node ElementwiseBuilder::operand(TensorId tensor, ElemOperand reading) {
  const auto position = static_cast<std::uint32_t>(inputs.size());
  inputs.push_back(tensor);
  operands.push_back(std::move(reading));
  return add({.op = ElemOp::Input, .input = position}, true);
}

// ---- The operator -----------------------------------------------------------------------------------------------------

std::vector<bool> ElementwiseBuilder::usedNodes() const {
  std::vector<bool> used(nodes.size(), false);
  for (const Node root : roots) used[root] = true;
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (!used[i]) continue;
    const int count = operandCount(nodes[i].op);
    if (count > 0) used[nodes[i].a] = true;
    if (count > 1) used[nodes[i].b] = true;
    if (count > 2) used[nodes[i].c] = true;
  }
  return used;
}

/// Leaves the nodes that are used, in their order, and the operands that those read.
void ElementwiseBuilder::drop(const std::vector<bool>& used) {
  std::vector<Node> place;
  place.reserve(used.size());
  Node left = 0;
  std::uint32_t read = 0;  // operands: one node each, in their order
  for (std::size_t i = 0; i < used.size(); ++i) {
    place.push_back(left);
    if (!used[i]) continue;
    ElemNode node = nodes[i];
    const int count = operandCount(node.op);
    if (count > 0) node.a = place[node.a];
    if (count > 1) node.b = place[node.b];
    if (count > 2) node.c = place[node.c];
    if (node.op == ElemOp::Input) {
      inputs[read] = inputs[node.input];
      if (read != node.input) operands[read] = std::move(operands[node.input]);
      node.input = read++;
    }
    nodes[left++] = node;
  }
  nodes.resize(left);
  operands.resize(read);
  inputs.resize(read);
  for (Node& root : roots) root = place[root];
}

Op ElementwiseBuilder::finish(std::vector<TensorId> results) {
  Op op;
  op.kind = OpKind::Elementwise;
  op.outputs = std::move(results);
  const std::vector<bool> used = usedNodes();
  op.flops = flopsOf(used);
  if (std::ranges::find(used, false) != used.end()) drop(used);
  op.inputs = std::move(inputs);
  op.elementwise = {std::move(nodes), std::move(roots), std::move(operands)};
  return op;
}

/// One for each arithmetic node and element; what depends on scalars alone is computed once and not counted.
std::vector<FlopPart> ElementwiseBuilder::flopsOf(const std::vector<bool>& used) {
  constexpr std::size_t kUsual = 4;
  std::vector<std::pair<std::string_view, std::int64_t>> counts;
  counts.reserve(kUsual);
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string_view part = used[i] && varies[i] ? partOf(nodes[i].op) : std::string_view();
    if (part.empty()) continue;
    const auto known = std::ranges::find(counts, part, &decltype(counts)::value_type::first);
    if (known == counts.end())
      counts.emplace_back(part, 1);
    else
      ++known->second;
  }
  std::vector<FlopPart> flops;
  if (counts.empty()) return flops;
  std::ranges::sort(counts);
  flops.reserve(counts.size());
  const ExprId elements = graph.elementCount(shapeOfResults);
  for (const auto& [part, count] : counts)
    flops.push_back({std::string(part), pool.make(sema::ExprOp::Mul, elements, pool.constant(count))});
  return flops;
}

}  // namespace tbem::graph
