#include "test/card/run/Launch.h"

#include "test/card/run/Warp.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::card {
namespace {

std::uint64_t& special(Lane& lane, Special which) { return lane.slots[static_cast<std::size_t>(which)]; }

/// What does not change from block to block.
void prepare(Lane& lane, const LaunchState& launch, std::uint64_t dynamicShared) {
  const std::uint32_t* size = launch.threads;
  lane.slots.assign(launch.kernel->slots(), 0xdead'beef'dead'beefULL);
  const std::uint32_t at = lane.index, inWarp = lane.inWarp(), total = size[0] * size[1] * size[2];
  special(lane, Special::True) = 1;
  special(lane, Special::TidX) = at % size[0];
  special(lane, Special::TidY) = at / size[0] % size[1];
  special(lane, Special::TidZ) = at / size[0] / size[1];
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    lane.slots[static_cast<std::size_t>(Special::NtidX) + axis] = size[axis];
    lane.slots[static_cast<std::size_t>(Special::NctaidX) + axis] = launch.grid[axis];
  }
  special(lane, Special::LaneId) = inWarp;
  special(lane, Special::WarpId) = at / 32;
  special(lane, Special::NwarpId) = (total + 31) / 32;
  const std::uint32_t equal = 1U << inWarp, less = equal - 1;
  special(lane, Special::MaskEq) = equal;
  special(lane, Special::MaskLt) = less;
  special(lane, Special::MaskLe) = less | equal;
  special(lane, Special::MaskGt) = static_cast<std::uint32_t>(~(less | equal));
  special(lane, Special::MaskGe) = static_cast<std::uint32_t>(~less);
  special(lane, Special::DynamicShared) = dynamicShared;
  special(lane, Special::TotalShared) = launch.sharedBytes;
  std::copy(launch.kernel->constants.begin(), launch.kernel->constants.end(),
            lane.slots.end() - static_cast<std::ptrdiff_t>(launch.kernel->constants.size()));
  lane.local.resize(launch.kernel->localBytes);
  lane.paramBytes.resize(launch.kernel->paramBytes);
}

void restart(Lane& lane, const Block& block) {
  lane.registers = lane.slots.data();
  lane.params = lane.paramBytes.data();
  lane.firstSlot = lane.firstParam = 0;
  lane.function = block.launch->kernel;
  lane.frames.clear();
  lane.next = 0;
  lane.state = Lane::State::Ready;
  lane.localBase = 0;
  lane.localEnd = block.launch->kernel->localBytes;
  for (std::uint32_t axis = 0; axis < 3; ++axis) lane.slots[static_cast<std::size_t>(Special::CtaidX) + axis] = block.at[axis];
}

// A thread that runs so long without waiting for another waits in a loop for what will never come.
constexpr std::uint64_t kLongest = 1ULL << 31;

std::uint64_t runLane(Lane& lane) {
  for (std::uint64_t executed = 1; executed < kLongest; ++executed) {
    const Instruction& in = lane.function->code[lane.next++];
    if ((lane.registers[in.guard] & 1) != in.guardIs) continue;
    if (!in.handler(in, lane)) return executed;
  }
  fail(lane, lane.function->code[lane.next], FaultKind::Deadlock, "runs for ever");
}

/// Runs each thread of a warp that can run. False: none could.
bool runReady(Block& block, std::size_t warp) {
  bool ran = false;
  const std::size_t first = warp * 32, end = std::min(first + 32, block.lanes.size());
  for (std::size_t at = first; at < end; ++at) {
    Lane& lane = block.lanes[block.launch->settings->backward ? first + end - 1 - at : at];
    if (lane.state != Lane::State::Ready) continue;
    block.launch->executed += runLane(lane);
    ran = true;
  }
  return ran;
}

/// Runs a warp until all its threads have ended or wait for other warps. False: none could run.
bool runWarp(Block& block, std::size_t warp) {
  bool moved = false;
  do moved |= runReady(block, warp);
  while (meetWarp(block, warp));
  return moved;
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
    const std::size_t warps = block.clocks.size();
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
  launch.serial = serial;
  Block block;
  block.launch = &launch;
  block.shared.resize(launch.sharedBytes);
  block.sharedCells.resize(launch.sharedBytes / 4 + 1);
  block.lanes.resize(static_cast<std::size_t>(launch.threads[0]) * launch.threads[1] * launch.threads[2]);
  block.clocks.resize((block.lanes.size() + 31) / 32);
  for (std::size_t at = 0; at < block.lanes.size(); ++at) {
    block.lanes[at].index = static_cast<std::uint16_t>(at);
    block.lanes[at].block = &block;
    prepare(block.lanes[at], launch, asked.dynamicShared);
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
