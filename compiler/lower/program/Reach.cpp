#include "compiler/lower/program/Reach.h"

#include <algorithm>

namespace tbem::estimate {
namespace {

bool meet(const std::vector<Extent>& a, const std::vector<Extent>& b) {
  return std::ranges::any_of(
      a, [&](const Extent& one) { return std::ranges::any_of(b, [&](const Extent& other) { return one.meets(other); }); });
}

}  // namespace

Extent extentOf(const Program& program, BufferId buffer) {
  const Allocation& allocation = program.allocations[program[buffer].allocation];
  return {allocation.offset, allocation.offset + allocation.bytes};
}

void Reach::add(const Reach& other) {
  reads.insert(reads.end(), other.reads.begin(), other.reads.end());
  writes.insert(writes.end(), other.writes.begin(), other.writes.end());
}

Reach reachOf(const Program& program, const Step& step) {
  Reach reach;
  const auto add = [&](std::vector<Extent>& to, BufferId buffer) {
    if (buffer != kNoBuffer) to.push_back(extentOf(program, buffer));
  };
  if (step.kind == Step::Kind::Loop) {
    const FusedLoop& loop = program.loops[step.index];
    for (const auto& input : loop.inputs) add(reach.reads, input.buffer);
    for (const auto& output : loop.outputs) {
      add(reach.writes, output.buffer);
      add(reach.reads, output.rows);
    }
    return reach;
  }
  const NativeCall& call = program.calls[step.index];
  for (std::size_t i = 0; i < call.operands.size(); ++i) add(i < call.inputs ? reach.reads : reach.writes, call.operands[i]);
  add(reach.writes, call.workspace);
  return reach;
}

bool areApart(const Reach& a, const Reach& b) {
  return !meet(a.writes, b.writes) && !meet(a.writes, b.reads) && !meet(a.reads, b.writes);
}

}  // namespace tbem::estimate
