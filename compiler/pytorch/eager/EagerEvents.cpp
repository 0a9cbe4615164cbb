// What an eager step's events come to: the largest sum of live tensors, and the history that the caching allocator meets.
#include "compiler/pytorch/eager/EagerStep.h"

#include <algorithm>

namespace tbem::estimate {

std::string_view eagerKindName(EagerKind kind) {
  constexpr std::array<std::string_view, kEagerKinds> kNames{"weights",
                                                             "buffers",
                                                             "input",
                                                             "optimizer",
                                                             "gradients",
                                                             "activations",
                                                             "activation gradients",
                                                             "temporaries",
                                                             "cuDNN workspaces",
                                                             "cuBLAS workspaces"};
  return kNames[static_cast<std::size_t>(kind)];
}

EagerPeak eagerPeak(const EagerStep& step, std::uint64_t granule, EagerEngines engines) {
  EagerPeak peak;
  std::array<std::uint64_t, kEagerKinds> kinds{};
  std::uint64_t live = 0;
  for (std::size_t e = 0; e < step.events.size(); ++e) {
    const EagerTensor& tensor = step.tensors[step.events[e].tensor];
    const std::uint64_t bytes = (tensor.bytes(engines) + granule - 1) / granule * granule;
    std::uint64_t& kind = kinds[static_cast<std::size_t>(tensor.kind)];
    if (step.events[e].frees) {
      live -= bytes;
      kind -= bytes;
      continue;
    }
    live += bytes;
    kind += bytes;
    if (live > peak.bytes) peak = {live, kinds, e, tensor.op};
  }
  return peak;
}

std::vector<AllocatorEvent> allocatorEvents(const EagerStep& step, EagerEngines engines) {
  std::vector<AllocatorEvent> events;
  events.reserve(step.events.size());
  for (const EagerEvent& event : step.events) {
    AllocatorEvent next;
    next.kind = event.frees ? AllocatorEvent::Kind::Free : AllocatorEvent::Kind::Allocate;
    next.id = event.tensor;
    next.bytes = event.frees ? 0 : step.tensors[event.tensor].bytes(engines);
    events.push_back(next);
  }
  return events;
}

SmallerSizes smallerWorkspaces(const EagerStep& step, EagerEngines engines) {
  if (engines != EagerEngines::Expected) return {};
  return [&step](std::size_t event) { return step.tensors[step.events[event].tensor].size.smaller; };
}

std::optional<std::size_t> leavesSums(const EagerStep& step) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;
  std::uint64_t live = 0;
  for (std::size_t e = 0; e < step.events.size(); ++e) {
    const EagerTensor& tensor = step.tensors[step.events[e].tensor];
    const std::uint64_t bytes = std::max(tensor.size.bytes, tensor.size.most);
    live += step.events[e].frees ? -bytes : bytes;
    if (live > kMost) return e;
  }
  return std::nullopt;
}

}  // namespace tbem::estimate
