// From an address of a kernel to bytes, after all checks.
#pragma once

#include "test/card/run/Lane.h"

namespace tbem::card {

/// What a kernel does with bytes. For what is written, `value` are the bytes that will be: threads may write the same ones.
struct Use {
  Touch touch = Touch::Read;
  const void* value = nullptr;
};

[[noreturn]] void refuseGlobal(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, Touch touch);
[[noreturn]] void refuseShared(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, Touch touch);
[[noreturn]] void refuseOther(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, Touch touch);
/// Notes the access in the cells of its words and ends the launch if it races with an earlier one.
void noteGlobal(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, const Use& use);
void noteShared(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, const Use& use);

/// Whether what is known of `Size` bytes, masked, is `wanted` for each.
template <unsigned Size>
bool allAre(const std::uint8_t* known, std::uint8_t mask, std::uint8_t wanted) {
  if constexpr (Size == 16) {
    return allAre<8>(known, mask, wanted) && allAre<8>(known + 8, mask, wanted);
  } else {
    constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101ULL >> (64 - 8 * Size);
    std::uint64_t states = 0;
    std::memcpy(&states, known, Size);
    return (states & (kOnes * mask)) == kOnes * wanted;
  }
}

template <unsigned Size>
bool isAllowed(std::uint8_t* known, Touch touch, bool written) {
  const std::uint8_t readable = written ? kAllocated | kWritten : kAllocated;
  if (touch != Touch::Write && !allAre<Size>(known, readable, readable)) return false;
  if (touch == Touch::Read) return true;
  if (!allAre<Size>(known, kAllocated | kConstant, kAllocated)) return false;
  std::memset(known, kAllocated | kWritten, Size);
  return true;
}

template <unsigned Size>
std::byte* reachGlobal(const Lane& lane, const Instruction& in, std::uint64_t address, const Use& use) {
  const LaunchState& launch = *lane.block->launch;
  Memory& memory = *launch.memory;
  if (!memory.reaches(address) || address % Size != 0 ||
      !isAllowed<Size>(memory.known(address), use.touch, launch.settings->written))
    refuseGlobal(lane, in, address, Size, use.touch);
  if (launch.settings->races && memory.isTracked(address)) noteGlobal(lane, in, address, Size, use);
  return memory.bytes(address);
}

template <unsigned Size>
std::byte* reachShared(const Lane& lane, const Instruction& in, std::uint64_t address, const Use& use) {
  Block& block = *lane.block;
  const std::uint64_t at = address - kSharedBase;
  if (at >= block.shared.size() || block.shared.size() - at < Size || address % Size != 0 ||
      !isAllowed<Size>(block.sharedKnown.data() + at, use.touch, block.launch->settings->written))
    refuseShared(lane, in, address, Size, use.touch);
  if (block.launch->settings->races) noteShared(lane, in, address, Size, use);
  return block.shared.data() + at;
}

/// .local and .param: a thread's own.
template <unsigned Size>
std::byte* reachOwn(Lane& lane, const Instruction& in, Space space, std::uint64_t address, const Use& use) {
  if (space == Space::Local) {
    const std::uint64_t at = address - kLocalBase;
    if (at >= lane.localEnd || lane.localEnd - at < Size || address % Size != 0) refuseOther(lane, in, address, Size, use.touch);
    return lane.local.data() + at;
  }
  std::vector<std::byte>& arguments = lane.block->launch->arguments;
  const std::uint64_t at = address - kParamBase;
  if (at >= arguments.size() || arguments.size() - at < Size || address % Size != 0 || use.touch != Touch::Read)
    refuseOther(lane, in, address, Size, use.touch);
  return arguments.data() + at;
}

/// In which space a generic address lies.
inline Space spaceAt(std::uint64_t address) {
  if (address - kSharedBase < kWindow) return Space::Shared;
  if (address - kLocalBase < kWindow) return Space::Local;
  if (address - kParamBase < kWindow) return Space::Param;
  return Space::Global;
}

template <unsigned Size>
std::byte* reach(Lane& lane, const Instruction& in, Space space, std::uint64_t address, const Use& use) {
  if (space == Space::Generic) space = spaceAt(address);
  switch (space) {
    case Space::Shared:
      return reachShared<Size>(lane, in, address, use);
    case Space::Local:
    case Space::Param:
      return reachOwn<Size>(lane, in, space, address, use);
    default:
      return reachGlobal<Size>(lane, in, address, use);
  }
}

}  // namespace tbem::card
