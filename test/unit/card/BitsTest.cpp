// Bits of the card against the processor's.
#include "test/unit/card/Kernels.h"

#include <bit>

namespace tbem::card::testing {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

template <class T>
class Bits : public ::testing::Test {};
using Types = ::testing::Types<std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Bits, Types);

TYPED_TEST(Bits, Logic) {
  using T = TypeParam;
  const auto a = wholeNumbers<T>(1), b = wholeNumbers<T>(2);
  const std::string width = sizeof(T) == 4 ? ".b32" : ".b64";
  expectEach(
      "and", evaluate<T>("and" + width + " %d, %a0, %a1;", a, b), [](T x, T y) { return x & y; }, a, b);
  expectEach(
      "or", evaluate<T>("or" + width + " %d, %a0, %a1;", a, b), [](T x, T y) { return x | y; }, a, b);
  expectEach(
      "xor", evaluate<T>("xor" + width + " %d, %a0, %a1;", a, b), [](T x, T y) { return x ^ y; }, a, b);
  expectEach(
      "not", evaluate<T>("not" + width + " %d, %a0;", a), [](T x) { return ~x; }, a);
  expectEach(
      "cnot", evaluate<T>("cnot" + width + " %d, %a0;", a), [](T x) { return x == 0 ? 1 : 0; }, a);
}

TYPED_TEST(Bits, Shifts) {
  using T = TypeParam;
  using Signed = std::make_signed_t<T>;
  constexpr U32 kWidth = 8 * sizeof(T);
  const auto a = wholeNumbers<T>(1);
  const auto s = wholeNumbers<Signed>(1);
  auto by = wholeNumbers<U32>(2);
  for (U32& distance : by)
    if (distance > 100) distance %= 80;
  const std::string bits = std::to_string(kWidth);
  expectEach(
      "shl", evaluate<T>("shl.b" + bits + " %d, %a0, %a1;", a, by), [](T x, U32 y) { return y >= kWidth ? 0 : x << y; }, a, by);
  expectEach(
      "shr.u", evaluate<T>("shr.u" + bits + " %d, %a0, %a1;", a, by), [](T x, U32 y) { return y >= kWidth ? 0 : x >> y; }, a, by);
  expectEach(
      "shr.s", evaluate<Signed>("shr.s" + bits + " %d, %a0, %a1;", s, by),
      [](Signed x, U32 y) { return x >> std::min(y, kWidth - 1); }, s, by);
}

TYPED_TEST(Bits, Counts) {
  using T = TypeParam;
  using Signed = std::make_signed_t<T>;
  const auto a = wholeNumbers<T>(1);
  const auto s = wholeNumbers<Signed>(1);
  const std::string bits = std::to_string(8 * sizeof(T));
  expectEach(
      "popc", evaluate<U32>("popc.b" + bits + " %d, %a0;", a), [](T x) { return std::popcount(x); }, a);
  expectEach(
      "clz", evaluate<U32>("clz.b" + bits + " %d, %a0;", a), [](T x) { return std::countl_zero(x); }, a);
  expectEach(
      "bfind.u", evaluate<U32>("bfind.u" + bits + " %d, %a0;", a), [](T x) { return std::bit_width(x) - 1; }, a);
  expectEach(
      "bfind.s", evaluate<U32>("bfind.s" + bits + " %d, %a0;", s),
      [](Signed x) { return std::bit_width(static_cast<T>(x < 0 ? ~x : x)) - 1; }, s);
  expectEach(
      "brev twice", evaluate<T>("brev.b" + bits + " %d, %a0;\nbrev.b" + bits + " %d, %d;", a), [](T x) { return x; }, a);
  expectEach(
      "brev", evaluate<U32>("brev.b" + bits + " %a0, %a0;\nclz.b" + bits + " %d, %a0;", a),
      [](T x) { return std::countr_zero(x); }, a);
}

