// ONNX's operators that compute shapes, and constants: what is known when the model is read.
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tbem::imports {

namespace {

void constant(OnnxGraph& graph) {
  using Kind = OnnxAttribute::Kind;
  const auto& attributes = graph.node->attributes;
  if (const auto at = attributes.find("value"); at != attributes.end() && at->second.kind == Kind::Tensor) {
    OnnxTensor tensor;
    tensor.data = &at->second.tensor;
    tensor.facts.type = torchType(at->second.tensor.dtype);
    for (const std::int64_t size : at->second.tensor.shape) tensor.facts.shape.push_back(sizeOf(size));
    return graph.giveOn(std::move(tensor));
  }
  if (const auto at = attributes.find("value_float"); at != attributes.end() && at->second.kind == Kind::Real) {
    OnnxTensor tensor;
    tensor.facts.type = "float32";
    tensor.real = at->second.real;
    return graph.giveOn(std::move(tensor));
  }
  if (const auto at = attributes.find("value_int"); at != attributes.end() && at->second.kind == Kind::Integer)
    return graph.giveSizes({sizeOf(at->second.integer)}, {});
  const auto at = attributes.find("value_ints");
  if (at == attributes.end() || at->second.kind != Kind::Integers) throw NoForm{"it has no tensor of numbers"};
  std::vector<Size> sizes;
  for (const std::int64_t number : at->second.integers) sizes.push_back(sizeOf(number));
  const Size count = sizeOf(static_cast<std::int64_t>(sizes.size()));
  graph.giveSizes(std::move(sizes), {count});
}

void shapeOf(OnnxGraph& graph) {
  const std::vector<Size>& shape = graph.shape(0);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto from = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t given = graph.integer(name, otherwise);
    return std::clamp(given < 0 ? given + rank : given, std::int64_t{0}, rank);
  };
  const std::int64_t start = from("start", 0), end = std::max(from("end", rank), start);
  graph.giveSizes({shape.begin() + start, shape.begin() + end}, {sizeOf(end - start)});
}

using Arithmetic = std::function<Size(const Size&, const Size&)>;

void arithmetic(OnnxGraph& graph, const Arithmetic& compute, const char* type = "int64") {
  const std::vector<Size> left = graph.sizes(0), right = graph.sizes(1);
  const auto shape = broadcast(graph.shape(0), graph.shape(1));
  if (!shape) throw Damaged{"its operands do not fit"};
  std::vector<Size> sizes;
  if (left.empty() || right.empty()) throw NoForm{"it computes with no sizes"};
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i)
    sizes.push_back(compute(left[left.size() == 1 ? 0 : i], right[right.size() == 1 ? 0 : i]));
  graph.giveSizes(std::move(sizes), *shape, type);
}

Size divided(const Size& left, const Size& right) {
  if (right.number == 0) throw Damaged{"it divides by 0"};
  checkedSize(left.number);
  const std::optional<Size> exact = quotient(left, right);
  return exact ? *exact : computed(left.number / right.number, "a quotient", {left, right});
}

Size rest(const Size& left, const Size& right) {
  if (right.number == 0) throw Damaged{"it divides by 0"};
  checkedSize(left.number);
  const std::int64_t rest = left.number % right.number;  // with the sign of the left, as C has it
  const bool differs = rest != 0 && (rest < 0) != (right.number < 0);
  return computed(differs ? rest + right.number : rest, "a remainder", {left, right});
}

void remainder(OnnxGraph& graph) {
  if (graph.integer("fmod", 0) != 0) throw NoForm{"fmod"};
  arithmetic(graph, rest);
}

template <class Compare>
void comparison(OnnxGraph& graph) {
  arithmetic(
      graph,
      [](const Size& a, const Size& b) {
        if (!a.symbolic.empty() || !b.symbolic.empty()) throw NoForm{"it compares a size that is open"};
        return sizeOf(Compare()(a.number, b.number) ? 1 : 0);
      },
      "bool");
}

