// Comparisons and selections (PTX ISA 9.0, sections 9.7.6 and 9.7.7).
#include "test/card/code/Handlers.h"
#include "test/card/code/Rounded.h"

namespace tbem::card {
namespace {

template <class T>
bool unordered([[maybe_unused]] T a, [[maybe_unused]] T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(a) || std::isnan(b);
  else
    return false;
}

struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return !unordered(a, b) && a != b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
template <class Comparison>
struct OrUnordered {
  template <class T>
  bool operator()(T a, T b) const {
    return unordered(a, b) || Comparison{}(a, b);
  }
};
struct BothNumbers {
  template <class T>
  bool operator()(T a, T b) const {
    return !unordered(a, b);
  }
};
struct AnyNan {
  template <class T>
  bool operator()(T a, T b) const {
    return unordered(a, b);
  }
};

enum Combination : std::int64_t { kAlone, kAnd, kOr, kXor };

bool combined(const Instruction& in, const Lane& lane, bool value) {
  const bool other = ((lane.at(in.from[2]) & 1) != 0) != ((in.flags & kNegateLast) != 0);
  switch (static_cast<Combination>(in.number)) {
    case kAlone:
      return value;
    case kAnd:
      return value && other;
    case kOr:
      return value || other;
    case kXor:
      return value != other;
  }
  return value;
}

template <class T, class Comparison>
void compare(const Instruction& in, Warp& warp, std::uint32_t mask) {
  const std::uint64_t *a = warp.row(in.from[0]), *b = warp.row(in.from[1]);
  fill(warp.row(in.to[0]), mask,
       [=](std::size_t at) -> std::uint64_t { return Comparison{}(valueOf<T>(a[at]), valueOf<T>(b[at])) ? 1 : 0; });
}

template <class T, class Comparison>
bool compareAndCombine(const Instruction& in, Lane& lane) {
  T a = lane.get<T>(in.from[0]), b = lane.get<T>(in.from[1]);
  if constexpr (std::is_floating_point_v<T>) {
    a = operandUnder(in.flags, a);
    b = operandUnder(in.flags, b);
  }
  const bool is = Comparison{}(a, b);
  const bool first = combined(in, lane, is), second = combined(in, lane, !is);
  lane.set(in.to[0], first);
  lane.set(in.to[1], second);
  return true;
}

struct Pair {
  Handler plain = nullptr, full = nullptr;
};

template <class T, class Comparison>
Pair pairOf() {
  return {compare<T, Comparison>, each<compareAndCombine<T, Comparison>>};
}

template <class T>
Pair ordered(Site& site) {
  if (site.take("eq")) return pairOf<T, Equal>();
  if (site.take("ne")) return pairOf<T, NotEqual>();
  if (site.take("lt")) return pairOf<T, Less>();
  if (site.take("le")) return pairOf<T, LessOrEqual>();
  if (site.take("gt")) return pairOf<T, Greater>();
  if (site.take("ge")) return pairOf<T, GreaterOrEqual>();
  return {};
}

template <class T>
Pair real(Site& site) {
  if (site.take("equ")) return pairOf<T, OrUnordered<Equal>>();
  if (site.take("neu")) return pairOf<T, OrUnordered<NotEqual>>();
  if (site.take("ltu")) return pairOf<T, OrUnordered<Less>>();
  if (site.take("leu")) return pairOf<T, OrUnordered<LessOrEqual>>();
  if (site.take("gtu")) return pairOf<T, OrUnordered<Greater>>();
  if (site.take("geu")) return pairOf<T, OrUnordered<GreaterOrEqual>>();
  if (site.take("num")) return pairOf<T, BothNumbers>();
  if (site.take("nan")) return pairOf<T, AnyNan>();
  return ordered<T>(site);
}

/// Bits can only be equal or not.
template <class T>
Pair whole(Site& site, bool bits) {
  if (bits) {
    if (site.take("eq")) return pairOf<T, Equal>();
    if (site.take("ne")) return pairOf<T, NotEqual>();
    return {};
  }
  if (std::is_unsigned_v<T>) {
    if (site.take("lo")) return pairOf<T, Less>();
    if (site.take("ls")) return pairOf<T, LessOrEqual>();
    if (site.take("hi")) return pairOf<T, Greater>();
    if (site.take("hs")) return pairOf<T, GreaterOrEqual>();
  }
  return ordered<T>(site);
}

Pair comparisonOf(Site& site, Type type) {
  switch (type) {
    case Type::B16:
    case Type::U16:
      return whole<std::uint16_t>(site, type == Type::B16);
    case Type::S16:
      return whole<std::int16_t>(site, false);
    case Type::B32:
    case Type::U32:
      return whole<std::uint32_t>(site, type == Type::B32);
    case Type::S32:
      return whole<std::int32_t>(site, false);
    case Type::B64:
    case Type::U64:
      return whole<std::uint64_t>(site, type == Type::B64);
    case Type::S64:
      return whole<std::int64_t>(site, false);
    case Type::F32:
      return real<float>(site);
    case Type::F64:
      return real<double>(site);
    default:
      return {};
  }
}

void setp(Site& site) {
  const auto type = site.takeType();
  if (!type) site.fail("has no type that this card knows");
  const Pair handlers = comparisonOf(site, *type);
  if (handlers.plain == nullptr) site.fail("compares in a way that this card does not know");
  if (*type == Type::F32 && site.take("ftz")) site.in.flags |= kFlush;
  site.in.number = site.take("and") ? kAnd : site.take("or") ? kOr : site.take("xor") ? kXor : kAlone;
  site.finish();
  const bool combines = site.in.number != kAlone;
  site.expectOperands(combines ? 4 : 3, combines ? 4 : 3);
  const Operand& results = site.operand(0);
  const bool two = results.kind == Operand::Kind::List && results.parts.size() == 2;
  site.in.to[0] = site.target(two ? results.parts[0] : results, Type::Pred);
  site.in.to[1] = two ? site.target(results.parts[1], Type::Pred) : static_cast<std::uint32_t>(Special::Sink);
  site.in.from[0] = site.source(1, *type);
  site.in.from[1] = site.source(2, *type);
  if (combines) {
    bool negated = false;
    site.in.from[2] = site.predicate(site.operand(3), negated);
    if (negated) site.in.flags |= kNegateLast;
  }
  site.emit(combines || two || site.in.flags != 0 ? handlers.full : handlers.plain);
}

void select(const Instruction& in, Warp& warp, std::uint32_t mask) {
  const std::uint64_t *a = warp.row(in.from[0]), *b = warp.row(in.from[1]), *chosen = warp.row(in.from[2]);
  fill(warp.row(in.to[0]), mask, [=](std::size_t at) { return (chosen[at] & 1) != 0 ? a[at] : b[at]; });
}

void selp(Site& site) {
  const Type type = site.expectType(
      {Type::B16, Type::U16, Type::S16, Type::B32, Type::U32, Type::S32, Type::B64, Type::U64, Type::S64, Type::F32, Type::F64});
  site.finish();
  site.expectOperands(4, 4);
  site.in.to[0] = site.target(0, type);
  site.in.from[0] = site.source(1, type);
  site.in.from[1] = site.source(2, type);
  bool negated = false;
  site.in.from[2] = site.predicate(site.operand(3), negated);
  if (negated) std::swap(site.in.from[0], site.in.from[1]);
  site.emit(select);
}

template <class T>
bool selectBySign(const Instruction& in, Lane& lane) {
  T sign = lane.get<T>(in.from[2]);
  if constexpr (std::is_floating_point_v<T>) sign = operandUnder(in.flags, sign);
  lane.at(in.to[0]) = lane.at(in.from[sign >= 0 ? 0 : 1]);
  return true;
}

void slct(Site& site) {
  if (site.take("ftz")) site.in.flags |= kFlush;
  const auto type = site.takeType();
  const Type sign = site.expectType({Type::S32, Type::F32});
  if (!type || *type == Type::Pred) site.fail("has no type that this card knows");
  site.finish();
  site.expectOperands(4, 4);
  site.in.to[0] = site.target(0, *type);
  site.in.from[0] = site.source(1, *type);
  site.in.from[1] = site.source(2, *type);
  site.in.from[2] = site.source(3, sign);
  site.emit(sign == Type::S32 ? each<selectBySign<std::int32_t>> : each<selectBySign<float>>);
}

/// All ones, or 1.0, where the comparison holds.
bool widen(const Instruction& in, Lane& lane) {
  lane.at(in.to[0]) = (lane.at(in.from[0]) & 1) != 0 ? static_cast<std::uint64_t>(in.number) : 0;
  return true;
}

void set(Site& site) {
  const auto to = site.takeType(), type = site.takeType();
  if (!to || !type || (*to != Type::U32 && *to != Type::S32 && *to != Type::F32)) site.fail("has no type that this card knows");
  const Pair handlers = comparisonOf(site, *type);
  if (handlers.plain == nullptr) site.fail("compares in a way that this card does not know");
  if (*type == Type::F32 && site.take("ftz")) site.in.flags |= kFlush;
  site.finish();
  site.expectOperands(3, 3);
  site.in.to[0] = site.function.scratch;
  site.in.to[1] = static_cast<std::uint32_t>(Special::Sink);
  site.in.from[0] = site.source(1, *type);
  site.in.from[1] = site.source(2, *type);
  site.emit(handlers.full);
  site.in.to[0] = site.target(0, *to);
  site.in.from[0] = site.function.scratch;
  site.in.number = *to == Type::F32 ? 0x3f80'0000 : 0xffff'ffff;
  site.emit(each<widen>);
}

}  // namespace

std::vector<OpcodeRow> compareOpcodes() { return {{"setp", setp}, {"selp", selp}, {"slct", slct}, {"set", set}}; }

}  // namespace tbem::card
