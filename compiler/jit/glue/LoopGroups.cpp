#include "compiler/jit/glue/LoopGroups.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace tbem::jit {
namespace {

using estimate::BufferId;
using estimate::Program;
using estimate::Step;

constexpr std::int64_t kMostPlaces = std::int64_t{1} << 31;  // of one loop: their numbers are of 32 bits in the kernel's tables
constexpr std::int64_t kLarge = std::int64_t{1} << 16;       // places that keep a card busy by themselves
constexpr std::size_t kMostLoops = 1024;                     // tables are constants of the kernel's module

bool canBeGrouped(const LoopNest& nest) {
  const auto isSet = [](std::uint64_t bytes) { return bytes != 0; };
  return nest.isOneRow() && nest.count > 0 && nest.count <= kMostPlaces && nest.perSample.unit == 0 && nest.elements == 0 &&
         !nest.numberAt && std::ranges::none_of(nest.moves, isSet) && std::ranges::none_of(nest.parts, isSet) &&
         std::ranges::none_of(nest.outside, [](bool outside) { return outside; }) &&
         std::ranges::none_of(nest.outputs, [](const LoopOutput& output) { return output.rows.has_value(); });
}

/// Large loops gain little by one launch, unless there are as many as there are updates of weights.
bool isWorthGrouping(const Program& program, const estimate::FusedLoop& loop, const LoopNest& nest) {
  return nest.count <= kLarge || std::ranges::all_of(loop.outputs, [&](const estimate::FusedLoop::Output& output) {
           return program.allocations[program[output.buffer].allocation].persistent;
         });
}

/// What some loops read and write of the arena.
class Reach {
public:
  explicit Reach(const Program& program) : program(program) {}

  /// Whether the loop neither reads nor writes what these write, nor writes what they read.
  bool isApartFrom(const estimate::FusedLoop& loop) const {
    const auto isRead = [&](BufferId buffer) { return meets(reads, buffer); };
    const auto isWritten = [&](BufferId buffer) { return meets(writes, buffer); };
    return std::ranges::none_of(loop.inputs, isWritten, &estimate::FusedLoop::Input::buffer) &&
           std::ranges::none_of(loop.outputs, isWritten, &estimate::FusedLoop::Output::buffer) &&
           std::ranges::none_of(loop.outputs, isRead, &estimate::FusedLoop::Output::buffer);
  }
  void add(const estimate::FusedLoop& loop) {
    for (const auto& input : loop.inputs) reads.push_back(extentOf(input.buffer));
    for (const auto& output : loop.outputs) writes.push_back(extentOf(output.buffer));
    ++loops;
  }
  /// Of loops.
  std::size_t size() const { return loops; }
  void clear() {
    reads.clear();
    writes.clear();
    loops = 0;
  }

private:
  struct Extent {
    std::uint64_t begin = 0, end = 0;
  };
  Extent extentOf(BufferId buffer) const {
    const estimate::Allocation& allocation = program.allocations[program[buffer].allocation];
    return {allocation.offset, allocation.offset + allocation.bytes};
  }
  bool meets(const std::vector<Extent>& extents, BufferId buffer) const {
    const Extent other = extentOf(buffer);
    return std::ranges::any_of(extents, [&](const Extent& one) { return one.begin < other.end && other.begin < one.end; });
  }

  const Program& program;
  std::vector<Extent> reads, writes;
  std::size_t loops = 0;
};

}  // namespace

std::vector<LoopGroup> groupLoops(const Program& program, const std::vector<LoopNest>& nests) {
  std::vector<LoopGroup> groups;
  // Steps behind each other that may run in any order, and their loops by kernel.
  std::vector<LoopGroup> open;
  std::unordered_map<std::string, std::size_t> openOf;
  Reach reach(program);
  const auto close = [&] {
    for (LoopGroup& group : open) {
      if (group.loops.size() > 1) groups.push_back(std::move(group));
    }
    open.clear();
    openOf.clear();
    reach.clear();
  };
  for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
    const Step& step = program.steps[i];
    const bool isAlone = step.kind != Step::Kind::Loop || step.branch != 0 || !canBeGrouped(nests[step.index]) ||
                         !isWorthGrouping(program, program.loops[step.index], nests[step.index]);
    if (isAlone || i == program.micro.steps) close();
    if (isAlone) continue;
    const estimate::FusedLoop& loop = program.loops[step.index];
    if (reach.size() == kMostLoops || !reach.isApartFrom(loop)) close();
    const auto [place, isNew] = openOf.try_emplace(kernelKey(nests[step.index]), open.size());
    if (isNew) open.push_back({.step = i, .loops = {}});
    open[place->second].loops.push_back(step.index);
    reach.add(loop);
  }
  close();
  return groups;
}

}  // namespace tbem::jit
