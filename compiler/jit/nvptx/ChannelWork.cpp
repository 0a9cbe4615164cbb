#include "compiler/jit/nvptx/ChannelWork.h"

#include "compiler/count/Layout.h"
#include "compiler/jit/loop/Bytes.h"
#include "compiler/jit/loop/Types.h"

#include <algorithm>
#include <bit>

namespace tbem::jit {
namespace {

constexpr std::int64_t kLeastThreads = 128, kMostThreads = 1024;
constexpr std::int64_t kTurns = 4;  // of a thread at least, where there are so many elements

std::int64_t widthIn(std::int64_t plane, std::int64_t most) {
  while (plane % most != 0) most /= 2;
  return most;
}

}  // namespace

LoopNest fitToPlane(LoopNest nest, std::int64_t plane) {
  const std::int64_t width = widthIn(plane, nest.width);
  nest.count *= nest.width / width;
  nest.width = width;
  return nest;
}

void takeNumbersOfChannels(ChannelPart& part, const std::vector<bool>& isVector) {
  LoopNest nest = part.nest;
  std::vector<std::uint64_t> ofChannel(nest.pointers.size(), 0);
  for (std::size_t i = 0; i < nest.inputs.size(); ++i) {
    if (!isVector[i]) continue;
    LoopOperand& input = nest.inputs[i];
    std::ranges::fill(input.offset.stride, 0);
    ofChannel[input.pointer] = estimate::elementBytes(input.dtype);
  }
  // What lies at a pointer is of one kind.
  for (std::size_t i = 0; i < nest.inputs.size(); ++i) {
    const LoopOperand& input = nest.inputs[i];
    if (ofChannel[input.pointer] != (isVector[i] ? estimate::elementBytes(input.dtype) : 0)) return;
  }
  for (const LoopOutput& output : nest.outputs)
    if (ofChannel[output.pointer] != 0) return;
  mergeVariables(nest);
  nest.prefix = static_cast<std::uint32_t>(nest.trips.size());
  if (!nest.isOneRow()) return;
  part.nest = std::move(nest);
  part.ofChannel = std::move(ofChannel);
}

void giveElements(LoopNest& nest, const ChannelImages& images) {
  std::vector<bool> divides(nest.nodes.size(), false), isUsedOtherwise(nest.nodes.size(), false);
  for (const graph::ElemNode& node : nest.nodes) {
    eachOperand(node, [&](std::uint32_t operand) {
      const bool isDivisor = node.op == graph::ElemOp::Div && operand != node.a;
      (isDivisor ? divides : isUsedOtherwise)[operand] = true;
    });
  }
  for (std::uint32_t i = 0; i < nest.nodes.size(); ++i) {
    graph::ElemNode& node = nest.nodes[i];
    const bool isCount = node.op == graph::ElemOp::Constant && node.value == Rational::of(images.samples * images.plane);
    if (!isCount || !divides[i] || isUsedOtherwise[i]) continue;
    node.value = {};
    nest.given.push_back(i);
  }
}

std::int64_t sumWidth(const ChannelImages& images) {
  constexpr std::int64_t kMost = 4;  // 16 bytes of f32
  return widthIn(images.plane, kMost);
}

std::int64_t channelThreads(const ChannelImages& images) {
  const std::int64_t places = images.samples * (images.plane / sumWidth(images));
  const auto wanted = std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(places / kTurns, 1)));
  return std::clamp(static_cast<std::int64_t>(wanted), kLeastThreads, kMostThreads);
}

std::string channelKey(const ChannelWork& work) {
  Bytes bytes;
  for (const std::int64_t size : {channelThreads(work.images), sumWidth(work.images)}) bytes.number(size);
  bytes.number(work.parts.size());
  for (const ChannelPart& part : work.parts) {
    bytes.number(part.kind);
    bytes.number(part.pointers.size());
    bytes.number(part.eps);
    bytes.list(part.ofChannel);
    if (!part.nest.trips.empty()) bytes.string(kernelKey(part.nest));
  }
  return bytes.text;
}

}  // namespace tbem::jit
