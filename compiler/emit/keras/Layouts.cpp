#include "compiler/emit/keras/Layouts.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::emit::keras {

namespace {
constexpr std::size_t kLeastImage = 4;

bool isImage(const graph::Row& row, graph::TensorId tensor) {
  const graph::Tensor& given = row.graph()[tensor];
  return given.shape.size() >= kLeastImage && tbem_is_floating(given.dtype) != 0;
}
}  // namespace

Numbers channelsLast(std::size_t rank) {
  Numbers order = {0};
  for (std::size_t axis = 2; axis < rank; ++axis) order.push_back(static_cast<std::int64_t>(axis));
  order.push_back(1);
  return order;
}

std::int64_t placeOf(std::int64_t axis, std::size_t rank) {
  if (axis == 0) return 0;
  return axis == 1 ? static_cast<std::int64_t>(rank) - 1 : axis - 1;
}

Marked transposed(const Marked& text, const Numbers& order) {
  return fmt::format("ops.transpose({}, {})", text, pythonText(order));
}

Layouts::Layouts(const graph::Row& row) : row(row) {
  for (const graph::TensorId input : row.graph().inputs) {
    if (isImage(row, input)) last.insert(input);
  }
}

Marked Layouts::inOrder(graph::TensorId tensor, Binding least) const {
  if (!isLast(tensor)) return Scribe::operand(tensor, least);
  const std::size_t rank = row.graph()[tensor].shape.size();
  Numbers order;
  for (std::size_t axis = 0; axis < rank; ++axis) order.push_back(placeOf(static_cast<std::int64_t>(axis), rank));
  return transposed(Scribe::operand(tensor), order);
}

Marked Layouts::withLast(graph::TensorId tensor, Binding least) const {
  if (isLast(tensor)) return Scribe::operand(tensor, least);
  return transposed(Scribe::operand(tensor), channelsLast(row.graph()[tensor].shape.size()));
}

void KerasCall::makesLast() const {
  for (const graph::TensorId result : tensorsOf(call.result)) layouts.setLast(result);
}

std::int64_t KerasCall::axisOf(std::int64_t axis) const {
  const auto count = static_cast<std::int64_t>(rank());
  const std::int64_t ours = (axis + count) % count;
  const std::int64_t place = isLast() ? placeOf(ours, rank()) : ours;
  return place + 1 == count ? -1 : place;
}

Choices choicesOf(const graph::Row& row) {
  Choices choices;
  std::vector<Hole> holes;
  Scribe scribe(holes);
  for (const graph::Call& call : row.structure->calls) {
    if (!call.isStandard || call.decl == nullptr || call.decl->name.text != "conv2d") continue;
    const CallReader read(row, call, scribe);
    const Numbers size = read.shape(0), result = read.resultShape(), pad = read.integers("pad");
    choices.pads = choices.pads || !(isZero(pad) || isSame({size[2], size[3]}, read.integers("kernel"), read.integers("stride"),
                                                           read.integers("dilation"), pad, {result[2], result[3]}));
  }
  return choices;
}

bool isSame(const Numbers& size, const Numbers& kernel, const Numbers& stride, const Numbers& dilation, const Numbers& pad,
            const Numbers& result) {
  for (std::size_t axis = 0; axis < size.size(); ++axis) {
    const std::int64_t count = (size[axis] + stride[axis] - 1) / stride[axis];
    const std::int64_t reached = (count - 1) * stride[axis] + dilation[axis] * (kernel[axis] - 1) + 1;
    const std::int64_t total = std::max<std::int64_t>(reached - size[axis], 0);
    if (result[axis] != count || pad[axis] != total / 2 || pad[axis + size.size()] < total - total / 2) return false;
  }
  return true;
}

Marked sidesText(const KerasCall& call, const Numbers& pad) {
  std::string sides;
  const std::size_t count = pad.size() / 2;
  for (std::size_t axis = 0; axis < count; ++axis)
    sides += fmt::format("({}, {}), ", call.hole("padding", pad[axis]), call.hole("padding", pad[axis + count]));
  return fmt::format("((0, 0), {}(0, 0))", sides);
}

Marked padded(const KerasCall& call, const Marked& text, const Numbers& pad, std::string_view value) {
  return isZero(pad) ? text : fmt::format("ops.pad({}, {}{})", text, sidesText(call, pad), value);
}

}  // namespace tbem::emit::keras
