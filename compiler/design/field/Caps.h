// Points of which no three lie on a line: linear arrays of strength 3. Internal to this folder.
#pragma once

#include <cstdint>
#include <vector>

namespace tbem::design {

/// The points of a cap in PG(m-1, q), `wanted` of them at most: coordinates in GF(q), m each. The largest that these give: conics
/// and hyperovals, elliptic quadrics (Bose 1947), the cap of 56 points in PG(5, 3) (Hill 1973), and products of a cap in PG(a-1,
/// q) with one in AG(m-a, q) (Mukhopadhyay 1978); all points outside a hyperplane for q = 2. q a power of a prime up to 1024, m
/// >= 2.
std::vector<std::vector<std::uint32_t>> capPoints(std::uint32_t q, std::uint32_t m, std::size_t wanted);
/// How many points it has, 2^40 where they are more.
std::uint64_t capSize(std::uint32_t q, std::uint32_t m);

}  // namespace tbem::design
