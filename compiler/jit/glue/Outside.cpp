#include "compiler/jit/glue/Outside.h"

#include "runtime/core/Layout.h"

#include <algorithm>

namespace tbem::jit {

namespace {

using estimate::BufferId;
using estimate::Program;

/// Whether a step of the program writes to a buffer in this allocation.
bool isWritten(const Program& program, std::uint32_t allocation) {
  const auto there = [&](BufferId id) { return id != estimate::kNoBuffer && program[id].allocation == allocation; };
  const bool byCall = std::any_of(program.calls.begin(), program.calls.end(), [&](const estimate::NativeCall& call) {
    return there(call.workspace) || std::any_of(call.operands.begin() + call.inputs, call.operands.end(), there);
  });
  return byCall || std::any_of(program.loops.begin(), program.loops.end(), [&](const estimate::FusedLoop& loop) {
           return std::any_of(loop.outputs.begin(), loop.outputs.end(),
                              [&](const estimate::FusedLoop::Output& output) { return there(output.buffer); });
         });
}

/// Whether another allocation has some of its bytes at the same time: a part of it, or a whole of which it is a part.
bool sharesBytes(const Program& program, std::uint32_t allocation) {
  const estimate::Allocation& mine = program.allocations[allocation];
  for (std::uint32_t i = 0; i < program.allocations.size(); ++i) {
    const estimate::Allocation& other = program.allocations[i];
    const bool bytes = other.offset < mine.offset + mine.bytes && mine.offset < other.offset + other.bytes;
    const bool steps = mine.persistent || other.persistent || (other.first <= mine.last && mine.first <= other.last);
    if (i != allocation && bytes && steps) return true;
  }
  return false;
}

}  // namespace

std::string whyInside(const Program& program, BufferId buffer) {
  const estimate::Buffer& wanted = program[buffer];
  if (!runtime::isPlain(wanted.operand)) return "the step wants it in a layout of its own";
  // Its address stands in its place, which need not be followed by another.
  if (wanted.operand.layout.bytes < sizeof(void*)) return "it is smaller than an address";
  if (!program.target.empty()) return "the step runs on a device that cannot read the host's memory";
  if (program.micro.parts > 1) return "the step takes the batch in parts";
  if (program.branches.size() > 1) return "the network has gates";
  if (isWritten(program, wanted.allocation)) return "the step writes a result over it";
  if (sharesBytes(program, wanted.allocation)) return "it is a part of another tensor of the step";
  return {};
}

void moveOutside(Program& program, BufferId buffer) {
  const std::uint32_t allocation = program[buffer].allocation;
  for (estimate::Buffer& other : program.buffers) other.outside = other.outside || other.allocation == allocation;
}

}  // namespace tbem::jit
