// Who touched four bytes last, and whether what touches them now comes after it.
//
// Accesses of one thread are ordered; those of threads of a block by a barrier between them; those of lanes of a warp by a
// collective of both between them; those of different blocks by a fence and an atomic operation behind the first and before the
// second. Of readers the last two are kept, and a write of what is there already is passed over, so a race may be missed, but
// none is invented.
#pragma once

#include <cstdint>
#include <cstring>

namespace tbem::card {

enum class Touch : std::uint8_t { Read, Write, Atomic };

struct Access {
  std::uint32_t block = 0;
  std::uint32_t sequence = 0;  ///< atomic operations of the launch before it
  std::uint16_t interval = 0;  ///< barriers of the block before it
  std::uint16_t clock = 0;     ///< collectives of the thread before it
  std::uint16_t thread = 0;
  std::uint8_t mask = 0;  ///< of the four bytes; 0: none
  Touch touch = Touch::Read;
};

/// Intervals and clocks end here; accesses that late count as ordered.
inline constexpr std::uint16_t kLatest = 0xffff;

/// Belongs to the launch (global memory) or the block (shared memory) of its serial number; else it is as if empty.
struct Cell {
  std::uint32_t serial = 0;
  Access writer;
  Access readers[2];
};

}  // namespace tbem::card