// The definitions of the manual, bit by bit.
TYPED_TEST(Bits, Fields) {
  using T = TypeParam;
  using Signed = std::make_signed_t<T>;
  constexpr int kWidth = 8 * sizeof(T);
  const auto a = wholeNumbers<T>(1), b = wholeNumbers<T>(2);
  const auto s = wholeNumbers<Signed>(1);
  std::vector<U32> from(a.size()), length(a.size());
  for (std::size_t at = 0; at < a.size(); ++at) {
    from[at] = at % 40 * 2;
    length[at] = at / 40 * 5;
  }
  const std::string bits = std::to_string(kWidth);
  const auto insert = [](T x, T y, U32 start, U32 count) {
    const T mask = start >= kWidth || count == 0 ? 0 : (count >= kWidth ? ~T{0} : (T{1} << count) - 1) << start;
    return (y & ~mask) | (start >= kWidth ? 0 : x << start & mask);
  };
  expectEach("bfi", evaluate<T>("bfi.b" + bits + " %d, %a0, %a1, %a2, %a3;", a, b, from, length), insert, a, b, from, length);
  const auto extract = [](T x, U32 start, U32 count) {
    const T shifted = start >= kWidth ? 0 : x >> start;
    return count >= kWidth ? shifted : shifted & ((T{1} << count) - 1);
  };
  expectEach("bfe.u", evaluate<T>("bfe.u" + bits + " %d, %a0, %a1, %a2;", a, from, length), extract, a, from, length);
  const auto extractSigned = [](Signed x, U32 start, U32 count) -> Signed {
    if (count == 0) return 0;
    const __int128 wide = x;  // its sign goes on for ever
    const __int128 shifted = wide >> std::min(start, 127U);
    return count >= kWidth ? static_cast<Signed>(shifted) : static_cast<Signed>(shifted << (128 - count) >> (128 - count));
  };
  expectEach("bfe.s", evaluate<Signed>("bfe.s" + bits + " %d, %a0, %a1, %a2;", s, from, length), extractSigned, s, from, length);
}

TEST(Bits32, FunnelShifts) {
  const auto a = wholeNumbers<U32>(1), b = wholeNumbers<U32>(2), by = wholeNumbers<U32>(3);
  const auto both = [](U32 low, U32 high) { return static_cast<U64>(high) << 32 | low; };
  expectEach(
      "shf.l.wrap", evaluate<U32>("shf.l.wrap.b32 %d, %a0, %a1, %a2;", a, b, by),
      [&](U32 x, U32 y, U32 z) { return both(x, y) << (z & 31) >> 32; }, a, b, by);
  expectEach(
      "shf.r.wrap", evaluate<U32>("shf.r.wrap.b32 %d, %a0, %a1, %a2;", a, b, by),
      [&](U32 x, U32 y, U32 z) { return both(x, y) >> (z & 31); }, a, b, by);
  expectEach(
      "shf.l.clamp", evaluate<U32>("shf.l.clamp.b32 %d, %a0, %a1, %a2;", a, b, by),
      [&](U32 x, U32 y, U32 z) { return both(x, y) << std::min(z, 32U) >> 32; }, a, b, by);
  expectEach(
      "shf.r.clamp", evaluate<U32>("shf.r.clamp.b32 %d, %a0, %a1, %a2;", a, b, by),
      [&](U32 x, U32 y, U32 z) { return both(x, y) >> std::min(z, 32U); }, a, b, by);
}

TEST(Bits32, PermutedBytes) {
  const auto a = wholeNumbers<U32>(1), b = wholeNumbers<U32>(2), choice = wholeNumbers<U32>(3);
  expectEach(
      "prmt", evaluate<U32>("prmt.b32 %d, %a0, %a1, %a2;", a, b, choice),
      [](U32 x, U32 y, U32 z) {
        std::uint8_t bytes[8], result[4];
        std::memcpy(bytes, &x, 4);
        std::memcpy(bytes + 4, &y, 4);
        for (int at = 0; at < 4; ++at) {
          const U32 nibble = z >> (4 * at) & 15;
          result[at] = nibble < 8 ? bytes[nibble] : bytes[nibble - 8] >= 128 ? 255 : 0;
        }
        U32 word;
        std::memcpy(&word, result, 4);
        return word;
      },
      a, b, choice);
}

TEST(Bits32, TablesOfThree) {
  const auto a = wholeNumbers<U32>(1), b = wholeNumbers<U32>(2), c = wholeNumbers<U32>(3);
  // The table of f is f of 0xf0, 0xcc and 0xaa.
  expectEach(
      "lop3", evaluate<U32>("lop3.b32 %d, %a0, %a1, %a2, " + std::to_string((0xf0 & 0xcc) ^ 0xaa) + ";", a, b, c),
      [](U32 x, U32 y, U32 z) { return (x & y) ^ z; }, a, b, c);
  expectEach(
      "lop3", evaluate<U32>("lop3.b32 %d, %a0, %a1, %a2, " + std::to_string((0xf0 | (~0xcc & 0xff)) & 0xaa) + ";", a, b, c),
      [](U32 x, U32 y, U32 z) { return (x | ~y) & z; }, a, b, c);
}

}  // namespace
}  // namespace tbem::card::testing
