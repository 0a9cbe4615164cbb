// Pooling, sums and extrema.
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

std::optional<Expression> pooled(const NodeReader& node, std::size_t dimensions, bool isMax) {
  const Numbers kernel = node.integers(1, "kernel_size", dimensions);
  Numbers stride = node.integers(2, "stride", dimensions), pad = node.integers(3, "padding", dimensions);
  if (stride.empty()) stride = kernel;
  if (pad.empty()) pad.assign(dimensions, 0);
  const bool ceils = node.flag(isMax ? 5 : 4, "ceil_mode", false);
  if (isMax) {
    const Numbers dilation = node.integers(4, "dilation", dimensions);
    if (std::any_of(dilation.begin(), dilation.end(), [](std::int64_t d) { return d != 1; })) return std::nullopt;
  } else if (node.has(6, "divisor_override") || ceils) {
    return std::nullopt;
  }
  if (dimensions != 2 && ceils) return std::nullopt;
  const auto sizes = [&](const char* name, const Numbers& numbers) {
    return dimensions == 3 ? node.hole(name, listText(numbers)) : node.even(name, numbers);
  };
  const auto standardOf = [&](const Numbers& numbers) {
    const bool agree = std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t n) { return n == numbers.front(); });
    return dimensions != 3 && agree ? std::to_string(numbers.front()) : listText(numbers);
  };
  std::vector<emit::Argument> arguments = {{"kernel", sizes("kernel", kernel), ""},
                                           {"stride", sizes("stride", stride), standardOf(kernel)},
                                           {"pad", sizes("pad", pad), dimensions == 3 ? "[0, 0, 0]" : "0"}};
  if (isMax && dimensions == 2) arguments.push_back({"ceil_mode", node.hole("ceil_mode", ceils ? "true" : "false"), "false"});
  if (!isMax)
    arguments.push_back({"count_include_pad",
                         node.hole("count_include_pad", node.flag(5, "count_include_pad", true) ? "true" : "false"), "true"});
  return call(fmt::format("{}_pool{}d", isMax ? "max" : "avg", dimensions), {node.operand(0)}, std::move(arguments));
}

std::optional<Expression> adaptive(const NodeReader& node, bool isMax) {
  const Numbers size = node.integers(1, "output_size", 2);
  return call(isMax ? "adaptive_max_pool2d" : "adaptive_avg_pool2d", {node.operand(0)}, {{"size", node.even("size", size), ""}});
}

/// Axes from the front; all where none are given.
Numbers axesOf(const NodeReader& node, std::size_t position) {
  const auto rank = static_cast<std::int64_t>(node.facts(0).rank());
  Numbers axes = node.integers(position, "dim");
  if (axes.empty()) {
    axes.resize(static_cast<std::size_t>(rank));
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (std::int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  return axes;
}

/// The reduction of this word, with the axes of length 1 that `keepdim` leaves.
Expression reduced(const NodeReader& node, const char* word, const Marked& operand, const Numbers& axes, const Facts& result) {
  const std::string axis = node.hole("axis", axes.size() == 1 ? std::to_string(axes.front()) : listText(axes));
  Expression made;
  if (result.rank() + axes.size() == node.facts(0).rank()) return call(word, {operand}, {{"axis", axis, ""}});
  made.text = fmt::format("{}({}, axis: {}) |> reshape(shape: {})", word, operand, axis, node.shape(result.shape));
  made.binding = kPipe;
  return made;
}

std::optional<Expression> normOf(const NodeReader& node) {  // linalg_vector_norm(x, ord, dim, keepdim)
  if (node.real(1, "ord", 2) != 2) return std::nullopt;
  const Numbers axes = axesOf(node, 2);
  Expression sum = reduced(node, "sum", fmt::format("square({})", node.operand(0)), axes, node.result());
  if (!sum.callee.empty()) {
    Expression made;
    made.text = fmt::format("sqrt(sum({}, axis: {}))", sum.tensors[0], sum.arguments[0].text);
    return made;
  }
  sum.text += " |> sqrt";
  return sum;
}

}  // namespace

std::optional<Expression> reducedOf(const NodeReader& node, std::string_view word) {
  for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
    if (word == fmt::format("max_pool{}d", dimensions)) return pooled(node, dimensions, true);
    if (dimensions < 3 && word == fmt::format("avg_pool{}d", dimensions)) return pooled(node, dimensions, false);
  }
  if (word == "adaptive_avg_pool2d") return adaptive(node, false);
  if (word == "mean") return reduced(node, "mean", node.operand(0), axesOf(node, 1), node.result());
  if (word == "sum") return reduced(node, "sum", node.operand(0), axesOf(node, 1), node.result());
  if (word == "amax") return reduced(node, "max", node.operand(0), axesOf(node, 1), node.result());
  if (word == "amin") return reduced(node, "min", node.operand(0), axesOf(node, 1), node.result());
  if (word == "linalg_vector_norm") return normOf(node);
  if (word == "adaptive_avg_pool1d" && node.integers(1, "output_size") == Numbers{1})
    return reduced(node, "mean", node.operand(0), {static_cast<std::int64_t>(node.facts(0).rank()) - 1}, node.result());
  if (word == "adaptive_avg_pool3d") {
    const Numbers size = node.integers(1, "output_size", 3);
    const auto rank = static_cast<std::int64_t>(node.facts(0).rank());
    if (std::any_of(size.begin(), size.end(), [](std::int64_t s) { return s != 1; })) return std::nullopt;
    return reduced(node, "mean", node.operand(0), {rank - 3, rank - 2, rank - 1}, node.result());
  }
  return std::nullopt;
}

}  // namespace tbem::imports
