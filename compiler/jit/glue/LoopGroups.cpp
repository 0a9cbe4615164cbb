#include "compiler/jit/glue/LoopGroups.h"

#include "compiler/lower/program/Reach.h"

#include <algorithm>

namespace tbem::jit {
namespace {

using estimate::Program;
using estimate::Step;

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 31;  // of one loop: their numbers are of 32 bits in the kernel's tables
constexpr std::int64_t kLarge = std::int64_t{1} << 16;       // places that keep a card busy by themselves
constexpr std::size_t kMostLoops = 1024;                     // tables are constants of the kernel's module

bool canBeGrouped(const LoopNest& nest) {
  return nest.isOneRow() && nest.count > 0 && nest.count <= kMostPlaces && isAlwaysAlike(nest);
}

/// Large loops gain little by one launch, unless there are as many as there are updates of weights.
bool isWorthGrouping(const Program& program, const estimate::FusedLoop& loop, const LoopNest& nest) {
  return nest.count <= kLarge || onlyUpdates(program, loop);
}

}  // namespace

bool isAlwaysAlike(const LoopNest& nest) {
  const auto isSet = [](std::uint64_t bytes) { return bytes != 0; };
  return nest.perSample.unit == 0 && nest.elements == 0 && !nest.numberAt && std::ranges::none_of(nest.moves, isSet) &&
         std::ranges::none_of(nest.parts, isSet) && std::ranges::none_of(nest.outside, [](bool outside) { return outside; }) &&
         std::ranges::none_of(nest.outputs, [](const LoopOutput& output) { return output.rows.has_value(); });
}

bool onlyUpdates(const Program& program, const estimate::FusedLoop& loop) {
  return std::ranges::all_of(loop.outputs, [&](const estimate::FusedLoop::Output& output) {
    return program.allocations[program[output.buffer].allocation].persistent;
  });
}

std::vector<LoopGroup> groupLoops(const Program& program, const std::vector<LoopNest>& nests, const std::vector<bool>& taken) {
  std::vector<LoopGroup> groups;
  LoopGroup open;           // steps that may run in any order
  estimate::Reach reach;    // theirs
  estimate::Reach between;  // that of others behind the first, which the next one has to pass
  const auto close = [&] {
    if (open.steps.size() > 1) groups.push_back(std::move(open));
    open = {};
    reach = between = {};
  };
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const bool isBorder = taken[i] || step.branch != 0;  // what is taken may run later than it stands
    if (isBorder || i == program.micro.steps) close();
    if (isBorder) continue;
    const estimate::Reach ofStep = reachOf(program, step);
    const bool isAlone = step.kind != Step::Kind::Loop || !canBeGrouped(nests[step.index]) ||
                         !isWorthGrouping(program, program.loops[step.index], nests[step.index]);
    if (isAlone) {
      if (!open.steps.empty()) between.add(ofStep);
      continue;
    }
    if (open.steps.size() == kMostLoops || !areApart(ofStep, reach) || !areApart(ofStep, between)) close();
    open.steps.push_back(i);
    reach.add(ofStep);
  }
  close();
  return groups;
}

}  // namespace tbem::jit
