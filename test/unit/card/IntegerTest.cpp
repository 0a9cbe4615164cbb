// Whole numbers of the card against the processor's.
#include "test/unit/card/Kernels.h"

namespace tbem::card::testing {
namespace {

template <class T>
class Integers : public ::testing::Test {};
using Types = ::testing::Types<std::uint16_t, std::uint32_t, std::uint64_t, std::int16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Integers, Types);

template <class T>
using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;

template <class T, class Expected>
void two(const std::string& name, const Expected& expected) {
  const auto a = wholeNumbers<T>(1), b = wholeNumbers<T>(2);
  const std::string full = name + "." + typeName<T>();
  expectEach(full, evaluate<T>(full + " %d, %a0, %a1;", a, b), expected, a, b);
}

TYPED_TEST(Integers, Arithmetic) {
  using T = TypeParam;
  two<T>("add", [](T a, T b) { return static_cast<Wide<T>>(a) + b; });
  two<T>("sub", [](T a, T b) { return static_cast<Wide<T>>(a) - b; });
  two<T>("mul.lo", [](T a, T b) { return static_cast<Wide<T>>(a) * b; });
  two<T>("mul.hi", [](T a, T b) { return static_cast<Wide<T>>(a) * b >> (8 * sizeof(T)); });
  two<T>("min", [](T a, T b) { return std::min(a, b); });
  two<T>("max", [](T a, T b) { return std::max(a, b); });
}

TYPED_TEST(Integers, Division) {
  using T = TypeParam;
  const auto a = wholeNumbers<T>(1);
  auto b = wholeNumbers<T>(2);
  for (T& divisor : b)
    if (divisor == 0) divisor = 7;
  const std::string type = typeName<T>();
  expectEach(
      "div", evaluate<T>("div." + type + " %d, %a0, %a1;", a, b), [](T x, T y) { return static_cast<Wide<T>>(x) / y; }, a, b);
  expectEach(
      "rem", evaluate<T>("rem." + type + " %d, %a0, %a1;", a, b), [](T x, T y) { return static_cast<Wide<T>>(x) % y; }, a, b);
}

TYPED_TEST(Integers, MultiplyAdd) {
  using T = TypeParam;
  const auto a = wholeNumbers<T>(1), b = wholeNumbers<T>(2), c = wholeNumbers<T>(3);
  const std::string type = typeName<T>();
  expectEach(
      "mad.lo", evaluate<T>("mad.lo." + type + " %d, %a0, %a1, %a2;", a, b, c),
      [](T x, T y, T z) { return static_cast<Wide<T>>(x) * y + z; }, a, b, c);
  expectEach(
      "mad.hi", evaluate<T>("mad.hi." + type + " %d, %a0, %a1, %a2;", a, b, c),
      [](T x, T y, T z) { return (static_cast<Wide<T>>(x) * y >> (8 * sizeof(T))) + z; }, a, b, c);
  expectEach(
      "sad", evaluate<T>("sad." + type + " %d, %a0, %a1, %a2;", a, b, c),
      [](T x, T y, T z) { return static_cast<Wide<T>>(x < y ? y : x) - (x < y ? x : y) + z; }, a, b, c);
}

template <class T, class To>
void wide() {
  const auto a = wholeNumbers<T>(1), b = wholeNumbers<T>(2);
  const auto c = wholeNumbers<To>(3);
  const std::string type = typeName<T>();
  expectEach(
      "mul.wide", evaluate<To>("mul.wide." + type + " %d, %a0, %a1;", a, b), [](T x, T y) { return static_cast<Wide<T>>(x) * y; },
      a, b);
  expectEach(
      "mad.wide", evaluate<To>("mad.wide." + type + " %d, %a0, %a1, %a2;", a, b, c),
      [](T x, T y, To z) { return static_cast<Wide<T>>(x) * y + z; }, a, b, c);
}

TEST(Integer, WideProducts) {
  wide<std::uint16_t, std::uint32_t>();
  wide<std::int16_t, std::int32_t>();
  wide<std::uint32_t, std::uint64_t>();
  wide<std::int32_t, std::int64_t>();
}

TEST(Integer, SignedOnly) {
  const auto a = wholeNumbers<std::int32_t>(1), b = wholeNumbers<std::int32_t>(2);
  const auto saturated = [](__int128 exact) { return std::clamp<__int128>(exact, INT32_MIN, INT32_MAX); };
  expectEach(
      "neg", evaluate<std::int32_t>("neg.s32 %d, %a0;", a), [](std::int64_t x) { return -x; }, a);
  expectEach(
      "abs", evaluate<std::int32_t>("abs.s32 %d, %a0;", a), [](std::int64_t x) { return x < 0 ? -x : x; }, a);
  expectEach(
      "add.sat", evaluate<std::int32_t>("add.sat.s32 %d, %a0, %a1;", a, b),
      [&](__int128 x, __int128 y) { return saturated(x + y); }, a, b);
  expectEach(
      "sub.sat", evaluate<std::int32_t>("sub.sat.s32 %d, %a0, %a1;", a, b),
      [&](__int128 x, __int128 y) { return saturated(x - y); }, a, b);
}

TEST(Integer, DotProductsOfBytes) {
  const auto a = wholeNumbers<std::uint32_t>(1), b = wholeNumbers<std::uint32_t>(2);
  const auto c = wholeNumbers<std::int32_t>(3);
  const auto byte = [](std::uint32_t word, int at) { return static_cast<std::int8_t>(word >> (8 * at)); };
  expectEach(
      "dp4a", evaluate<std::int32_t>("dp4a.s32.s32 %d, %a0, %a1, %a2;", a, b, c),
      [&](std::uint32_t x, std::uint32_t y, std::int64_t z) {
        for (int at = 0; at < 4; ++at) z += byte(x, at) * byte(y, at);
        return z;
      },
      a, b, c);
}

// Sums and products of 128 bits in words of 32 and of 64.
TEST(Integer, CarryFromWordToWord) {
  using Whole = unsigned __int128;
  const auto a = wholeNumbers<std::uint64_t>(1), b = wholeNumbers<std::uint64_t>(2), c = wholeNumbers<std::uint64_t>(3);
  expectEach(
      "addc", evaluate<std::uint64_t>("add.cc.u64 %i3, %a0, %a1;\naddc.u64 %d, %a2, 0;", a, b, c),
      [](Whole x, Whole y, Whole z) { return ((x + y) >> 64) + z; }, a, b, c);
  expectEach(
      "subc", evaluate<std::uint64_t>("sub.cc.u64 %i3, %a0, %a1;\nsubc.u64 %d, %a2, 5;", a, b, c),
      [](Whole x, Whole y, Whole z) { return z - 5 - (x < y ? 1 : 0); }, a, b, c);
  const char* square = R"(
    .reg .b32 %l<12>;
    mov.b64 {%l0, %l1}, %a0;
    mov.b64 {%l2, %l3}, %a1;
    mul.lo.u32 %l4, %l0, %l2;
    mul.hi.u32 %l5, %l0, %l2;
    mad.lo.cc.u32 %l5, %l0, %l3, %l5;
    madc.hi.u32 %l6, %l0, %l3, 0;
    mad.lo.cc.u32 %l5, %l1, %l2, %l5;
    madc.hi.cc.u32 %l6, %l1, %l2, %l6;
    madc.hi.u32 %l7, %l1, %l3, 0;
    mad.lo.cc.u32 %l6, %l1, %l3, %l6;
    addc.u32 %l7, %l7, 0;
    mov.b64 %d, {%l6, %l7};)";
  expectEach(
      "mad.cc", evaluate<std::uint64_t>(square, a, b), [](Whole x, Whole y) { return x * y >> 64; }, a, b);
}

}  // namespace
}  // namespace tbem::card::testing
