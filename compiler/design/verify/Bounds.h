// Lower bounds on the size of an orthogonal array.
#pragma once

#include <cstdint>
#include <vector>

namespace tbem::design {

/// Lower bounds on the runs of any array of this strength. 0: leaves 64 bits.
struct Bounds {
  std::uint64_t divisor = 1;   ///< runs are a multiple of it: lcm of all products of `strength` level numbers
  std::uint64_t rao = 1;       ///< Rao 1947, for mixed levels
  std::uint64_t smallest = 1;  ///< least multiple of `divisor` >= `rao` that none of the bounds for equal levels excludes, for
                               ///< the factors of each number of levels: Bush 1952, Bose and Bush 1952, Bierbrauer 1995
  const char* by = "divisibility";  ///< what excludes the next smaller multiple: "Rao's bound", "Bush's bound", ...
};
Bounds bounds(const std::vector<std::uint32_t>& levels, std::uint32_t strength);
/// Delsarte 1973, over the product scheme for mixed levels: solved in floating point, certified in integers. 1 where the program
/// would be large. Milliseconds.
std::uint64_t linearProgrammingBound(const std::vector<std::uint32_t>& levels, std::uint32_t strength);
/// `bounds`, raised by `linearProgrammingBound` where that is higher.
Bounds sharpBounds(const std::vector<std::uint32_t>& levels, std::uint32_t strength);

}  // namespace tbem::design
