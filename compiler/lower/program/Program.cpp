#include "compiler/lower/program/Program.h"

#include <algorithm>

namespace tbem::estimate {

std::vector<BufferId*> Program::buffersOf(const Step& step) {
  std::vector<BufferId*> found;
  const auto add = [&found](BufferId& id) {
    if (id != kNoBuffer) found.push_back(&id);
  };
  if (step.kind == Step::Kind::Call) {
    NativeCall& call = calls[step.index];
    for (BufferId& id : call.operands) add(id);
    add(call.workspace);
  } else {
    FusedLoop& loop = loops[step.index];
    for (FusedLoop::Input& input : loop.inputs) add(input.buffer);
    for (FusedLoop::Output& output : loop.outputs) add(output.buffer), add(output.rows);
  }
  return found;
}

std::vector<BufferId> Program::buffersOf(const Step& step) const {
  std::vector<BufferId> found;
  for (const BufferId* id : const_cast<Program*>(this)->buffersOf(step)) found.push_back(*id);  // nothing is written
  return found;
}

std::uint32_t Program::unknownWorkspaces() const {
  return static_cast<std::uint32_t>(
      std::count_if(calls.begin(), calls.end(), [](const NativeCall& call) { return call.unknownWorkspace; }));
}

}  // namespace tbem::estimate
