#include "test/card/run/Races.h"

#include "test/card/run/Reach.h"

#include <fmt/format.h>

namespace tbem::card {
namespace {

/// The access that a thread makes now.
Access accessOf(const Lane& lane, Touch touch, std::uint8_t mask) {
  const Block& block = *lane.block;
  const std::uint16_t clock = block.clocks[lane.index / 32U][lane.inWarp()][lane.inWarp()];
  return {block.number, block.launch->sequence, block.interval, clock, lane.index, mask, touch};
}

/// Whether what a thread does now comes after an access.
bool isAfter(const Lane& lane, const Access& earlier) {
  const Block& block = *lane.block;
  if (earlier.interval == kLatest || earlier.clock == kLatest) return true;
  if (earlier.block == block.number) {
    if (earlier.thread == lane.index || earlier.interval < block.interval) return true;
    return earlier.thread / 32U == lane.index / 32U &&
           block.clocks[lane.index / 32U][lane.inWarp()][earlier.thread % 32U] > earlier.clock;
  }
  const LaunchState& launch = *block.launch;
  const auto released = launch.released.find(earlier.block), acquired = launch.acquired.find(block.number);
  return released != launch.released.end() && acquired != launch.acquired.end() && released->second > earlier.sequence &&
         acquired->second >= released->second;
}

bool clash(const Lane& lane, const Access& earlier, std::uint8_t mask, Touch touch) {
  if ((earlier.mask & mask) == 0 || (earlier.touch == Touch::Atomic && touch == Touch::Atomic)) return false;
  return !isAfter(lane, earlier);
}

std::string placeOf(const LaunchState& launch, const Access& access) {
  const std::uint32_t x = access.block % launch.grid[0], rest = access.block / launch.grid[0];
  return fmt::format("thread {} of block ({},{},{})", access.thread, x, rest % launch.grid[1], rest / launch.grid[1]);
}

[[noreturn]] void refuse(const Lane& lane, const Instruction& in, const Access& earlier, Touch touch, const std::string& where) {
  const char* words[] = {"reads", "writes", "changes"};
  const char* earlierWords[] = {"read", "wrote", "changed"};
  fail(lane, in, FaultKind::Race,
       fmt::format("race: {} {}, which {} {}, and nothing orders the two", words[static_cast<int>(touch)], where,
                   placeOf(*lane.block->launch, earlier), earlierWords[static_cast<int>(earlier.touch)]));
}

/// The access that clashes with what is in the cell; notes the new one.
const Access* note(const Lane& lane, Cell& cell, const Access& now) {
  if (now.touch == Touch::Read) {
    if (clash(lane, cell.writer, now.mask, now.touch)) return &cell.writer;
    if (cell.readers[0].mask != 0 && cell.readers[0].thread != now.thread) cell.readers[1] = cell.readers[0];
    cell.readers[0] = now;
    return nullptr;
  }
  if (clash(lane, cell.writer, now.mask, now.touch)) return &cell.writer;
  for (const Access& reader : cell.readers)
    if (clash(lane, reader, now.mask, now.touch)) return &reader;
  cell.writer = now;
  return nullptr;
}

struct Words {
  std::uint32_t serial;
  const std::byte* present;  ///< what is there now
};

/// memcmp, without a call for words.
bool sameBytes(const void* a, const void* b, unsigned size) {
  if (size != 4) return std::memcmp(a, b, size) == 0;
  std::uint32_t first = 0, second = 0;
  std::memcpy(&first, a, 4);
  std::memcpy(&second, b, 4);
  return first == second;
}

template <class CellAt>
void noteWords(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, const Use& use, const Words& words,
               const CellAt& cellAt) {
  // Whoever writes what is there already disturbs nobody.
  if (use.touch == Touch::Write && use.value != nullptr && sameBytes(words.present, use.value, size)) return;
  for (std::uint64_t word = address / 4 * 4; word < address + size; word += 4) {
    const unsigned first = word < address ? static_cast<unsigned>(address - word) : 0;
    const unsigned end = static_cast<unsigned>(std::min<std::uint64_t>(4, address + size - word));
    const auto mask = static_cast<std::uint8_t>(((1U << end) - 1) & ~((1U << first) - 1));
    Cell& cell = cellAt(word);
    if (cell.serial != words.serial) {
      cell = Cell{};
      cell.serial = words.serial;
    }
    if (const Access* earlier = note(lane, cell, accessOf(lane, use.touch, mask))) {
      const Access copy = *earlier;
      const bool shared = spaceAt(address) == Space::Shared;
      refuse(lane, in, copy, use.touch,
             shared ? fmt::format("byte {} of shared memory", word - kSharedBase + first)
                    : fmt::format("{:#x} ({})", word + first, lane.block->launch->memory->nearest(word + first)));
    }
  }
}

}  // namespace

void noteGlobal(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, const Use& use) {
  Memory& memory = *lane.block->launch->memory;
  noteWords(lane, in, address, size, use, {lane.block->launch->serial, memory.bytes(address)},
            [&](std::uint64_t word) -> Cell& { return memory.cell(word); });
}

void noteShared(const Lane& lane, const Instruction& in, std::uint64_t address, unsigned size, const Use& use) {
  Block& block = *lane.block;
  noteWords(lane, in, address, size, use, {block.serial, block.shared.data() + (address - kSharedBase)},
            [&](std::uint64_t word) -> Cell& { return block.sharedCells[(word - kSharedBase) / 4]; });
}

}  // namespace tbem::card
