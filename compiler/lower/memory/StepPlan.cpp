#include "compiler/lower/memory/StepPlan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tbem::estimate {

PlanFile planOf(const Program& program) {
  std::vector<std::string> names(program.allocations.size(), "temporary");
  for (std::size_t b = program.buffers.size(); b-- > 0;) names[program.buffers[b].allocation] = program.buffers[b].name;
  std::map<std::string, int> seen;
  PlanFile plan;
  const auto steps = static_cast<std::uint32_t>(program.steps.size());
  for (std::size_t a = 0; a < program.allocations.size(); ++a) {
    const Allocation& allocation = program.allocations[a];
    const int number = ++seen[names[a]];
    plan.ids.push_back(number == 1 ? names[a] : fmt::format("{} #{}", names[a], number));
    plan.requests.push_back({allocation.bytes, allocation.persistent ? 0 : allocation.first,
                             allocation.persistent ? std::max(steps, 1U) - 1 : allocation.last});
    plan.offsets.push_back(allocation.offset);
  }
  return plan;
}

}  // namespace tbem::estimate
