#include "compiler/lower/memory/Workspaces.h"

#include "compiler/plan/Plan.h"

namespace tbem::estimate {

WorkspacePeak planWithWorkspaces(const Program& program, std::span<const std::uint64_t> workspace) {
  std::vector<Request> requests;
  std::uint64_t persistent = 0, persistentLive = 0;
  for (const Allocation& allocation : program.allocations) {
    if (allocation.persistent) {
      persistent += alignUp(allocation.bytes);
      persistentLive += allocation.bytes;
    } else if (allocation.kind != Kind::Workspace) {
      requests.push_back({allocation.bytes, allocation.first, allocation.last});
    }
  }
  for (std::uint32_t at = 0; at < program.steps.size(); ++at) {
    const Step& step = program.steps[at];
    if (step.kind == Step::Kind::Call && workspace[step.index] != 0) requests.push_back({workspace[step.index], at, at});
  }
  WorkspacePeak peak;
  peak.live = persistentLive + liveBound(requests, 1, &peak.step);
  peak.arena = persistent + planOffsets(requests).peak;
  return peak;
}

}  // namespace tbem::estimate
