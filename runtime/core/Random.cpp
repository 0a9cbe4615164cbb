#include "runtime/core/Random.h"

#include "runtime/core/Philox.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define TBEM_X86 1
#else
#define TBEM_X86 0
#endif
// Not with the thread sanitizer, whose runtime is not there yet when the loader picks a clone.
#if TBEM_X86 && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define TBEM_CLONES __attribute__((target_clones("arch=skylake-avx512", "arch=haswell", "default")))
#else
#define TBEM_CLONES
#endif
// A function of its own would be one for the default processor alone, and would keep its caller from being vectors.
#define TBEM_INLINE __attribute__((always_inline)) inline

namespace tbem::runtime {
namespace {

constexpr std::size_t kBlock = 512;

struct Words {
  std::uint32_t first[kBlock], second[kBlock];
};

struct Key {
  std::uint32_t low, high;
};
Key keyOf(std::uint64_t seed, std::uint64_t stream) {
  return {static_cast<std::uint32_t>(seed) ^ static_cast<std::uint32_t>(stream >> 32U), static_cast<std::uint32_t>(seed >> 32U)};
}

constexpr std::uint32_t kFactor0 = 0xD2511F53U, kFactor1 = 0xCD9E8D57U, kWeyl0 = 0x9E3779B9U, kWeyl1 = 0xBB67AE85U;
constexpr int kRounds = 10;

/// Words 0 and 1 of elements [at, at + kBlock): the rounds of philox().
void wordsOneByOne(Key key, std::uint64_t stream, std::uint64_t at, Words& out) {
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t element = at + i;
    std::uint32_t c0 = static_cast<std::uint32_t>(element), c1 = static_cast<std::uint32_t>(element >> 32U), c2 = 0,
                  c3 = static_cast<std::uint32_t>(stream);
    Key k = key;
    for (int round = 0; round < kRounds; ++round) {
      const std::uint64_t p0 = std::uint64_t{kFactor0} * c0, p1 = std::uint64_t{kFactor1} * c2;
      c0 = static_cast<std::uint32_t>(p1 >> 32U) ^ c1 ^ k.low;
      c2 = static_cast<std::uint32_t>(p0 >> 32U) ^ c3 ^ k.high;
      c1 = static_cast<std::uint32_t>(p1);
      c3 = static_cast<std::uint32_t>(p0);
      k.low += kWeyl0;
      k.high += kWeyl1;
    }
    out.first[i] = c0;
    out.second[i] = c1;
  }
}

#if TBEM_X86
/// The same, four elements at a time in lanes of 64 bits, of which the lower halves count: the product that AVX2 has reads these
/// alone. GCC makes three products and as many shuffles of the loop above.
__attribute__((target("avx2"))) void wordsInLanes(Key key, std::uint64_t stream, std::uint64_t at, Words& out) {
  constexpr std::size_t kLanes = 4;
  using Lanes = std::uint64_t __attribute__((vector_size(8 * kLanes)));
  const __m256i factor0 = _mm256_set1_epi64x(kFactor0), factor1 = _mm256_set1_epi64x(kFactor1);
  for (std::size_t i = 0; i < kBlock; i += kLanes) {
    Lanes c0 = Lanes{0, 1, 2, 3} + (at + i), c1 = c0 >> 32U, c2{}, c3 = Lanes{} + stream;
    Key k = key;
    for (int round = 0; round < kRounds; ++round) {
      const Lanes p0 = reinterpret_cast<Lanes>(_mm256_mul_epu32(reinterpret_cast<__m256i>(c0), factor0)),
                  p1 = reinterpret_cast<Lanes>(_mm256_mul_epu32(reinterpret_cast<__m256i>(c2), factor1));
      c0 = (p1 >> 32U) ^ c1 ^ k.low;
      c2 = (p0 >> 32U) ^ c3 ^ k.high;
      c1 = p1;
      c3 = p0;
      k.low += kWeyl0;
      k.high += kWeyl1;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      out.first[i + lane] = static_cast<std::uint32_t>(c0[lane]);
      out.second[i + lane] = static_cast<std::uint32_t>(c1[lane]);
    }
  }
}
#endif

void words(Key key, std::uint64_t stream, std::uint64_t at, Words& out) {
#if TBEM_X86
  if (__builtin_cpu_supports("avx2")) return wordsInLanes(key, stream, at, out);
#endif
  wordsOneByOne(key, stream, at, out);
}

/// ln x for a normal 0 < x < 1: x = 2^e m with sqrt(1/2) <= m < sqrt(2), ln m = 2 artanh((m - 1) / (m + 1)).
TBEM_INLINE double logarithm(double x) {
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
TBEM_INLINE double cosine(double v) {
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
  const Key key = keyOf(seed, stream);
  Words block;
  double made[kBlock];
  for (std::size_t at = 0; at < out.size(); at += kBlock) {
    words(key, stream, first + at, block);
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
