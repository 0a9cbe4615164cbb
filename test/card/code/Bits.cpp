// Logic, shifts, and fields of bits (PTX ISA 9.0, sections 9.7.8 and 9.7.1).
#include "test/card/code/Handlers.h"

#include <algorithm>
#include <bit>

namespace tbem::card {
namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {
  template <class T>
  T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};

/// Also of predicates.
template <class Operation>
bool ofPredicates(const Instruction& in, Lane& lane) {
  lane.at(in.to[0]) = Operation{}(lane.at(in.from[0]) & 1, lane.at(in.from[1]) & 1) & 1;
  return true;
}
bool notPredicate(const Instruction& in, Lane& lane) {
  lane.at(in.to[0]) = (lane.at(in.from[0]) & 1) ^ 1;
  return true;
}

template <class Operation>
void logic(Site& site) {
  const Type type = site.expectType({Type::Pred, Type::B16, Type::B32, Type::B64});
  emitPlain(site, type, 2, type == Type::Pred ? each<ofPredicates<Operation>> : binaryOf<Operation>(type));
}

void logicNot(Site& site) {
  const Type type = site.expectType({Type::Pred, Type::B16, Type::B32, Type::B64});
  emitPlain(site, type, 1, type == Type::Pred ? each<notPredicate> : unaryOf<Not>(type));
}

void conditionalNot(Site& site) {
  const Type type = site.expectType(kBits);
  emitPlain(site, type, 1, unaryOf<LogicalNot>(type));
}

// Distances larger than the width count as the width.
template <class T, bool Left>
bool shift(const Instruction& in, Lane& lane) {
  constexpr std::uint32_t kWidth = 8 * sizeof(T);
  const T value = lane.get<T>(in.from[0]);
  const auto by = lane.get<std::uint32_t>(in.from[1]);
  if constexpr (Left)
    lane.set(in.to[0], static_cast<T>(by >= kWidth ? 0 : value << by));
  else
    lane.set(in.to[0], static_cast<T>(by >= kWidth ? (value < 0 ? -1 : 0) : value >> by));
  return true;
}

template <bool Left>
void shifts(Site& site) {
  const Type type =
      Left ? site.expectType(kBits)
           : site.expectType({Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64});
  site.finish();
  site.expectOperands(3, 3);
  site.in.to[0] = site.target(0, type);
  site.in.from[0] = site.source(1, type);
  site.in.from[1] = site.source(2, Type::U32);
  site.emit(withInteger(type, []<class T>() -> Handler { return each<shift<T, Left>>; }));
}

// Two words as one of 64 bits, of which the upper half is kept behind a shift to the left and the lower behind one to the right.
template <bool Left, bool Wraps>
bool funnel(const Instruction& in, Lane& lane) {
  const std::uint64_t both = lane.get<std::uint32_t>(in.from[0]) | static_cast<std::uint64_t>(lane.get<std::uint32_t>(in.from[1]))
                                                                       << 32;
  const auto distance = lane.get<std::uint32_t>(in.from[2]);
  const std::uint32_t by = Wraps ? distance & 31 : std::min(distance, 32U);
  lane.set(in.to[0], static_cast<std::uint32_t>(Left ? both << by >> 32 : both >> by));
  return true;
}

void shf(Site& site) {
  const bool left = site.take("l");
  if (!left) site.expect("r");
  const bool wraps = site.take("wrap");
  if (!wraps) site.expect("clamp");
  const Type type = site.expectType({Type::B32});
  if (left) return emitPlain(site, type, 3, wraps ? each<funnel<true, true>> : each<funnel<true, false>>);
  emitPlain(site, type, 3, wraps ? each<funnel<false, true>> : each<funnel<false, false>>);
}

bool permuteBytes(const Instruction& in, Lane& lane) {
  const std::uint64_t both = lane.get<std::uint32_t>(in.from[0]) | static_cast<std::uint64_t>(lane.get<std::uint32_t>(in.from[1]))
                                                                       << 32;
  const auto selection = lane.get<std::uint32_t>(in.from[2]);
  std::uint32_t result = 0;
  for (std::uint32_t at = 0; at < 4; ++at) {
    const std::uint32_t choice = selection >> (4 * at) & 15;
    auto byte = static_cast<std::uint8_t>(both >> (8 * (choice & 7)));
    if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;  // its sign, in all bits
    result |= static_cast<std::uint32_t>(byte) << (8 * at);
  }
  lane.set(in.to[0], result);
  return true;
}

void prmt(Site& site) { emitPlain(site, site.expectType({Type::B32}), 3, each<permuteBytes>); }

template <class T>
bool extractField(const Instruction& in, Lane& lane) {
  constexpr std::uint32_t kWidth = 8 * sizeof(T);
  const auto bits = static_cast<std::make_unsigned_t<T>>(lane.get<T>(in.from[0]));
  const std::uint32_t from = lane.get<std::uint32_t>(in.from[1]) & 255, length = lane.get<std::uint32_t>(in.from[2]) & 255;
  const std::uint32_t last = std::min(from + length - 1, kWidth - 1);
  const bool sign = std::is_signed_v<T> && length != 0 && (bits >> last & 1) != 0;
  std::make_unsigned_t<T> field = 0;
  for (std::uint32_t at = 0; at < kWidth; ++at) {
    const bool bit = at < length && from + at < kWidth ? (bits >> (from + at) & 1) != 0 : sign;
    field |= static_cast<std::make_unsigned_t<T>>(bit ? 1 : 0) << at;
  }
  lane.set(in.to[0], static_cast<T>(field));
  return true;
}

void bfe(Site& site) {
  const Type type = site.expectType({Type::U32, Type::U64, Type::S32, Type::S64});
  site.finish();
  site.expectOperands(4, 4);
  site.in.to[0] = site.target(0, type);
  site.in.from[0] = site.source(1, type);
  site.in.from[1] = site.source(2, Type::U32);
  site.in.from[2] = site.source(3, Type::U32);
  site.emit(type == Type::U32   ? each<extractField<std::uint32_t>>
            : type == Type::U64 ? each<extractField<std::uint64_t>>
            : type == Type::S32 ? each<extractField<std::int32_t>>
                                : each<extractField<std::int64_t>>);
}

template <class T>
bool insertField(const Instruction& in, Lane& lane) {
  constexpr std::uint32_t kWidth = 8 * sizeof(T);
  const T bits = lane.get<T>(in.from[0]);
  T result = lane.get<T>(in.from[1]);
  const std::uint32_t from = lane.get<std::uint32_t>(in.from[2]) & 255, length = lane.get<std::uint32_t>(in.from[3]) & 255;
  for (std::uint32_t at = 0; at < length && from + at < kWidth; ++at) {
    const T place = T{1} << (from + at);
    result = (bits >> at & 1) != 0 ? result | place : result & ~place;
  }
  lane.set(in.to[0], result);
  return true;
}

void bfi(Site& site) {
  const Type type = site.expectType(kWords);
  site.finish();
  site.expectOperands(5, 5);
  site.in.to[0] = site.target(0, type);
  site.in.from[0] = site.source(1, type);
  site.in.from[1] = site.source(2, type);
  site.in.from[2] = site.source(3, Type::U32);
  site.in.from[3] = site.source(4, Type::U32);
  site.emit(type == Type::B32 ? each<insertField<std::uint32_t>> : each<insertField<std::uint64_t>>);
}

struct CountOnes {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
  }
};
struct CountLeadingZeros {
  template <class T>
  std::uint32_t operator()(T a) const {
    return static_cast<std::uint32_t>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(a)));
  }
};
/// The place of the highest bit that differs from the sign; all ones if there is none.
struct FindBit {
  template <class T>
  std::uint32_t operator()(T a) const {
    const auto bits = static_cast<std::make_unsigned_t<T>>(a < 0 ? ~a : a);
    return bits == 0 ? ~0U : static_cast<std::uint32_t>(8 * sizeof(T) - 1 - std::countl_zero(bits));
  }
};
struct FindShift {
  template <class T>
  std::uint32_t operator()(T a) const {
    const std::uint32_t place = FindBit{}(a);
    return place == ~0U ? place : static_cast<std::uint32_t>(8 * sizeof(T) - 1) - place;
  }
};

