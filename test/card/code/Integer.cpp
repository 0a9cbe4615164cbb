// Whole numbers (PTX ISA 9.0, section 9.7.1). `add`, `sub`, `mul`, .. of real numbers are in Real.cpp.
#include "test/card/code/Arithmetic.h"
#include "test/card/code/Handlers.h"

#include <algorithm>
#include <limits>

namespace tbem::card {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

// Arithmetic of unsigned numbers wraps; narrow ones are widened first, since C++ computes them as int.
template <class T>
T wrapped(std::uint64_t value) {
  return static_cast<T>(static_cast<Unsigned<T>>(value));
}

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
};
struct MultiplyLow {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};
struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> (8 * sizeof(T)));
  }
};
struct MultiplyAddLow {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(MultiplyLow{}(a, b), c);
  }
};
struct MultiplyAddHigh {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(MultiplyHigh{}(a, b), c);
  }
};
// Of a division by zero the manual says nothing; cards answer with ones.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(~static_cast<Unsigned<T>>(0));
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return Subtract{}(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    return Subtract{}(T{0}, a);
  }
};
struct Magnitude {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Subtract{}(T{0}, a) : a;
  }
};
struct DifferenceSum {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(c, a < b ? Subtract{}(b, a) : Subtract{}(a, b));
  }
};

template <class Operation>
bool saturated(const Instruction& in, Lane& lane) {
  const std::int64_t exact = Operation{}(static_cast<std::int64_t>(lane.get<std::int32_t>(in.from[0])),
                                         static_cast<std::int64_t>(lane.get<std::int32_t>(in.from[1])));
  using Limits = std::numeric_limits<std::int32_t>;
  lane.set(in.to[0], static_cast<std::int32_t>(std::clamp<std::int64_t>(exact, Limits::min(), Limits::max())));
  return true;
}

template <class Operation>
void sum(Site& site, Type type) {
  if (type == Type::S32 && site.take("sat")) return emitPlain(site, type, 2, each<saturated<Operation>>);
  emitPlain(site, type, 2, binaryOf<Operation>(type));
}

/// A product twice as wide as its factors, and what is added to it.
template <class T, class Wide, bool Adds>
bool wideProduct(const Instruction& in, Lane& lane) {
  const auto product =
      wrapped<Wide>(static_cast<std::uint64_t>(lane.get<T>(in.from[0])) * static_cast<std::uint64_t>(lane.get<T>(in.from[1])));
  lane.set(in.to[0], Adds ? Add{}(product, lane.get<Wide>(in.from[2])) : product);
  return true;
}

template <bool Adds>
void wide(Site& site, Type type) {
  site.finish();
  site.expectOperands(Adds ? 4 : 3, Adds ? 4 : 3);
  const struct {
    Type type, wide;
    Handler handler;
  } rows[] = {{Type::U16, Type::U32, each<wideProduct<std::uint16_t, std::uint32_t, Adds>>},
              {Type::S16, Type::S32, each<wideProduct<std::int16_t, std::int32_t, Adds>>},
              {Type::U32, Type::U64, each<wideProduct<std::uint32_t, std::uint64_t, Adds>>},
              {Type::S32, Type::S64, each<wideProduct<std::int32_t, std::int64_t, Adds>>}};
  for (const auto& row : rows) {
    if (row.type != type) continue;
    site.in.to[0] = site.target(0, row.wide);
    site.in.from[0] = site.source(1, type);
    site.in.from[1] = site.source(2, type);
    if (Adds) site.in.from[2] = site.source(3, row.wide);
    return site.emit(row.handler);
  }
  site.fail("is not known for this type");
}

bool isOneOf(Type type, std::initializer_list<Type> types) { return std::find(types.begin(), types.end(), type) != types.end(); }

template <class Operation, unsigned Count>
void plain(Site& site) {
  const Type type = site.expectType(kIntegers);
  if constexpr (Count == 2)
    emitPlain(site, type, 2, binaryOf<Operation>(type));
  else
    emitPlain(site, type, 3, ternaryOf<Operation>(type));
}

// Four bytes of each operand, multiplied in pairs and added to the third.
template <class A, class B, class Sum>
bool dotOfBytes(const Instruction& in, Lane& lane) {
  std::array<A, 4> a;
  std::array<B, 4> b;
  std::memcpy(a.data(), &lane.at(in.from[0]), 4);
  std::memcpy(b.data(), &lane.at(in.from[1]), 4);
  auto sum = lane.get<std::uint32_t>(in.from[2]);
  for (std::size_t at = 0; at < 4; ++at)
    sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(a[at]) * static_cast<std::int32_t>(b[at]));
  lane.set(in.to[0], static_cast<Sum>(sum));
  return true;
}

void dp4a(Site& site) {
  const Type first = site.expectType({Type::U32, Type::S32}), second = site.expectType({Type::U32, Type::S32});
  const bool a = isSigned(first), b = isSigned(second);
  if (a && b) return emitPlain(site, Type::S32, 3, each<dotOfBytes<std::int8_t, std::int8_t, std::int32_t>>);
  if (a) return emitPlain(site, Type::S32, 3, each<dotOfBytes<std::int8_t, std::uint8_t, std::int32_t>>);
  if (b) return emitPlain(site, Type::S32, 3, each<dotOfBytes<std::uint8_t, std::int8_t, std::int32_t>>);
  emitPlain(site, Type::U32, 3, each<dotOfBytes<std::uint8_t, std::uint8_t, std::uint32_t>>);
}

}  // namespace

bool addIntegers(Site& site, Type type) { return isOneOf(type, kIntegers) && (sum<Add>(site, type), true); }
bool subtractIntegers(Site& site, Type type) { return isOneOf(type, kIntegers) && (sum<Subtract>(site, type), true); }

bool multiplyIntegers(Site& site, Type type) {
  if (!isOneOf(type, kIntegers)) return false;
  if (site.take("wide")) return wide<false>(site, type), true;
  if (site.take("hi")) return emitPlain(site, type, 2, binaryOf<MultiplyHigh>(type)), true;
  site.expect("lo");
  return emitPlain(site, type, 2, binaryOf<MultiplyLow>(type)), true;
}

void multiplyAddIntegers(Site& site) {
  const Type type = site.expectType(kIntegers);
  if (site.take("wide")) return wide<true>(site, type);
  if (site.take("hi")) return emitPlain(site, type, 3, ternaryOf<MultiplyAddHigh>(type));
  site.expect("lo");
  emitPlain(site, type, 3, ternaryOf<MultiplyAddLow>(type));
}

bool divideIntegers(Site& site, Type type) {
  return isOneOf(type, kIntegers) && (emitPlain(site, type, 2, binaryOf<Divide>(type)), true);
}
bool leastOfIntegers(Site& site, Type type) {
  return isOneOf(type, kIntegers) && (emitPlain(site, type, 2, binaryOf<Least>(type)), true);
}
bool greatestOfIntegers(Site& site, Type type) {
  return isOneOf(type, kIntegers) && (emitPlain(site, type, 2, binaryOf<Greatest>(type)), true);
}
bool negateIntegers(Site& site, Type type) { return isSigned(type) && (emitPlain(site, type, 1, unaryOf<Negate>(type)), true); }
bool magnitudeOfIntegers(Site& site, Type type) {
  return isSigned(type) && (emitPlain(site, type, 1, unaryOf<Magnitude>(type)), true);
}

std::vector<OpcodeRow> integerOpcodes() {
  return {{"rem", plain<Remainder, 2>}, {"sad", plain<DifferenceSum, 3>}, {"dp4a", dp4a}};
}

}  // namespace tbem::card