/// Of known sizes: those of the second where the first is not 0, else those of the third.
void chosen(OnnxGraph& graph) {
  const std::vector<Size> which = graph.in(0).sizes.value_or(std::vector<Size>()), yes = graph.sizes(1), no = graph.sizes(2);
  const auto fits = [&](const std::vector<Size>& some) { return some.size() == 1 || some.size() == which.size(); };
  if (!fits(yes) || !fits(no)) throw NoForm{"its operands are broadcast"};
  std::vector<Size> sizes;
  for (std::size_t i = 0; i < which.size(); ++i)
    sizes.push_back(which[i].number != 0 ? yes[yes.size() == 1 ? 0 : i] : no[no.size() == 1 ? 0 : i]);
  graph.giveSizes(std::move(sizes), graph.shape(0));
}

void filled(OnnxGraph& graph) {
  const std::vector<Size> shape = graph.sizes(0);
  if (std::ranges::any_of(shape, [](const Size& size) { return size.number < 0; }))
    throw Damaged{"a dimension of it is negative"};
  const auto at = graph.node->attributes.find("value");
  double value = 0;
  std::string type = "float32";
  if (at != graph.node->attributes.end()) {
    const auto tensor = data::toTensor(at->second.tensor, TBEM_F64);
    if (at->second.kind != OnnxAttribute::Kind::Tensor || !tensor || tensor->count() != 1)
      throw Damaged{"its value is no number"};
    value = tensor->doubles().front();
    type = torchType(at->second.tensor.dtype);
  }
  const bool isWhole = std::abs(value) < 1e9 && value == std::floor(value);
  constexpr std::int64_t kMost = 64;  // sizes of a list that computes shapes
  if (type == "int64" && isWhole && shape.size() == 1 && shape[0].symbolic.empty() && shape[0].number < kMost)
    return graph.giveSizes(std::vector<Size>(static_cast<std::size_t>(shape[0].number), sizeOf(static_cast<std::int64_t>(value))),
                           shape);
  graph.give("full.default", {Argument(), realArgument(value)}, Facts{shape, type});
}

/// Numbers from one to another, where they are known.
void range(OnnxGraph& graph) {
  if (graph.in(0).facts.type != "int64") throw NoForm{"it is not of i64"};
  const std::vector<Size> start = graph.sizes(0), end = graph.sizes(1), step = graph.sizes(2);
  if (start.size() != 1 || end.size() != 1 || step.size() != 1) throw Damaged{"its operands are not three numbers"};
  if (!start[0].symbolic.empty() || start[0].number != 0 || !step[0].symbolic.empty() || step[0].number != 1)
    throw NoForm{"it does not count from 0 by 1"};
  if (end[0].number < 0) throw NoForm{"it counts to a number below 0"};
  checkedSize(end[0].number);
  graph.give("arange.default", {integerArgument(end[0].number)}, Facts{{end[0]}, "int64"});
}

}  // namespace

const OnnxOperators& onnxSizes() {
  static const OnnxOperators kOperators = {
      {"Constant", constant},
      {"Shape", shapeOf},
      {"ConstantOfShape", filled},
      {"Range", range},
      {"Add",
       [](OnnxGraph& graph) {
         arithmetic(graph, [](const Size& a, const Size& b) {
           return computed(checkedSize(__int128{a.number} + b.number), "a sum", {a, b});
         });
       }},
      {"Sub",
       [](OnnxGraph& graph) {
         arithmetic(graph, [](const Size& a, const Size& b) {
           return computed(checkedSize(__int128{a.number} - b.number), "a difference", {a, b});
         });
       }},
      {"Where", chosen},
      {"Equal",
       [](OnnxGraph& graph) {
         arithmetic(
             graph, [](const Size& a, const Size& b) { return sizeOf(a == b ? 1 : 0); }, "bool");
       }},
      {"Less", comparison<std::less<>>},
      {"LessOrEqual", comparison<std::less_equal<>>},
      {"Greater", comparison<std::greater<>>},
      {"GreaterOrEqual", comparison<std::greater_equal<>>},
      {"Mul", [](OnnxGraph& graph) { arithmetic(graph, product); }},
      {"Div", [](OnnxGraph& graph) { arithmetic(graph, divided); }},
      {"Mod", remainder}};
  return kOperators;
}

}  // namespace tbem::imports