template <class T, class Operation>
bool counted(const Instruction& in, Lane& lane) {
  lane.set(in.to[0], Operation{}(lane.get<T>(in.from[0])));
  return true;
}

/// A word of 32 bits from an operand of another size.
template <class Operation>
void emitCounted(Site& site, Type type) {
  site.finish();
  site.expectOperands(2, 2);
  site.in.to[0] = site.target(0, Type::U32);
  site.in.from[0] = site.source(1, type);
  site.emit(withInteger(type, []<class T>() -> Handler { return each<counted<T, Operation>>; }));
}

void popc(Site& site) { emitCounted<CountOnes>(site, site.expectType(kWords)); }
void clz(Site& site) { emitCounted<CountLeadingZeros>(site, site.expectType(kWords)); }
void bfind(Site& site) {
  const bool shiftAmount = site.take("shiftamt");
  const Type type = site.expectType({Type::U32, Type::U64, Type::S32, Type::S64});
  if (shiftAmount)
    emitCounted<FindShift>(site, type);
  else
    emitCounted<FindBit>(site, type);
}

struct Reverse {
  template <class T>
  T operator()(T a) const {
    std::make_unsigned_t<T> reversed = 0;
    for (unsigned at = 0; at < 8 * sizeof(T); ++at) reversed = static_cast<T>(reversed << 1 | (a >> at & 1));
    return reversed;
  }
};

void brev(Site& site) {
  const Type type = site.expectType(kWords);
  emitPlain(site, type, 1, unaryOf<Reverse>(type));
}

// `number` is the table: its bit at the place that the three operands' bits form.
bool lookUp(const Instruction& in, Lane& lane) {
  const auto a = lane.get<std::uint32_t>(in.from[0]), b = lane.get<std::uint32_t>(in.from[1]),
             c = lane.get<std::uint32_t>(in.from[2]);
  std::uint32_t result = 0;
  for (unsigned row = 0; row < 8; ++row) {
    if ((in.number >> row & 1) == 0) continue;
    result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  }
  lane.set(in.to[0], result);
  return true;
}

void lop3(Site& site) {
  site.expectType({Type::B32});
  site.finish();
  site.expectOperands(5, 5);
  site.in.to[0] = site.target(0, Type::B32);
  for (std::size_t at = 0; at < 3; ++at) site.in.from[at] = site.source(at + 1, Type::B32);
  site.in.number = site.immediate(site.operand(4));
  site.emit(each<lookUp>);
}

}  // namespace

std::vector<OpcodeRow> bitOpcodes() {
  return {{"and", logic<And>},   {"or", logic<Or>},      {"xor", logic<Xor>}, {"not", logicNot}, {"cnot", conditionalNot},
          {"shl", shifts<true>}, {"shr", shifts<false>}, {"shf", shf},        {"prmt", prmt},    {"bfe", bfe},
          {"bfi", bfi},          {"popc", popc},         {"clz", clz},        {"bfind", bfind},  {"brev", brev},
          {"lop3", lop3}};
}

}  // namespace tbem::card
