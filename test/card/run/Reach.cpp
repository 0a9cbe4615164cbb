#include "test/card/run/Reach.h"

#include <fmt/format.h>

namespace tbem::card {
namespace {

const char* verb(Touch touch) {
  switch (touch) {
    case Touch::Read:
      return "reads";
    case Touch::Write:
      return "writes";
    case Touch::Atomic:
      return "changes";
  }
  return "";
}

void refuseMisaligned(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, Touch touch) {
  if (address % size != 0)
    fail(lane, in, FaultKind::Misaligned,
         fmt::format("{} {} bytes at {:#x}, which is no multiple of {}", verb(touch), size, address, size));
}

}  // namespace

void refuseGlobal(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, Touch touch) {
  refuseMisaligned(lane, in, address, size, touch);
  const Memory& memory = *lane.block->launch->memory;
  const std::string what = fmt::format("{} {} bytes at {:#x}, {}", verb(touch), size, address, memory.nearest(address));
  if (!memory.reaches(address) || !memory.holds(address, size)) fail(lane, in, FaultKind::IllegalAddress, what);
  if (touch != Touch::Read && (*memory.known(address) & kConstant) != 0)
    fail(lane, in, FaultKind::IllegalAddress, what + ", which is constant");
  fail(lane, in, FaultKind::IllegalAddress, what + ", of which not all was ever written");
}

void refuseShared(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, Touch touch) {
  refuseMisaligned(lane, in, address, size, touch);
  const std::uint64_t at = address - kSharedBase, bytes = lane.block->shared.size();
  const std::string what =
      fmt::format("{} {} bytes of shared memory at byte {} of {}", verb(touch), size, static_cast<std::int64_t>(at), bytes);
  if (at >= bytes || bytes - at < size) fail(lane, in, FaultKind::IllegalAddress, what);
  fail(lane, in, FaultKind::IllegalAddress, what + ", of which the block never wrote all");
}

void refuseOther(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, Touch touch) {
  refuseMisaligned(lane, in, address, size, touch);
  const bool local = spaceAt(address) == Space::Local;
  fail(lane, in, FaultKind::IllegalAddress,
       fmt::format("{} {} bytes at {:#x}, outside of the {}", verb(touch), size, address,
                   local ? fmt::format("{} bytes of local memory of its thread", lane.localEnd)
                         : fmt::format("{} bytes of parameters", lane.block->launch->arguments.size())));
}

}  // namespace tbem::card
