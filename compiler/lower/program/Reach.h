// What steps read and write of the arena: whether two may change places.
#pragma once

#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <vector>

namespace tbem::estimate {

/// Bytes [begin, end) of the arena.
struct Extent {
  std::uint64_t begin = 0, end = 0;
  bool meets(const Extent& other) const { return begin < other.end && other.begin < end; }
};
Extent extentOf(const Program& program, BufferId buffer);

struct Reach {
  std::vector<Extent> reads, writes;
  void add(const Reach& other);
};
/// Of a loop or a call, with its workspace. Whole allocations, so that no order of elements matters.
Reach reachOf(const Program& program, const Step& step);

/// Whether neither writes what the other reads or writes.
bool areApart(const Reach& a, const Reach& b);

}  // namespace tbem::estimate
