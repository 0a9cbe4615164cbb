// ONNX's operators of windows: convolutions and pooling.
#include "compiler/import/onnx/OnnxGraph.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

/// What windows over the spatial dimensions have: convolutions and pooling.
struct Window {
  Numbers kernel, stride, dilation, low, high;
  bool isEven() const { return low == high; }
};

constexpr std::int64_t kMost = std::int64_t{1} << 20;  // of a window's sizes

/// So that there are as many windows as steps fit into the input.
std::int64_t samePadding(const Size& from, const Window& window, std::size_t d) {
  if (!from.symbolic.empty() && window.stride[d] != 1) throw NoForm{"its padding depends on a size that is open (auto_pad)"};
  const std::int64_t count = (from.number + window.stride[d] - 1) / window.stride[d];
  const std::int64_t reach = (count - 1) * window.stride[d] + window.dilation[d] * (window.kernel[d] - 1) + 1;
  return std::max(reach - from.number, std::int64_t{0});
}

Window windowOf(OnnxGraph& graph, Numbers kernel) {
  const std::size_t count = graph.in(0).rank() < 2 ? 0 : graph.in(0).rank() - 2;
  if (kernel.empty()) kernel = graph.integers("kernel_shape");
  if (count == 0 || kernel.size() != count) throw NoForm{fmt::format("its kernel has {} dimensions of {}", kernel.size(), count)};
  Window window{std::move(kernel), graph.integers("strides"), graph.integers("dilations"), {}, {}};
  if (window.stride.empty()) window.stride.assign(count, 1);
  if (window.dilation.empty()) window.dilation.assign(count, 1);
  if (window.stride.size() != count || window.dilation.size() != count)
    throw Damaged{"its strides are not one for each dimension"};
  Numbers pads = graph.integers("pads");
  const std::string automatic = graph.text("auto_pad", "NOTSET");
  for (const Numbers* numbers : {&window.kernel, &window.stride, &window.dilation}) {
    if (std::any_of(numbers->begin(), numbers->end(), [](std::int64_t n) { return n < 1 || n > kMost; }))
      throw NoForm{"a size of it is not from 1 to 2^20"};
  }
  if (pads.empty() || automatic == "VALID") pads.assign(2 * count, 0);
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    for (std::size_t d = 0; d < count; ++d) {
      const std::int64_t whole = samePadding(graph.shape(0)[d + 2], window, d), less = whole / 2;
      pads[d] = automatic == "SAME_UPPER" ? less : whole - less;
      pads[count + d] = whole - pads[d];
    }
  } else if (automatic != "NOTSET" && automatic != "VALID") {
    throw Damaged{"auto_pad " + automatic};
  }
  if (pads.size() != 2 * count) throw Damaged{"its pads are not two for each dimension"};
  if (std::any_of(pads.begin(), pads.end(), [](std::int64_t n) { return n < 0 || n > kMost; })) throw NoForm{"negative padding"};
  window.low.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(count));
  window.high.assign(pads.begin() + static_cast<std::ptrdiff_t>(count), pads.end());
  return window;
}

bool isSame(const Window& window, std::size_t d) {
  return window.low[d] + window.high[d] == window.dilation[d] * (window.kernel[d] - 1);
}

/// The spatial dimensions of the result.
std::vector<Size> slid(const std::vector<Size>& shape, const Window& window, bool ceils) {
  std::vector<Size> result;
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    const Size& from = shape[d + 2];
    const std::int64_t room = from.number + window.low[d] + window.high[d] - window.dilation[d] * (window.kernel[d] - 1) - 1;
    if (room < 0) throw NoForm{"its window is larger than its input"};
    std::int64_t count = room / window.stride[d] + 1;
    // A window that begins in the padding behind the input is left out.
    if (ceils && room % window.stride[d] != 0 && count * window.stride[d] < from.number + window.low[d]) ++count;
    if (count == from.number && window.stride[d] == 1 && isSame(window, d)) {  // for each size of the input
      result.push_back(from);
      continue;
    }
    result.push_back(computed(count, fmt::format("windows of {} by {}", window.kernel[d], window.stride[d]), {from}));
  }
  return result;
}

/// The operand with its padding, where the two sides differ.
Argument paddedOperand(OnnxGraph& graph, Window& window) {
  Argument operand = graph.operand(0);
  if (window.isEven()) return operand;
  Numbers pads;
  Facts facts = graph.in(0).facts;
  for (std::size_t d = window.kernel.size(); d-- > 0;) {
    pads.push_back(window.low[d]);
    pads.push_back(window.high[d]);
    const std::int64_t more = window.low[d] + window.high[d];
    facts.shape[d + 2] = computed(facts.shape[d + 2].number + more, fmt::format("{} more", more), {facts.shape[d + 2]});
  }
  window.low.assign(window.kernel.size(), 0);
  window.high = window.low;
  return valueArgument(graph.add("pad.default", {operand, listArgument(pads)}, facts));
}

