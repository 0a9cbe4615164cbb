// Pooling, sums and extrema.
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

/// What a pooling's arguments say, one number a dimension.
struct Windows {
  Numbers kernel, stride, pad;
  bool ceils = false;  ///< the last window may reach over the edge, and there is one that does
  Numbers behind;      ///< how far it reaches beyond the padding
};

std::optional<Windows> windowsOf(const NodeReader& node, std::size_t dimensions, bool isMax) {
  Windows windows{node.integers(1, "kernel_size", dimensions), node.integers(2, "stride", dimensions),
                  node.integers(3, "padding", dimensions), false, Numbers(dimensions, 0)};
  if (windows.kernel.size() != dimensions || node.facts(0).rank() != dimensions + 2 || node.result().rank() != dimensions + 2)
    return std::nullopt;
  if (windows.stride.empty()) windows.stride = windows.kernel;
  if (windows.pad.empty()) windows.pad.assign(dimensions, 0);
  const bool asked = node.flag(isMax ? 5 : 4, "ceil_mode", false);
  for (std::size_t d = 0; d < dimensions && asked; ++d) {
    const std::int64_t length = node.dimension(0, d + 2).number + 2 * windows.pad[d];
    const std::int64_t reached = (node.result().shape[d + 2].number - 1) * windows.stride[d] + windows.kernel[d];
    windows.behind[d] = std::max<std::int64_t>(0, reached - length);
    // Of a dimension that is open it depends on its size whether there is one.
    windows.ceils = windows.ceils || windows.behind[d] > 0 || !node.dimension(0, d + 2).symbolic.empty();
  }
  return windows;
}

std::optional<Expression> pooled(const NodeReader& node, std::size_t dimensions, bool isMax) {
  const std::optional<Windows> windows = windowsOf(node, dimensions, isMax);
  if (!windows) return std::nullopt;
  bool counts = isMax || node.flag(5, "count_include_pad", true);
  Numbers pad = windows->pad;
  if (isMax) {
    const Numbers dilation = node.integers(4, "dilation", dimensions);
    if (std::any_of(dilation.begin(), dilation.end(), [](std::int64_t d) { return d != 1; })) return std::nullopt;
  } else if (node.has(6, "divisor_override")) {
    return std::nullopt;
  }
  if (dimensions != 2 && windows->ceils) return std::nullopt;
  if (!isMax && windows->ceils) {  // what lies behind the padding does not count
    const bool isPadded = std::any_of(pad.begin(), pad.end(), [](std::int64_t p) { return p != 0; });
    const bool isOpen = !node.dimension(0, 2).symbolic.empty() || !node.dimension(0, 3).symbolic.empty();
    if ((isPadded && counts) || isOpen) return std::nullopt;
    counts = false;
    pad = {pad[0], pad[1], pad[0] + windows->behind[0], pad[1] + windows->behind[1]};
  }
  const auto sizes = [&](const char* name, const Numbers& numbers) {
    return dimensions == 3 ? node.hole(name, listText(numbers)) : node.even(name, numbers);
  };
  const auto standardOf = [&](const Numbers& numbers) {
    const bool agree = std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t n) { return n == numbers.front(); });
    return dimensions != 3 && agree ? std::to_string(numbers.front()) : listText(numbers);
  };
  std::vector<emit::Argument> arguments = {{"kernel", sizes("kernel", windows->kernel), ""},
                                           {"stride", sizes("stride", windows->stride), standardOf(windows->kernel)},
                                           {"pad", sizes("pad", pad), dimensions == 3 ? "[0, 0, 0]" : "0"}};
  if (isMax && dimensions == 2)
    arguments.push_back({"ceil_mode", node.hole("ceil_mode", windows->ceils ? "true" : "false"), "false"});
  if (!isMax) arguments.push_back({"count_include_pad", node.hole("count_include_pad", counts ? "true" : "false"), "true"});
  return call(fmt::format("{}_pool{}d", isMax ? "max" : "avg", dimensions), {node.operand(0)}, std::move(arguments));
}

/// The mean of each box is that along the depth of the means of its planes.
std::optional<Expression> averagedBoxes(const NodeReader& node) {
  const std::optional<Windows> windows = windowsOf(node, 3, false);
  if (!windows || windows->ceils || node.has(6, "divisor_override")) return std::nullopt;
  const std::vector<Size>&before = node.facts(0).shape, &after = node.result().shape;
  const char* const counts = node.flag(5, "count_include_pad", true) ? "" : ", count_include_pad: false";
  const auto pair = [&](const char* name, const Numbers& numbers, std::size_t first) {
    const bool agree = numbers[1] == numbers[2];
    return first == 0 ? fmt::format("[{}, {}]", node.hole(name, numbers[0]), name == std::string_view("pad") ? 0 : 1)
           : agree    ? node.hole(name, numbers[1])
                      : node.hole(name, listText({numbers[1], numbers[2]}));
  };
  const auto pool = [&](std::size_t first) {
    return fmt::format("avg_pool2d(kernel: {}, stride: {}, pad: {}{})", pair("kernel", windows->kernel, first),
                       pair("stride", windows->stride, first), pair("pad", windows->pad, first), counts);
  };
  const auto size = [&](const Size& one) { return node.size(one, "size"); };
  Expression made;
  made.text = fmt::format(
      "{} |> reshape(shape: [{}, {} * {}, {}, {}]) |> {} |> reshape(shape: [{}, {}, {}, {} * {}]) |> {} |> reshape(shape: {})",
      node.operand(0, Binding::Atom), size(before[0]), size(before[1]), size(before[2]), size(before[3]), size(before[4]),
      pool(1), size(before[0]), size(before[1]), size(before[2]), size(after[3]), size(after[4]), pool(0), node.shape(after));
  made.binding = kPipe;
  return made;
}

