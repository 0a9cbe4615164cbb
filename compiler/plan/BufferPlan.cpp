#include "compiler/plan/BufferPlan.h"

#include "compiler/plan/Pack.h"
#include "compiler/support/Bug.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace tbem::estimate {

namespace {

constexpr std::uint64_t kLooks = 40'000'000;  // a tool may take longer than every estimate does

/// Another plan, which fits, in place of one that does not.
BufferPlan::Verdict fitInto(PlanFile& file, const PlanWish& wish) {
  // In multiples of the alignment, of which the uppermost buffer may leave a part: what fits so is looked at again.
  Packing packing = packWithin(file.requests, alignUp(*wish.capacity, wish.alignment), wish.effort, wish.alignment);
  if (packing.fit == Fit::None) return BufferPlan::Verdict::NoneFits;
  if (packing.fit == Fit::Unknown) return BufferPlan::Verdict::NoneFound;
  const std::uint64_t before = topOf(file);
  std::swap(file.offsets, packing.offsets);
  if (topOf(file) <= *wish.capacity) return BufferPlan::Verdict::Fits;
  if (before < topOf(file)) std::swap(file.offsets, packing.offsets);
  return BufferPlan::Verdict::NoneFound;
}

}  // namespace

BufferPlan planBuffers(PlanFile buffers, const PlanWish& wish) {
  // Where a capacity is given the search is for a plan that fits, not for the lowest.
  const std::uint64_t nodes = wish.capacity ? 0 : wish.effort;
  Plan lowest = planOffsets(buffers.requests, {kLooks, nodes}, wish.alignment);
  BufferPlan plan;
  plan.file = std::move(buffers);
  plan.file.offsets = std::move(lowest.offsets);
  if (wish.capacity && topOf(plan.file) > *wish.capacity) plan.verdict = fitInto(plan.file, wish);
  if (plan.verdict == BufferPlan::Verdict::Fits) {
    if (const auto fault = checkOverlap(plan.file.requests, plan.file.offsets, wish.alignment))
      TBEM_BUG("the plan is wrong: {}", *fault);
  }
  plan.peak = topOf(plan.file);
  plan.bound = bytesBound(plan.file.requests, wish.alignment);
  // The search has shown that no plan is lower when rounded up.
  plan.proved = std::max(plan.bound, lowest.proved - std::min(lowest.proved, wish.alignment - 1));
  return plan;
}

std::uint64_t bytesBound(std::span<const Request> requests, std::uint64_t alignment) {
  struct Event {
    std::uint32_t step;
    bool begins;
    std::uint64_t rounded, slack;
  };
  std::vector<Event> events;
  for (const Request& request : requests) {
    if (request.bytes == 0) continue;
    const std::uint64_t rounded = alignUp(request.bytes, alignment);
    events.push_back({request.first, true, rounded, rounded - request.bytes});
    events.push_back({request.last + 1, false, rounded, rounded - request.bytes});
  }
  std::ranges::sort(events, {}, [](const Event& event) { return std::pair(event.step, event.begins); });
  std::uint64_t live = 0, most = 0;
  std::multiset<std::uint64_t> slacks;
  for (const Event& event : events) {
    if (event.begins) {
      live += event.rounded;
      slacks.insert(event.slack);
      most = std::max(most, live - *slacks.rbegin());
    } else {
      live -= event.rounded;
      slacks.erase(slacks.find(event.slack));
    }
  }
  return most;
}

}  // namespace tbem::estimate
