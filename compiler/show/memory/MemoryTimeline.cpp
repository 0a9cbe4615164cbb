#include "compiler/show/memory/MemoryTimeline.h"

#include "compiler/count/Static.h"
#include "compiler/show/Out.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tbem::driver {

namespace {

std::string placed(const std::string& name, SrcRange range, const SourceManager& sources) {
  return range.valid() ? fmt::format("{}, {}", name, sources.describe(range.begin)) : name;
}

/// The first step that has an operator of this phase, or the number of steps.
std::size_t firstOf(graph::Phase phase, const estimate::Program& program, const graph::Graph& graph) {
  const auto isOne = [&](const estimate::Step& step) { return !step.ops.empty() && graph[step.ops.front()].phase == phase; };
  return static_cast<std::size_t>(std::find_if(program.steps.begin(), program.steps.end(), isOne) - program.steps.begin());
}

}  // namespace

report::Timeline timelineOf(const RowState& row, const SourceManager& sources) {
  const estimate::Program& program = *row.program;
  report::Timeline timeline;
  timeline.title = fmt::format("memory of {} on {}", row.run->spec.name, program.backend);
  timeline.subtitle = row.run->levelsText(row.row);
  for (std::size_t k = 0; k < estimate::kKinds; ++k)
    timeline.kinds.emplace_back(estimate::kindName(static_cast<estimate::Kind>(k)));
  for (const estimate::Step& step : program.steps)
    timeline.moments.push_back({placed(step.name, step.range, sources), std::vector<double>(estimate::kKinds, 0)});
  for (const estimate::Allocation& one : program.allocations) {
    const std::size_t first = one.persistent ? 0 : one.first;
    const std::size_t end =
        one.persistent ? timeline.moments.size() : std::min<std::size_t>(one.last + 1, timeline.moments.size());
    for (std::size_t m = first; m < end; ++m)
      timeline.moments[m].bytes[static_cast<std::size_t>(one.kind)] += static_cast<double>(one.bytes);
  }
  // The optimiser has no phase of its own: an update runs as soon as its gradient is there.
  for (const auto& [phase, name] : {std::pair(graph::Phase::Forward, "forward"), {graph::Phase::Backward, "backward"}}) {
    const std::size_t first = firstOf(phase, program, row.elaborated->graph());
    if (first < program.steps.size()) timeline.phases.push_back({name, first});
  }
  return timeline;
}

report::Timeline timelineOf(const RowState& row, const estimate::EagerStep& step, const SourceManager& sources) {
  report::Timeline timeline;
  timeline.title = fmt::format("live tensors of {} in eager PyTorch", row.run->spec.name);
  timeline.subtitle = row.run->levelsText(row.row);
  for (std::size_t k = 0; k < estimate::kEagerKinds; ++k)
    timeline.kinds.emplace_back(estimate::eagerKindName(static_cast<estimate::EagerKind>(k)));
  std::array<double, estimate::kEagerKinds> live{};
  double sum = 0, highest = 0;
  const int wanted = step.marks.back().step;
  std::size_t mark = 0;
  std::uint32_t op = estimate::kNoEagerOp;
  bool isNew = true;
  for (std::size_t e = 0; e < step.events.size(); ++e) {
    while (mark + 1 < step.marks.size() && step.marks[mark + 1].event <= e) {
      ++mark;
      isNew = true;
      if (step.marks[mark].step == wanted) timeline.phases.push_back({step.marks[mark].phase, timeline.moments.size()});
    }
    const estimate::EagerTensor& tensor = step.tensors[step.events[e].tensor];
    const auto bytes = static_cast<double>(tensor.bytes());
    live[static_cast<std::size_t>(tensor.kind)] += step.events[e].frees ? -bytes : bytes;
    sum += step.events[e].frees ? -bytes : bytes;
    if (step.marks[mark].step != wanted || step.events[e].frees) continue;
    if (isNew || tensor.op != op) {
      const bool none = tensor.op == estimate::kNoEagerOp;
      const estimate::EagerOperator* at = none ? nullptr : &(*step.operators)[tensor.op];
      const std::string label = none ? step.marks[mark].phase : placed(at->name, row.elaborated->graph()[at->op].range, sources);
      timeline.moments.push_back({label, {live.begin(), live.end()}});
      highest = sum;
      op = tensor.op;
      isNew = false;
    } else if (sum > highest) {
      timeline.moments.back().bytes.assign(live.begin(), live.end());
      highest = sum;
    }
  }
  return timeline;
}

bool writeTimeline(show::Out& out, const std::string& folder, const RowState& row, const report::Timeline& timeline) {
  return folder.empty() || out.timeline(folder, row.run->spec.name + "-memory.svg", timeline);
}

}  // namespace tbem::driver
