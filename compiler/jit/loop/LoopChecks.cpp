#include "compiler/jit/loop/LoopChecks.h"

#include "compiler/count/Layout.h"
#include "compiler/lower/program/LoopTypes.h"
#include "compiler/sema/Value.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::jit {
namespace {

using estimate::Buffer;
using estimate::FusedLoop;
using estimate::Program;
using graph::ElemOp;
using Checked = tl::expected<void, std::string>;

tl::unexpected<std::string> wrong(std::string text) { return tl::make_unexpected(std::move(text)); }

/// Every element of one lies where it does in the other, whatever the element types and the words for the layout: 16 channels in
/// blocks of 16 are channels last.
bool samePlaces(tbem_operand a, const tbem_operand& b) {
  a.dtype = b.dtype;
  a.layout.bytes = b.layout.bytes;
  return estimate::samePlaces(a, b);
}

Checked checkType(const Buffer& buffer) {
  if (estimate::hasLoops(buffer.operand.dtype)) return {};
  return wrong(fmt::format("element-wise code of {} is not there yet ('{}')",
                           sema::kDTypeNames[static_cast<std::size_t>(buffer.operand.dtype)], buffer.name));
}

Checked checkInput(const Program& program, const FusedLoop& loop, const FusedLoop::Input& input) {
  const Buffer& buffer = program[input.buffer];
  const tbem_operand& operand = buffer.operand;
  if (auto ok = checkType(buffer); !ok) return ok;
  if (input.axes.size() != static_cast<std::size_t>(operand.rank))
    return wrong(fmt::format("'{}' has rank {} and {} axes", buffer.name, operand.rank, input.axes.size()));
  for (int j = 0; j < operand.rank; ++j) {
    const std::int32_t k = input.axes[static_cast<std::size_t>(j)];
    const bool fits = k < 0 ? operand.dims[j] >= 1
                            : k < static_cast<int>(loop.dims.size()) &&
                                  (operand.dims[j] == 1 || operand.dims[j] == loop.dims[static_cast<std::size_t>(k)]);
    if (!fits)
      return wrong(fmt::format("dimension {} of '{}' ({}) does not run along the loop's dimension {}", j, buffer.name,
                               operand.dims[j], k));
  }
  return {};
}

Checked checkOutput(const Program& program, const FusedLoop& loop, const FusedLoop::Output& output) {
  const Buffer& buffer = program[output.buffer];
  const tbem_operand& operand = buffer.operand;
  if (auto ok = checkType(buffer); !ok) return ok;
  if (output.node >= loop.nodes.size())
    return wrong(fmt::format("'{}' takes node {} of {}", buffer.name, output.node, loop.nodes.size()));
  if (!std::equal(loop.dims.begin(), loop.dims.end(), operand.dims, operand.dims + operand.rank))
    return wrong(fmt::format("'{}' does not have the loop's shape", buffer.name));
  tbem_operand space = operand;
  space.layout = loop.layout;
  if (!samePlaces(space, operand)) return wrong(fmt::format("'{}' does not have the loop's layout", buffer.name));
  return {};
}

Checked checkNode(const Program& program, const FusedLoop& loop, const graph::ElemNode& node) {
  if (node.op == ElemOp::Input && node.input >= loop.inputs.size()) return wrong("a node reads an input that is not there");
  if (node.op == ElemOp::Index && node.input >= loop.dims.size()) return wrong("a node reads a coordinate that is not there");
  if (node.op == ElemOp::Scalar && node.input >= std::max<std::size_t>(program.scalars.size(), 1))
    return wrong("a node reads a scalar that is not there");
  return {};
}

Checked checkShapes(const Program& program, const FusedLoop& loop) {
  if (loop.dims.size() > TBEM_MAX_RANK) return wrong(fmt::format("a loop of rank {}", loop.dims.size()));
  if (loop.outputs.empty()) return wrong("a loop without outputs");
  for (const FusedLoop::Input& input : loop.inputs) {
    if (auto ok = checkInput(program, loop, input); !ok) return ok;
  }
  for (const FusedLoop::Output& output : loop.outputs) {
    if (auto ok = checkOutput(program, loop, output); !ok) return ok;
  }
  for (const graph::ElemNode& node : loop.nodes) {
    if (auto ok = checkNode(program, loop, node); !ok) return ok;
  }
  return {};
}

struct Span {
  std::uint64_t begin, end;
};
Span spanOf(const Program& program, const Buffer& buffer) {
  const estimate::Allocation& place = program.allocations[buffer.allocation];
  return {place.offset, place.offset + std::min(place.bytes, buffer.operand.layout.bytes)};
}
bool overlap(Span a, Span b) { return a.begin < b.end && b.begin < a.end; }

/// Every element of the input is read where the same one of the output is written.
bool isInPlace(const Program& program, const FusedLoop& loop, const FusedLoop::Input& input, const Buffer& out) {
  const Buffer& in = program[input.buffer];
  if (spanOf(program, out).begin != spanOf(program, in).begin || in.operand.rank != out.operand.rank ||
      estimate::elementBytes(out.operand.dtype) != estimate::elementBytes(in.operand.dtype))
    return false;
  for (int k = 0; k < in.operand.rank; ++k) {
    const std::int64_t dim = loop.dims[static_cast<std::size_t>(k)];
    if ((input.axes[static_cast<std::size_t>(k)] != k && dim != 1) || in.operand.dims[k] != dim) return false;
  }
  return samePlaces(in.operand, out.operand);
}

/// Writers may share bytes with a reader only as an exact in-place pair: same place, same layout, same element size, all axes.
Checked checkOverlaps(const Program& program, const FusedLoop& loop) {
  for (std::size_t o = 0; o < loop.outputs.size(); ++o) {
    const Buffer& out = program[loop.outputs[o].buffer];
    for (std::size_t p = 0; p < o; ++p) {
      const Buffer& other = program[loop.outputs[p].buffer];
      if (overlap(spanOf(program, out), spanOf(program, other)))
        return wrong(fmt::format("'{}' and '{}' are written to the same bytes by one loop", out.name, other.name));
    }
    for (const FusedLoop::Input& input : loop.inputs) {
      const Buffer& in = program[input.buffer];
      if (overlap(spanOf(program, out), spanOf(program, in)) && !isInPlace(program, loop, input, out))
        return wrong(fmt::format("'{}' is written over '{}', which is read at other places", out.name, in.name));
    }
  }
  return {};
}

}  // namespace

tl::expected<void, std::string> checkLoop(const Program& program, const FusedLoop& loop) {
  if (auto ok = checkShapes(program, loop); !ok) return ok;
  return checkOverlaps(program, loop);
}

}  // namespace tbem::jit
