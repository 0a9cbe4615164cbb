#include "runtime/core/Random.h"

#include "runtime/core/Philox.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TBEM_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define TBEM_CLONES
#endif

namespace tbem::runtime {
namespace {

constexpr std::size_t kBlock = 512;

struct Words {
  std::uint32_t first[kBlock], second[kBlock];
};

/// Words 0 and 1 of elements [at, at + kBlock): the rounds of philox(), written so that a compiler makes vectors of it.
TBEM_CLONES void words(std::uint64_t seed, std::uint64_t stream, std::uint64_t at, Words& out) {
  const auto key0 = static_cast<std::uint32_t>(seed) ^ static_cast<std::uint32_t>(stream >> 32U),
             key1 = static_cast<std::uint32_t>(seed >> 32U);
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t element = at + i;
    std::uint32_t c0 = static_cast<std::uint32_t>(element), c1 = static_cast<std::uint32_t>(element >> 32U), c2 = 0,
                  c3 = static_cast<std::uint32_t>(stream);
    std::uint32_t k0 = key0, k1 = key1;
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c0, p1 = std::uint64_t{0xCD9E8D57U} * c2;
      const std::uint32_t n0 = static_cast<std::uint32_t>(p1 >> 32U) ^ c1 ^ k0,
                          n2 = static_cast<std::uint32_t>(p0 >> 32U) ^ c3 ^ k1;
      c1 = static_cast<std::uint32_t>(p1);
      c3 = static_cast<std::uint32_t>(p0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    out.first[i] = c0;
    out.second[i] = c1;
  }
}

/// ln x for a normal 0 < x < 1: x = 2^e m with sqrt(1/2) <= m < sqrt(2), ln m = 2 artanh((m - 1) / (m + 1)).
inline double logarithm(double x) {
  constexpr std::uint64_t kRootHalf = 0x3FE6A09E667F3BCDU, kBias = std::uint64_t{1023} << 52U;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x), shifted = bits - kRootHalf + kBias, exponent = shifted >> 52U;
  const double m = std::bit_cast<double>(bits - (exponent << 52U) + kBias);
  const double e =
      std::bit_cast<double>(exponent | 0x4330000000000000U) - (0x1p52 + 1023);  // exponent as a double, less its bias
  const double s = (m - 1) / (m + 1), z = s * s;
  const double series =
      2 + z * (2.0 / 3 +
               z * (2.0 / 5 +
                    z * (2.0 / 7 +
                         z * (2.0 / 9 + z * (2.0 / 11 + z * (2.0 / 13 + z * (2.0 / 15 + z * (2.0 / 17 + z * (2.0 / 19)))))))));
  return e * 0.69314718055994531 + s * series;
}

/// cos(2 pi v) for v in [0, 1): the nearest quarter turn, and Taylor's series of the rest (at most an eighth of a turn).
inline double cosine(double v) {
  const double shifted = 4 * v + 0x1.8p52, quarters = shifted - 0x1.8p52;
  const std::uint64_t quarter = std::bit_cast<std::uint64_t>(shifted);
  const double t = (v - quarters * 0.25) * 6.283185307179586477, z = t * t;
  const double c =
      1 + z * (-1.0 / 2 +
               z * (1.0 / 24 +
                    z * (-1.0 / 720 +
                         z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600 + z * (-1.0 / 87178291200 +
                                                                                              z * (1.0 / 20922789888000))))))));
  const double s =
      t * (1 + z * (-1.0 / 6 +
                    z * (1.0 / 120 +
                         z * (-1.0 / 5040 + z * (1.0 / 362880 +
                                                 z * (-1.0 / 39916800 + z * (1.0 / 6227020800 + z * (-1.0 / 1307674368000))))))));
  // cos, -sin, -cos, sin for quarters 0, 1, 2, 3; chosen by masks, for a branch would keep this from being a vector.
  const std::uint64_t odd = 0 - (quarter & 1U), sign = ((quarter + 1) & 2U) << 62U;
  return std::bit_cast<double>(((std::bit_cast<std::uint64_t>(s) & odd) | (std::bit_cast<std::uint64_t>(c) & ~odd)) ^ sign);
}

TBEM_CLONES void boxMuller(const Words& in, double* out) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const double u = (static_cast<double>(in.first[i]) + 0.5) * 0x1p-32, v = static_cast<double>(in.second[i]) * 0x1p-32;
    out[i] = std::sqrt(-2 * logarithm(u)) * cosine(v);
  }
}

TBEM_CLONES void uniform(const Words& in, double* out) {
  for (std::size_t i = 0; i < kBlock; ++i) out[i] = static_cast<double>(in.first[i] >> 8U) * 0x1p-24;
}

void fill(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<double> out,
          void (*make)(const Words&, double*)) {
  Words block;
  double made[kBlock];
  for (std::size_t at = 0; at < out.size(); at += kBlock) {
    words(seed, stream, first + at, block);
    make(block, made);
    std::copy_n(made, std::min(kBlock, out.size() - at), out.data() + at);
  }
}

}  // namespace

void uniforms(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<double> out) {
  fill(seed, stream, first, out, uniform);
}
void normals(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, std::span<double> out) {
  fill(seed, stream, first, out, boxMuller);
}

}  // namespace tbem::runtime