std::optional<Expression> adaptive(const NodeReader& node, bool isMax) {
  const Numbers size = node.integers(1, "output_size", 2);
  return call(isMax ? "adaptive_max_pool2d" : "adaptive_avg_pool2d", {node.operand(0)}, {{"size", node.even("size", size), ""}});
}

/// Axes from the front; all where none are given.
Numbers axesOf(const NodeReader& node, std::size_t position) {
  const auto rank = static_cast<std::int64_t>(node.facts(0).rank());
  Numbers axes = node.integers(position, "dim");
  if (std::any_of(axes.begin(), axes.end(), [&](std::int64_t axis) { return axis < -rank || axis >= rank; })) throw UnlikeNode();
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

/// Variance or standard deviation, of a sample where `correction` is not 0.
std::optional<Expression> spread(const NodeReader& node, bool isRoot) {
  const Argument& second = node.at(1, "dim");
  const bool saysUnbiased = second.kind == Argument::Kind::Bool;  // var(x, unbiased)
  const bool unbiased = node.node.op.ends_with(".dim") ? node.flag(2, "unbiased", true) : !saysUnbiased || second.integer != 0;
  const double correction = node.node.named.contains("correction") ? node.real(9, "correction", 1) : unbiased ? 1 : 0;
  const Numbers axes = saysUnbiased ? axesOf(node, 9) : axesOf(node, 1);
  double count = 1;
  for (const std::int64_t axis : axes) {
    const Size& size = node.dimension(0, static_cast<std::size_t>(axis));
    if (correction != 0 && !size.symbolic.empty()) return std::nullopt;
    count *= static_cast<double>(size.number);
  }
  const std::optional<std::string> factor = count > correction ? numberText(count / (count - correction)) : std::nullopt;
  if (!factor) return std::nullopt;
  Expression made = reduced(node, "variance", node.operand(0), axes, node.result());
  if (correction == 0 && !isRoot) return made;
  if (!made.callee.empty()) made.text = fmt::format("variance({}, axis: {})", made.tensors[0], made.arguments[0].text);
  made.callee.clear();
  if (correction != 0 && made.binding == kPipe) made.text = "(" + made.text + ")";
  if (correction != 0) made.text += " * " + node.hole("factor", *factor);
  if (isRoot) made.text = fmt::format("sqrt({})", made.text);
  made.binding = isRoot ? Binding::Atom : Binding::Product;
  return made;
}

/// The number of the extreme element along an axis, or among all.
std::optional<Expression> extremeOf(const NodeReader& node, const char* word) {
  const std::size_t rank = node.facts(0).rank();
  if (rank == 0) return std::nullopt;
  const bool isAll = !node.has(1, "dim");
  const auto axis = isAll ? std::int64_t{0} : static_cast<std::int64_t>(node.axis(1, "dim", 0, rank));
  std::string text = node.asReal(0);
  if (isAll && rank > 1) {
    std::string count;
    for (const Size& size : node.facts(0).shape) count += (count.empty() ? "" : " * ") + node.size(size, "size");
    text = fmt::format("reshape({}, shape: [{}])", text, count);
  }
  Expression made;
  made.text = fmt::format("{}({}, axis: {})", word, text, node.hole("axis", axis));
  if (!node.flag(2, "keepdim", false)) return made;
  made.text += " |> reshape(shape: " + node.shape(node.result().shape) + ")";
  made.binding = kPipe;
  return made;
}

/// Sums of integers, and whether any or all elements are true.
std::optional<Expression> countedUp(const NodeReader& node, std::string_view word) {
  const bool isAll = word == "all", isSum = word == "sum";
  const Marked numbers = isAll ? fmt::format("as_real(cast(equal_scalar({}, 0), to: i64))", node.operand(0))
                         : node.facts(0).type == "bool" || isSum
                             ? node.asReal(0)
                             : fmt::format("as_real(cast(not_equal_scalar({}, 0), to: i64))", node.operand(0));
  const Expression sum = reduced(node, "sum", numbers, axesOf(node, 1), node.result());
  const std::string text =
      sum.callee.empty() ? sum.text : fmt::format("sum({}, axis: {})", sum.tensors[0], sum.arguments[0].text);
  Expression made;
  made.text = isSum   ? fmt::format("cast({}, to: i64)", text)
              : isAll ? fmt::format("equal_scalar({}, 0)", text)
                      : fmt::format("greater_scalar({}, 0)", text);
  return made;
}

}  // namespace

std::optional<Expression> reducedOf(const NodeReader& node, std::string_view word) {
  for (std::size_t dimensions = 1; dimensions <= 3; ++dimensions) {
    if (word == fmt::format("max_pool{}d", dimensions)) return pooled(node, dimensions, true);
    if (dimensions < 3 && word == fmt::format("avg_pool{}d", dimensions)) return pooled(node, dimensions, false);
  }
  if (word == "avg_pool3d") return averagedBoxes(node);
  if (word == "adaptive_avg_pool2d") return adaptive(node, false);
  if (word == "adaptive_max_pool2d" && node.node.parts.empty()) return adaptive(node, true);
  if (word == "var" || word == "std") return spread(node, word == "std");
  if (word == "argmax" || word == "argmin") return extremeOf(node, word == "argmax" ? "argmax" : "argmin");
  if (word == "any" || word == "all" || (word == "sum" && isIntegral(node.result()))) return countedUp(node, word);
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
