#include "test/card/run/Launch.h"

#include "test/card/run/Lockstep.h"
#include "test/card/run/Warp.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::card {
namespace {

/// What does not change from block to block.
void prepare(Warp& warp, const LaunchState& launch, std::uint64_t dynamicShared) {
  const Function& kernel = *launch.kernel;
  const std::uint32_t* size = launch.threads;
  warp.slots.assign(kernel.slots() * 32, 0xdead'beef'dead'beefULL);
  for (std::uint32_t inWarp = 0; inWarp < warp.count; ++inWarp) {
    Lane& lane = warp.lanes[inWarp];
    lane.registers = warp.slots.data() + inWarp;
    const auto special = [&](Special which) -> std::uint64_t& { return lane.at(static_cast<std::uint32_t>(which)); };
    const std::uint32_t at = lane.index, total = size[0] * size[1] * size[2];
    special(Special::True) = 1;
    special(Special::TidX) = at % size[0];
    special(Special::TidY) = at / size[0] % size[1];
    special(Special::TidZ) = at / size[0] / size[1];
    for (std::uint32_t axis = 0; axis < 3; ++axis) {
      lane.at(static_cast<std::uint32_t>(Special::NtidX) + axis) = size[axis];
      lane.at(static_cast<std::uint32_t>(Special::NctaidX) + axis) = launch.grid[axis];
    }
    special(Special::LaneId) = inWarp;
    special(Special::WarpId) = at / 32;
    special(Special::NwarpId) = (total + 31) / 32;
    const std::uint32_t equal = 1U << inWarp, less = equal - 1;
    special(Special::MaskEq) = equal;
    special(Special::MaskLt) = less;
    special(Special::MaskLe) = less | equal;
    special(Special::MaskGt) = static_cast<std::uint32_t>(~(less | equal));
    special(Special::MaskGe) = static_cast<std::uint32_t>(~less);
    special(Special::DynamicShared) = dynamicShared;
    special(Special::TotalShared) = launch.sharedBytes;
    const auto firstConstant = static_cast<std::uint32_t>(kernel.slots() - kernel.constants.size());
    for (std::uint32_t constant = 0; constant < kernel.constants.size(); ++constant)
      lane.at(firstConstant + constant) = kernel.constants[constant];
    lane.local.resize(kernel.localBytes);
    lane.paramBytes.resize(kernel.paramBytes);
  }
}

void restart(Lane& lane, const Block& block) {
  lane.registers = lane.warp->slots.data() + lane.inWarp();
  lane.params = lane.paramBytes.data();
  lane.firstSlot = lane.firstParam = 0;
  lane.function = block.launch->kernel;
  lane.frames.clear();
  lane.next = 0;
  lane.state = Lane::State::Ready;
  lane.localBase = 0;
  lane.localEnd = block.launch->kernel->localBytes;
  for (std::uint32_t axis = 0; axis < 3; ++axis) lane.at(static_cast<std::uint32_t>(Special::CtaidX) + axis) = block.at[axis];
}

void runBlock(Block& block) {
  LaunchState& launch = *block.launch;
  block.interval = 0;
  block.fenced = false;
  block.sharedKnown.assign(launch.sharedBytes, kAllocated);
  for (auto& warp : block.clocks) warp = {};
  for (Lane& lane : block.lanes) restart(lane, block);
  while (true) {
    bool moved = false;
    const std::size_t warps = block.warps.size();
    for (std::size_t step = 0; step < warps; ++step) moved |= runWarp(block, launch.settings->backward ? warps - 1 - step : step);
    moved |= meetBarriers(block);
    if (std::all_of(block.lanes.begin(), block.lanes.end(), [](const Lane& lane) { return lane.state == Lane::State::Ended; }))
      return;
    if (!moved) refuseDeadlock(block);
  }
}

}  // namespace

LaunchEnd runLaunch(const Launch& asked, Memory& memory, const Settings& settings, std::uint32_t serial) {
  LaunchState launch;
  launch.settings = &settings;
  launch.memory = &memory;
  launch.program = asked.program;
  launch.kernel = asked.kernel;
  std::copy_n(asked.grid, 3, launch.grid);
  std::copy_n(asked.threads, 3, launch.threads);
  launch.sharedBytes = asked.kernel->sharedBytes + asked.dynamicShared;
  launch.arguments = asked.arguments;
  launch.conditions = asked.conditions;
  launch.serial = serial;
  Block block;
  block.launch = &launch;
  block.shared.resize(launch.sharedBytes);
  block.sharedCells.resize(launch.sharedBytes / 4 + 1);
  block.lanes.resize(static_cast<std::size_t>(launch.threads[0]) * launch.threads[1] * launch.threads[2]);
  block.clocks.resize((block.lanes.size() + 31) / 32);
  block.warps.resize(block.clocks.size());
  for (std::size_t at = 0; at < block.lanes.size(); ++at) {
    block.lanes[at].index = static_cast<std::uint16_t>(at);
    block.lanes[at].block = &block;
    block.lanes[at].warp = &block.warps[at / 32];
  }
  for (std::size_t at = 0; at < block.warps.size(); ++at) {
    Warp& warp = block.warps[at];
    warp.lanes = block.lanes.data() + at * 32;
    warp.count = static_cast<std::uint32_t>(std::min<std::size_t>(32, block.lanes.size() - at * 32));
    warp.backward = settings.backward;
    prepare(warp, launch, asked.dynamicShared);
  }
  const std::uint64_t blocks = static_cast<std::uint64_t>(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  try {
    for (std::uint64_t step = 0; step < blocks; ++step) {
      block.number = static_cast<std::uint32_t>(settings.backward ? blocks - 1 - step : step);
      block.serial = static_cast<std::uint32_t>(step + 1);
      block.at[0] = block.number % launch.grid[0];
      block.at[1] = block.number / launch.grid[0] % launch.grid[1];
      block.at[2] = block.number / launch.grid[0] / launch.grid[1];
      runBlock(block);
    }
  } catch (const Fault& fault) {
    return {launch.executed, fault};
  }
  return {launch.executed, std::nullopt};
}

void fail(const Lane& lane, const Instruction& in, FaultKind kind, const std::string& text) {
  const Block& block = *lane.block;
  const LaunchState& launch = *block.launch;
  const std::uint32_t* size = launch.threads;
  const std::string& line = launch.program->lines.at(in.line - 1);
  const std::size_t from = std::min(line.find_first_not_of(" \t"), line.size());
  throw Fault(kind,
              fmt::format("kernel {}, line {} of its PTX (`{}`), thread ({},{},{}) of block ({},{},{}): {}", launch.kernel->name,
                          in.line, line.substr(from), lane.index % size[0], lane.index / size[0] % size[1],
                          lane.index / size[0] / size[1], block.at[0], block.at[1], block.at[2], text));
}

}  // namespace tbem::card
