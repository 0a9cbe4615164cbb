// Many random numbers at once: what Philox.h defines, vectorised. The results are those of one IEEE double operation after
// another (no fused multiply-add, no C library), so they are the same on every processor.
#pragma once

#include <cstdint>
#include <span>

namespace tbem::runtime {

/// Elements first, first + 1, .. of stream `stream` at step 0.
/// Uniform in [0, 1): philoxUniform.
void uniforms(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<double> out);
/// Standard normal by Box & Muller (1958) from words 0 and 1: sqrt(-2 ln u) cos(2 pi v), u = (word 0 + 1/2) / 2^32,
/// v = word 1 / 2^32; within 4e-15 (relative to 1 for small values) of the exact formula; |value| <= 6.77.
void normals(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<double> out);

}  // namespace tbem::runtime
