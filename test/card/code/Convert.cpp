// cvt (PTX ISA 9.0, section 9.7.9.21).
#include "test/card/code/Half.h"
#include "test/card/code/Handlers.h"
#include "test/card/code/Rounded.h"

#include <algorithm>
#include <limits>

namespace tbem::card {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

template <class T>
constexpr bool kIsReal = !std::is_integral_v<T>;

/// All values but those of i64 fit.
template <class T>
double widened(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return widenHalf(value.bits);
  else if constexpr (std::is_same_v<T, Bfloat>)
    return widenBfloat(value.bits);
  else
    return static_cast<double>(value);
}

double toWhole(double value) {
  asm volatile("" : "+m"(value));
  return std::nearbyint(value);
}

/// Under the mode that is set.
template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, Half>)
    return {narrowed(value, kHalf, toWhole)};
  else if constexpr (std::is_same_v<T, Bfloat>)
    return {narrowed(value, kBfloat, toWhole)};
  else {
    asm volatile("" : "+m"(value));
    T result = static_cast<T>(value);
    asm volatile("" : "+m"(result));
    return result;
  }
}

template <class To, class From>
void wholeToWhole(const Instruction& in, Warp& warp, std::uint32_t mask) {
  const std::uint64_t* a = warp.row(in.from[0]);
  fill(warp.row(in.to[0]), mask, [=](std::size_t at) { return bitsOf(static_cast<To>(valueOf<From>(a[at]))); });
}

template <class To, class From>
bool wholeSaturated(const Instruction& in, Lane& lane) {
  using Limits = std::numeric_limits<To>;
  using Wide = std::conditional_t<std::is_signed_v<From>, std::int64_t, std::uint64_t>;
  const __int128 value = static_cast<Wide>(lane.get<From>(in.from[0]));
  lane.set(in.to[0], static_cast<To>(std::clamp<__int128>(value, Limits::min(), Limits::max())));
  return true;
}

template <class To, class From>
bool wholeToReal(const Instruction& in, Lane& lane) {
  From value = lane.get<From>(in.from[0]);
  const Rounding rounding(in.flags);
  asm volatile("" : "+m"(value));
  if constexpr (std::is_floating_point_v<To>) {
    To result = static_cast<To>(value);
    asm volatile("" : "+m"(result));
    lane.set(in.to[0], resultUnder(in.flags, result));
  } else {
    lane.set(in.to[0], rounded<To>(static_cast<double>(value)).bits);
  }
  return true;
}

/// What is out of range becomes the nearest bound.
template <class To, class From>
bool realToWhole(const Instruction& in, Lane& lane) {
  using Limits = std::numeric_limits<To>;
  const From from = lane.get<From>(in.from[0]);
  double value = widened(from);
  if constexpr (std::is_same_v<From, float>) value = operandUnder(in.flags, from);
  if (std::isnan(value)) {
    const bool wide = sizeof(To) == 8 || sizeof(From) == 8;
    lane.set(in.to[0], wide ? static_cast<To>(static_cast<std::make_unsigned_t<To>>(1) << (8 * sizeof(To) - 1)) : To{0});
    return true;
  }
  {
    const Rounding rounding(in.flags);
    value = toWhole(value);
  }
  const double end = std::ldexp(1.0, Limits::digits);
  lane.set(in.to[0], value >= end                                  ? Limits::max()
                     : value <= static_cast<double>(Limits::min()) ? Limits::min()
                                                                   : static_cast<To>(value));
  return true;
}

template <class To, class From>
bool realToReal(const Instruction& in, Lane& lane) {
  const From from = lane.get<From>(in.from[0]);
  double value = widened(from);
  if constexpr (std::is_same_v<From, float>) value = operandUnder(in.flags, from);
  const Rounding rounding(in.flags);
  if ((in.flags & kToWhole) != 0) value = toWhole(value);
  if constexpr (std::is_floating_point_v<To>) {
    lane.set(in.to[0], resultUnder(in.flags, rounded<To>(value)));
  } else {
    lane.set(in.to[0], rounded<To>(value).bits);
  }
  return true;
}

template <class To, class From>
Handler handlerOf(bool saturated) {
  if constexpr (!kIsReal<To> && !kIsReal<From>)
    return saturated ? each<wholeSaturated<To, From>> : wholeToWhole<To, From>;
  else if constexpr (!kIsReal<From>)
    return each<wholeToReal<To, From>>;
  else if constexpr (!kIsReal<To>)
    return each<realToWhole<To, From>>;
  else
    return each<realToReal<To, From>>;
}

template <class Make>
Handler withNumber(Type type, const Make& make) {
  switch (type) {
    case Type::F16:
      return make.template operator()<Half>();
    case Type::BF16:
      return make.template operator()<Bfloat>();
    case Type::F32:
      return make.template operator()<float>();
    case Type::F64:
      return make.template operator()<double>();
    case Type::B8:
    case Type::B16:
    case Type::B32:
    case Type::B64:
      return nullptr;
    default:
      return withInteger(type, make);
  }
}

/// .rni and so on; kRounding + 1 if there is none.
std::uint32_t takeWhole(Site& site) {
  if (site.take("rni")) return kNearest;
  if (site.take("rzi")) return kTowardZero;
  if (site.take("rmi")) return kDown;
  if (site.take("rpi")) return kUp;
  return kRounding + 1;
}

/// Which modifiers a pair of types needs.
void takeModes(Site& site, Type to, Type from) {
  const std::uint32_t whole = takeWhole(site), real = site.takeRounding(kRounding + 1);
  const bool hasWhole = whole <= kRounding, hasReal = real <= kRounding;
  site.in.flags = hasWhole ? whole : hasReal ? real : kNearest;
  const bool narrows = isReal(to) && isReal(from) && (bytesOf(to) < bytesOf(from) || (bytesOf(to) == 2 && to != from));
  if (narrows || (isReal(to) && !isReal(from))) {
    if (!hasReal || hasWhole) site.fail("has no rounding");
  } else if (!isReal(to) && isReal(from)) {
    if (!hasWhole || hasReal) site.fail("has no rounding to whole numbers");
  } else if (hasReal || (hasWhole && to != from) || (hasWhole && !isReal(to))) {
    site.fail("rounds where nothing is lost");
  }
  if (hasWhole && isReal(to)) site.in.flags |= kToWhole;
  if (site.take("ftz")) site.in.flags |= kFlush;
}

void cvt(Site& site) {
  const auto to = site.takeType(), from = site.takeType();
  if (!to || !from) site.fail("has not two types that this card knows");
  takeModes(site, *to, *from);
  const bool saturated = site.take("sat");
  if (saturated && (*to == Type::F16 || *to == Type::BF16)) site.fail("saturates a type for which this card does not know it");
  if (saturated) site.in.flags |= kSaturate;
  site.finish();
  site.expectOperands(2, 2);
  const Handler handler = withNumber(*to, [&]<class To>() -> Handler {
    return withNumber(*from, [&]<class From>() -> Handler { return handlerOf<To, From>(saturated); });
  });
  if (handler == nullptr) site.fail("is not known for these types");
  site.in.to[0] = site.looseTarget(site.operand(0), *to);
  site.in.from[0] = site.looseSource(site.operand(1), *from);
  site.emit(handler);
}

}  // namespace

std::vector<OpcodeRow> convertOpcodes() { return {{"cvt", cvt}}; }

}  // namespace tbem::card