void convolution(OnnxGraph& graph) {
  const std::vector<Size> weight = graph.shape(1);
  if (weight.size() < 3) throw NoForm{"its weight has no kernel"};
  Numbers kernel;
  for (std::size_t d = 2; d < weight.size(); ++d) kernel.push_back(weight[d].number);
  Window window = windowOf(graph, kernel);
  if (kernel.size() > 3) throw NoForm{"it is of more than three dimensions"};
  const std::int64_t group = graph.integer("group", 1);
  const bool fits =
      group > 0 && group <= kMost && weight[1].number * group == graph.shape(0)[1].number && weight[0].number % group == 0;
  if (!fits || weight.size() != graph.in(0).rank()) throw Damaged{"its weight does not fit its input"};
  if (graph.has(2)) graph.requireRow(2, weight[0]);
  std::vector<Size> shape = {graph.shape(0)[0], weight[0]};
  const std::vector<Size> space = slid(graph.shape(0), window, false);
  shape.insert(shape.end(), space.begin(), space.end());
  const Argument operand = paddedOperand(graph, window);
  graph.give(fmt::format("conv{}d.default", kernel.size()),
             {operand, graph.operand(1, "weight"), graph.operandOrNone(2, "bias"), listArgument(window.stride),
              listArgument(window.low), listArgument(window.dilation), integerArgument(group)},
             shape);
}

void transposedConvolution(OnnxGraph& graph) {
  const std::vector<Size> weight = graph.shape(1);
  if (weight.size() < 3) throw NoForm{"its weight has no kernel"};
  Numbers kernel;
  for (std::size_t d = 2; d < weight.size(); ++d) kernel.push_back(weight[d].number);
  const std::string automatic = graph.text("auto_pad", "NOTSET");
  if (automatic != "NOTSET" && automatic != "VALID") throw NoForm{"auto_pad " + automatic};
  const Window window = windowOf(graph, kernel);
  Numbers more = graph.integers("output_padding");
  if (more.empty()) more.assign(kernel.size(), 0);
  if (more.size() != kernel.size()) throw Damaged{"its output_padding is not one for each dimension"};
  if (kernel.size() != 2 || !window.isEven() || !graph.integers("output_shape").empty())
    throw NoForm{"it is not of two dimensions with even padding"};
  const std::int64_t groups = graph.integer("group", 1);
  if (groups < 1 || groups > kMost || weight[0].number != graph.shape(0)[1].number || weight[0].number % groups != 0)
    throw Damaged{"its weight does not fit its input"};
  if (graph.has(2)) graph.requireRow(2, product(weight[1], sizeOf(groups)));
  std::vector<Size> shape = {graph.shape(0)[0], product(weight[1], sizeOf(groups))};
  for (std::size_t d = 0; d < 2; ++d) {
    const Size& from = graph.shape(0)[d + 2];
    const std::int64_t size = checkedSize(__int128{from.number - 1} * window.stride[d] - 2 * window.low[d] +
                                          window.dilation[d] * (kernel[d] - 1) + __int128{more[d]} + 1);
    shape.push_back(computed(size, "a transposed convolution", {from}));
  }
  graph.give("conv_transpose2d.input",
             {graph.operand(0), graph.operand(1, "weight"), graph.operandOrNone(2, "bias"), listArgument(window.stride),
              listArgument(window.low), listArgument(more), integerArgument(groups), listArgument(window.dilation)},
             shape);
}

void pool(OnnxGraph& graph, bool isMax) {
  Window window = windowOf(graph, {});
  const std::size_t count = window.kernel.size();
  const bool ceils = graph.integer("ceil_mode", 0) != 0, countsPadding = graph.integer("count_include_pad", 0) != 0;
  const bool isEven = window.isEven();
  const auto is = [](const Numbers& numbers, std::int64_t n) {
    return std::ranges::all_of(numbers, [&](std::int64_t m) { return m == n; });
  };
  if (count > 2 || graph.results() > 1) throw NoForm{"it is of three dimensions, or its indices are read"};
  if (!is(window.dilation, 1)) throw NoForm{"its windows have gaps (dilations)"};
  if (!isEven && (isMax || ceils || !countsPadding)) throw NoForm{"its padding differs from side to side"};
  if (!isMax && ceils && countsPadding) throw NoForm{"ceil_mode with count_include_pad"};
  std::vector<Size> shape = {graph.shape(0)[0], graph.shape(0)[1]};
  const std::vector<Size> space = slid(graph.shape(0), window, ceils);
  shape.insert(shape.end(), space.begin(), space.end());
  const Argument operand = paddedOperand(graph, window);
  std::vector<Argument> arguments = {operand, listArgument(window.kernel), listArgument(window.stride), listArgument(window.low)};
  if (isMax) arguments.push_back(listArgument(window.dilation));
  arguments.push_back(flagArgument(ceils));
  if (!isMax) arguments.push_back(flagArgument(countsPadding));
  graph.give(fmt::format("{}_pool{}d.default", isMax ? "max" : "avg", count), std::move(arguments), shape);
}

}  // namespace

const OnnxOperators& onnxWindows() {
  static const OnnxOperators kOperators = {{"Conv", convolution},
                                           {"ConvTranspose", transposedConvolution},
                                           {"MaxPool", [](OnnxGraph& graph) { pool(graph, true); }},
                                           {"AveragePool", [](OnnxGraph& graph) { pool(graph, false); }}};
  return kOperators;
}

}  // namespace tbem::imports
