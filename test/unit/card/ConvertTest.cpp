// Conversions of the card against the processor's and against exact arithmetic.
#include "test/unit/card/Kernels.h"

#include <cmath>

namespace tbem::card::testing {
namespace {

template <class To, class From>
void wholeToWhole() {
  const auto a = wholeNumbers<From>(1);
  const std::string types = std::string(".") + typeName<To>() + "." + typeName<From>();
  expectEach(
      "cvt" + types, evaluate<To>("cvt" + types + " %d, %a0;", a), [](From x) { return static_cast<To>(x); }, a);
  const auto clamped = [](__int128 x) {
    return std::clamp<__int128>(x, std::numeric_limits<To>::min(), std::numeric_limits<To>::max());
  };
  expectEach("cvt.sat" + types, evaluate<To>("cvt.sat" + types + " %d, %a0;", a), clamped, a);
}

TEST(Convert, WholeNumbers) {
  wholeToWhole<std::int64_t, std::int32_t>();
  wholeToWhole<std::uint64_t, std::uint32_t>();
  wholeToWhole<std::int32_t, std::int64_t>();
  wholeToWhole<std::uint32_t, std::int64_t>();
  wholeToWhole<std::int64_t, std::uint32_t>();
  wholeToWhole<std::uint16_t, std::int32_t>();
  wholeToWhole<std::int16_t, std::uint64_t>();
  wholeToWhole<std::int32_t, std::int16_t>();
  wholeToWhole<std::uint8_t, std::int32_t>();
  wholeToWhole<std::int32_t, std::int8_t>();
}

/// What a number rounded to a whole one is, without the processor's modes.
template <class T>
T wholeOf(T x, const std::string& mode) {
  if (mode == "rmi") return std::floor(x);
  if (mode == "rpi") return std::ceil(x);
  if (mode == "rzi") return std::trunc(x);
  const T below = std::floor(x), rest = x - below;
  const bool up = rest > T{0.5} || (rest == T{0.5} && std::fmod(below, T{2}) != 0);
  return std::copysign(up ? below + 1 : below, x);
}

template <class To, class From>
void realToWhole() {
  const auto a = allReals<From>(1);
  for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
    const std::string full = "cvt." + mode + "." + typeName<To>() + "." + typeName<From>();
    using Limits = std::numeric_limits<To>;
    const auto expected = [&](From x) -> To {
      if (std::isnan(x))
        return sizeof(To) == 8 || sizeof(From) == 8 ? static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1)) : To{0};
      const From whole = wholeOf(x, mode);
      if (whole >= std::ldexp(From{1}, Limits::digits)) return Limits::max();
      if (whole <= static_cast<From>(Limits::min())) return Limits::min();
      return static_cast<To>(whole);
    };
    expectEach(full, evaluate<To>(full + " %d, %a0;", a), expected, a);
  }
}

TEST(Convert, RealToWholeNumbers) {
  realToWhole<std::int32_t, float>();
  realToWhole<std::uint32_t, float>();
  realToWhole<std::int64_t, float>();
  realToWhole<std::int32_t, double>();
  realToWhole<std::int64_t, double>();
  realToWhole<std::uint64_t, double>();
  realToWhole<std::uint16_t, float>();
}

TEST(Convert, RealToWholeRealNumbers) {
  const auto a = allReals<float>(1);
  const auto b = allReals<double>(1);
  for (const std::string mode : {"rni", "rzi", "rmi", "rpi"}) {
    const auto same = [&]<class T>(T x) { return std::isfinite(x) ? wholeOf(x, mode) : x; };
    expectEach("cvt." + mode + ".f32.f32", evaluate<float>("cvt." + mode + ".f32.f32 %d, %a0;", a), same, a);
    expectEach("cvt." + mode + ".f64.f64", evaluate<double>("cvt." + mode + ".f64.f64 %d, %a0;", b), same, b);
  }
}

/// Whether `value` is `exact` rounded in that direction; to nearest, that none is nearer.
template <class T>
bool isRounded(T value, __float128 exact, const std::string& mode) {
  const T infinity = std::numeric_limits<T>::infinity();
  const __float128 here = value, below = std::nextafter(value, -infinity), above = std::nextafter(value, infinity);
  if (here == exact) return true;
  if (mode == "rm") return here < exact && exact < above;
  if (mode == "rp") return here > exact && exact > below;
  if (mode == "rz") return exact > 0 ? here < exact && exact < above : here > exact && exact > below;
  return here < exact ? (exact - here) * 2 <= above - here : (here - exact) * 2 <= here - below;
}

