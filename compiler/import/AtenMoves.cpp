// Operators that move elements: shapes, parts, sums of parts, tables.
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tbem::imports {

namespace {

using Numbers = std::vector<std::int64_t>;

Expression reshaped(const NodeReader& node, const Marked& operand) {
  return call("reshape", {operand}, {{"shape", node.shape(node.result().shape), ""}});
}

std::optional<Expression> flattened(const NodeReader& node) {
  const bool isAll = node.axis(1, "start_dim", 0, node.facts(0).rank()) == 1 && node.result().rank() == 2;
  return isAll ? call("flatten", {node.operand(0)}) : reshaped(node, node.operand(0));
}

std::optional<Expression> permuted(const NodeReader& node, Numbers order) {
  const auto rank = static_cast<std::int64_t>(node.facts(0).rank());
  for (std::int64_t& axis : order) axis += axis < 0 ? rank : 0;
  return call("permute", {node.operand(0)}, {{"order", node.hole("order", listText(order)), ""}});
}

std::optional<Expression> transposed(const NodeReader& node, std::string_view word) {
  const std::size_t rank = node.facts(0).rank();
  if (word == "numpy_T" && rank > 2) return std::nullopt;
  if (word == "t" || word == "numpy_T" || word == "mT") {
    if (rank < 2) return reshaped(node, node.operand(0));
    return call("transpose", {node.operand(0)});
  }
  const std::size_t first = node.axis(1, "dim0", 0, rank), second = node.axis(2, "dim1", 1, rank);
  if (std::max(first, second) + 1 == rank && std::min(first, second) + 2 == rank) return call("transpose", {node.operand(0)});
  return call("transpose", {node.operand(0)},
              {{"first", node.hole("first", static_cast<std::int64_t>(std::min(first, second))), ""},
               {"second", node.hole("second", static_cast<std::int64_t>(std::max(first, second))), ""}});
}

std::vector<Marked> listOperands(const Argument& list) {
  std::vector<Marked> operands;
  for (const Argument& item : list.items) operands.push_back(emit::Scribe::operand(NodeReader::tensor(item.value)));
  return operands;
}

std::optional<Expression> joined(const NodeReader& node, std::string_view word) {
  const Argument& list = node.at(0);
  if (list.kind != Argument::Kind::List || list.items.empty()) return std::nullopt;
  for (const Argument& item : list.items) {
    if (item.kind != Argument::Kind::Value) return std::nullopt;
  }
  const bool isStack = word == "stack";
  const std::size_t rank = node.result().rank();
  const auto axis = static_cast<std::int64_t>(node.axis(1, "dim", 0, rank));
  return call(isStack ? "stack" : "concat", {fmt::format("[{}]", fmt::join(listOperands(list), ", "))},
              {{"axis", node.hole("axis", axis), isStack ? "0" : "1"}});
}

/// A part of the operand: from `start`, of the result's size, each `step`-th along `axis`.
Expression part(const NodeReader& node, std::size_t axis, const Marked& start, const Marked& size, std::int64_t step) {
  const std::vector<Size>& before = node.facts(0).shape;
  std::string starts, sizes, steps;
  for (std::size_t d = 0; d < before.size(); ++d) {
    const char* separator = d == 0 ? "" : ", ";
    starts += separator + (d == axis ? start : "0");
    sizes += separator + (d == axis ? size : node.size(before[d], "size"));
    steps += separator + std::to_string(d == axis ? step : 1);
  }
  Expression made = call("slice", {node.operand(0)}, {{"start", "[" + starts + "]", ""}, {"size", "[" + sizes + "]", ""}});
  if (step != 1) made.arguments.push_back({"stride", "[" + steps + "]", ""});
  return made;
}

/// Where a part begins along an axis; from the end of an axis whose length is open it is counted there.
Marked startOf(const NodeReader& node, std::size_t axis, std::int64_t start, const char* name) {
  const Size& length = node.dimension(0, axis);
  if (start < 0 && !length.symbolic.empty()) return node.size(length, "length") + " - " + node.hole(name, -start);
  const std::int64_t most = length.symbolic.empty() ? length.number : std::numeric_limits<std::int64_t>::max();
  return node.hole(name, std::clamp(start < 0 ? start + length.number : start, std::int64_t{0}, most));
}

std::optional<Expression> sliced(const NodeReader& node) {
  const std::size_t axis = node.axis(1, "dim", 0, node.facts(0).rank());
  const std::int64_t step = node.integer(4, "step", 1);
  if (node.result().rank() != node.facts(0).rank()) throw UnlikeNode();
  return part(node, axis, startOf(node, axis, node.integer(2, "start", 0), "start"),
              node.size(node.result().shape[axis], "length"), step);
}

std::optional<Expression> selected(const NodeReader& node) {
  const std::size_t axis = node.axis(1, "dim", 0, node.facts(0).rank());
  Expression made = part(node, axis, startOf(node, axis, node.integer(2, "index", 0), "index"), "1", 1);
  Expression whole;
  whole.binding = kPipe;
  whole.text = fmt::format("slice({}, start: {}, size: {}) |> reshape(shape: {})", made.tensors[0], made.arguments[0].text,
                           made.arguments[1].text, node.shape(node.result().shape));
  return whole;
}

std::optional<Expression> splitInto(const NodeReader& node, std::string_view word) {
  if (node.node.parts.empty()) return std::nullopt;
  const std::size_t rank = node.facts(0).rank();
  const bool isUnbind = word == "unbind";
  const std::size_t axis = isUnbind ? node.axis(1, "dim", 0, rank) : node.axis(2, "dim", 0, rank);
  std::string sizes;
  for (const std::optional<Facts>& one : node.node.parts) {
    if (!one || (!isUnbind && axis >= one->rank())) return std::nullopt;
    sizes += (sizes.empty() ? "" : ", ") + (isUnbind ? "1" : node.size(one->shape[axis], "size"));
  }
  Expression made = call("split", {node.operand(0)},
                         {{"sizes", "[" + sizes + "]", ""}, {"axis", node.hole("axis", static_cast<std::int64_t>(axis)), "1"}});
  if (!isUnbind) return made;
  Expression whole;
  whole.text = fmt::format("[reshape(part, shape: {}) for part in split({}, sizes: [{}], axis: {})]",
                           node.shape(node.node.parts.front()->shape), node.operand(0), sizes, axis);
  return whole;
}

/// Negative padding cuts off.
std::optional<Expression> padded(const NodeReader& node) {
  const std::string mode = node.at(2, "mode").kind == Argument::Kind::Text ? node.at(2, "mode").text : "constant";
  const std::size_t rank = node.facts(0).rank();
  const Numbers given = node.integers(1, "pad");
  if (given.size() > 2 * rank) throw UnlikeNode();
  Numbers low(rank, 0), high(rank, 0);
  for (std::size_t d = 0; 2 * d + 1 < given.size(); ++d) {
    low[rank - 1 - d] = given[2 * d];
    high[rank - 1 - d] = given[2 * d + 1];
  }
  const bool cuts = std::any_of(given.begin(), given.end(), [](std::int64_t pad) { return pad < 0; });
  const std::size_t valueAt = wordOf(node.node) == "constant_pad_nd" ? 2 : 3;
  if (cuts || (mode == "constant" && node.real(valueAt, "value", 0) != 0)) return std::nullopt;
  const char* const word = mode == "constant"    ? "pad"
                           : mode == "reflect"   ? "pad_reflect"
                           : mode == "replicate" ? "pad_edge"
                                                 : nullptr;
  if (word == nullptr) return std::nullopt;
  const std::string lowText = listText(low), highText = listText(high);
  return call(word, {node.operand(0)},
              {{"low", node.hole("low", lowText), ""}, {"high", node.hole("high", highText), mode == "constant" ? lowText : ""}});
}

std::optional<Expression> rolled(const NodeReader& node) {
  const Numbers axes = node.integers(2, "dims");
  if (axes.empty()) return std::nullopt;
  return call(
      "roll", {node.operand(0)},
      {{"shift", node.hole("shift", listText(node.integers(1, "shifts"))), ""}, {"axis", node.hole("axis", listText(axes)), ""}});
}

std::optional<Expression> expanded(const NodeReader& node) {
  return call("broadcast_to", {node.operand(0)}, {{"shape", node.shape(node.result().shape), ""}});
}

/// Whether each side is scaled by what its sizes say, for all sizes; PyTorch takes places by the factor that it was given.
bool scalesBySizes(const NodeReader& node, std::size_t position) {
  const Argument& list = node.at(position, "scale_factors");
  for (std::size_t side = 0; side < 2; ++side) {
    const bool isListed = list.kind == Argument::Kind::List;
    if (isListed && side >= list.items.size()) return false;
    const Argument& factor = isListed ? list.items[side] : node.at(position + side, side == 0 ? "scales_h" : "scales_w");
    if (factor.isNone()) continue;
    const Size& before = node.dimension(0, side + 2);
    const bool isWhole = std::floor(factor.real) == factor.real;
    if (!factor.isNumber() || (!before.symbolic.empty() && !isWhole)) return false;
    if (factor.real * static_cast<double>(before.number) != static_cast<double>(node.result().shape[side + 2].number))
      return false;
  }
  return true;
}

std::optional<Expression> resized(const NodeReader& node, std::string_view word) {
  const std::vector<Size>& shape = node.result().shape;
  if (shape.size() != 4) return std::nullopt;
  const bool isNearest = word.find("nearest") != std::string_view::npos;
  const bool aligned = !isNearest && node.flag(2, "align_corners", false);
  if (!aligned && !scalesBySizes(node, isNearest ? 2 : 3)) return std::nullopt;
  const std::string size = fmt::format("[{}, {}]", node.size(shape[2], "height"), node.size(shape[3], "width"));
  return call("upsample2d", {node.operand(0)},
              {{"size", size, ""},
               {"mode", isNearest ? "\"nearest\"" : "\"bilinear\"", "\"nearest\""},
               {"align_corners", node.hole("align_corners", aligned ? "true" : "false"), "false"}});
}

std::optional<Expression> filled(const NodeReader& node, std::string_view word) {
  const std::size_t valueAt = word == "full" || word == "full_like" || word == "fill" ? 1 : word == "new_full" ? 2 : 9;
  if (valueAt != 9 && node.isTensor(valueAt)) return std::nullopt;
  const double number = word.find("ones") != std::string_view::npos ? 1 : valueAt == 9 ? 0 : node.real(valueAt, "fill_value", 0);
  const std::optional<std::string> value = numberText(number);
  const std::string type = typeText(node.result().type);
  if (!value || type.empty()) return std::nullopt;
  const Expression real =
      call("fill", {}, {{"shape", node.shape(node.result().shape), ""}, {"value", node.hole("value", *value), ""}});
  if (type.starts_with('f') || type == "bf16") return real;
  return call("cast", {fmt::format("fill(shape: {}, value: {})", real.arguments[0].text, real.arguments[1].text)},
              {{"to", type, ""}});
}

std::optional<Expression> copied(const NodeReader& node) {  // copy(into, x)
  const Facts& facts = node.facts(1);
  if (isIntegral(node.result()) && isReal(facts)) return std::nullopt;
  if (facts.shape != node.result().shape)
    return call("broadcast_to", {node.promoted(1)}, {{"shape", node.shape(node.result().shape), ""}});
  Expression made;
  made.text = node.promoted(1);
  return made;
}

}  // namespace

std::optional<Expression> movedOf(const NodeReader& node, std::string_view word) {
  if (word == "view" || word == "reshape" || word == "unflatten" || word == "squeeze" || word == "unsqueeze" ||
      word == "_unsafe_view" || word == "reshape_as" || word == "view_as")
    return reshaped(node, node.operand(0));
  if (word == "flatten") return flattened(node);
  if (word == "permute") return permuted(node, node.integers(1, "dims"));
  if (word == "transpose" || word == "swapaxes" || word == "t" || word == "numpy_T" || word == "mT")
    return transposed(node, word);
  if (word == "cat" || word == "stack") return joined(node, word);
  if (word == "slice") return sliced(node);
  if (word == "select") return selected(node);
  if (word == "split" || word == "split_with_sizes" || word == "tensor_split" || word == "chunk" || word == "unbind")
    return splitInto(node, word);
  if (word == "getitem" && node.isTensor(0)) {
    Expression element;
    element.text = fmt::format("{}[{}]", node.operand(0, Binding::Atom), node.integer(1, "", 0));
    return element;
  }
  if (word == "pad" || word == "constant_pad_nd") return padded(node);
  if (word == "roll") return rolled(node);
  if (word == "expand" || word == "expand_as" || word == "broadcast_to") return expanded(node);
  if (word.starts_with("upsample_nearest2d") || word.starts_with("upsample_bilinear2d")) return resized(node, word);
  if (word == "channel_shuffle")
    return call("channel_shuffle", {node.operand(0)}, {{"groups", node.hole("groups", node.integer(1, "groups", 1)), ""}});
  if (word == "pixel_shuffle")
    return call("pixel_shuffle", {node.operand(0)}, {{"factor", node.hole("factor", node.integer(1, "upscale_factor", 1)), ""}});
  if (word == "flip")
    return call("flip", {node.operand(0)}, {{"axis", node.hole("axis", listText(node.integers(1, "dims"))), ""}});
  if (word == "zeros" || word == "ones" || word == "full" || word == "zeros_like" || word == "ones_like" || word == "full_like" ||
      word == "new_zeros" || word == "new_ones" || word == "new_full" || word == "fill" || word == "zero")
    return filled(node, word);
  if (word == "copy") return copied(node);
  if (word == "detach") return call("stop_gradient", {node.operand(0)});
  return std::nullopt;
}

}  // namespace tbem::imports