template <class To, class From>
void rounded(const std::vector<From>& a) {
  for (const std::string mode : {"rn", "rz", "rm", "rp"}) {
    const std::string full = "cvt." + mode + "." + typeName<To>() + "." + typeName<From>();
    const auto results = evaluate<To>(full + " %d, %a0;", a);
    for (std::size_t at = 0; at < results.size(); ++at)
      ASSERT_TRUE(isRounded(results[at], static_cast<__float128>(a[at]), mode))
          << full << " of " << +a[at] << " is " << results[at];
  }
}

TEST(Convert, WholeToRealNumbers) {
  rounded<float>(wholeNumbers<std::int32_t>(1));
  rounded<float>(wholeNumbers<std::int64_t>(1));
  rounded<float>(wholeNumbers<std::uint64_t>(1));
  rounded<double>(wholeNumbers<std::int64_t>(1));
  rounded<double>(wholeNumbers<std::uint64_t>(1));
  rounded<double>(wholeNumbers<std::uint32_t>(1));
}

TEST(Convert, RealNumbers) {
  rounded<float>(realNumbers<double>(1));
  const auto a = allReals<float>(1);
  expectEach(
      "cvt.f64.f32", evaluate<double>("cvt.f64.f32 %d, %a0;", a), [](float x) { return static_cast<double>(x); }, a);
  const auto b = allReals<double>(1);
  expectEach(
      "cvt.rn.f32.f64", evaluate<float>("cvt.rn.f32.f64 %d, %a0;", b), [](double x) { return static_cast<float>(x); }, b);
}

// All numbers of f16, there and back, against the compiler's own type; and numbers between them.
TEST(Convert, HalfPrecision) {
  std::vector<std::uint16_t> bits(1 << 16);
  for (std::size_t at = 0; at < bits.size(); ++at) bits[at] = static_cast<std::uint16_t>(at);
  const auto valueOf = [](std::uint16_t x) {
    _Float16 half;
    std::memcpy(&half, &x, 2);
    return static_cast<float>(half);
  };
  const auto bitsOf = [](float x) {
    const auto half = static_cast<_Float16>(x);
    std::uint16_t of;
    std::memcpy(&of, &half, 2);
    return std::isnan(x) ? std::uint16_t{0x7fff} : of;
  };
  expectEach("cvt.f32.f16", evaluate<float>("cvt.f32.f16 %d, %a0;", bits), valueOf, bits);
  auto numbers = realNumbers<float>(1, -26, 17, 5000);
  for (const float x : allReals<float>(2)) numbers.push_back(x);
  for (int at = 0; at < 2000; ++at) numbers.push_back(valueOf(static_cast<std::uint16_t>(at * 15)) * 1.00048828125F);  // ties
  expectEach("cvt.rn.f16.f32", evaluate<std::uint16_t>("cvt.rn.f16.f32 %d, %a0;", numbers), bitsOf, numbers);
}

TEST(Convert, BrainFloats) {
  auto numbers = realNumbers<float>(1, -140, 120, 5000);
  for (const float x : allReals<float>(2)) numbers.push_back(x);
  for (std::uint32_t at = 0; at < 2000; ++at) {  // ties, and their neighbours
    const std::uint32_t bits = 0x3f80'8000U + (at << 16) + at % 3 - 1;
    float tie;
    std::memcpy(&tie, &bits, 4);
    numbers.push_back(tie);
  }
  const auto nearest = [](float x) -> std::uint16_t {
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    if (std::isnan(x)) return 0x7fff;
    return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  };
  const auto towardZero = [](float x) -> std::uint16_t {
    std::uint32_t bits;
    std::memcpy(&bits, &x, 4);
    return std::isnan(x) ? 0x7fff : static_cast<std::uint16_t>(bits >> 16);
  };
  expectEach("cvt.rn.bf16.f32", evaluate<std::uint16_t>("cvt.rn.bf16.f32 %d, %a0;", numbers), nearest, numbers);
  expectEach("cvt.rz.bf16.f32", evaluate<std::uint16_t>("cvt.rz.bf16.f32 %d, %a0;", numbers), towardZero, numbers);
  const auto a = wholeNumbers<std::uint16_t>(1);
  const auto widened = [](std::uint16_t x) {
    const std::uint32_t bits = static_cast<std::uint32_t>(x) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  };
  expectEach("cvt.f32.bf16", evaluate<float>("cvt.f32.bf16 %d, %a0;", a), widened, a);
}

}  // namespace
}  // namespace tbem::card::testing
