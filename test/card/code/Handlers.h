// Instructions of one result as templates over the type of their operands and what is computed.
#pragma once

#include "test/card/code/Site.h"
#include "test/card/run/Lane.h"

namespace tbem::card {

/// Result `of(lane)` for each lane of the mask; those of a whole warp by the processor's vectors.
template <class Of>
void fill(std::uint64_t* to, std::uint32_t mask, const Of& of) {
  if (mask == ~0U) {
#pragma GCC ivdep
    for (std::size_t lane = 0; lane < 32; ++lane) to[lane] = of(lane);
    return;
  }
  for (; mask != 0; mask &= mask - 1) to[std::countr_zero(mask)] = of(static_cast<std::size_t>(std::countr_zero(mask)));
}

template <class T, class Operation>
void unary(const Instruction& in, Warp& warp, std::uint32_t mask) {
  const std::uint64_t* a = warp.row(in.from[0]);
  fill(warp.row(in.to[0]), mask, [=](std::size_t at) { return bitsOf(static_cast<T>(Operation{}(valueOf<T>(a[at])))); });
}

template <class T, class Operation>
void binary(const Instruction& in, Warp& warp, std::uint32_t mask) {
  const std::uint64_t *a = warp.row(in.from[0]), *b = warp.row(in.from[1]);
  fill(warp.row(in.to[0]), mask,
       [=](std::size_t at) { return bitsOf(static_cast<T>(Operation{}(valueOf<T>(a[at]), valueOf<T>(b[at])))); });
}

template <class T, class Operation>
void ternary(const Instruction& in, Warp& warp, std::uint32_t mask) {
  const std::uint64_t *a = warp.row(in.from[0]), *b = warp.row(in.from[1]), *c = warp.row(in.from[2]);
  fill(warp.row(in.to[0]), mask, [=](std::size_t at) {
    return bitsOf(static_cast<T>(Operation{}(valueOf<T>(a[at]), valueOf<T>(b[at]), valueOf<T>(c[at]))));
  });
}

/// Calls `make` with the C++ type of a PTX type; bits are unsigned.
template <class Make>
Handler withInteger(Type type, const Make& make) {
  switch (type) {
    case Type::U8:
    case Type::B8:
      return make.template operator()<std::uint8_t>();
    case Type::S8:
      return make.template operator()<std::int8_t>();
    case Type::U16:
    case Type::B16:
      return make.template operator()<std::uint16_t>();
    case Type::S16:
      return make.template operator()<std::int16_t>();
    case Type::U32:
    case Type::B32:
      return make.template operator()<std::uint32_t>();
    case Type::S32:
      return make.template operator()<std::int32_t>();
    case Type::U64:
    case Type::B64:
      return make.template operator()<std::uint64_t>();
    case Type::S64:
      return make.template operator()<std::int64_t>();
    default:
      return nullptr;
  }
}

template <class Operation>
Handler unaryOf(Type type) {
  return withInteger(type, []<class T>() -> Handler { return unary<T, Operation>; });
}
template <class Operation>
Handler binaryOf(Type type) {
  return withInteger(type, []<class T>() -> Handler { return binary<T, Operation>; });
}
template <class Operation>
Handler ternaryOf(Type type) {
  return withInteger(type, []<class T>() -> Handler { return ternary<T, Operation>; });
}

/// One result and `count` operands of one type, all modifiers taken.
inline void emitPlain(Site& site, Type type, std::size_t count, Handler handler) {
  site.finish();
  site.expectOperands(count + 1, count + 1);
  if (handler == nullptr) site.fail("is not known for this type");
  site.in.to[0] = site.target(0, type);
  for (std::size_t at = 0; at < count; ++at) site.in.from[at] = site.source(at + 1, type);
  site.emit(handler);
}

inline constexpr std::initializer_list<Type> kIntegers{Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64};
inline constexpr std::initializer_list<Type> kBits{Type::B16, Type::B32, Type::B64};
inline constexpr std::initializer_list<Type> kWords{Type::B32, Type::B64};
inline constexpr std::initializer_list<Type> kReals{Type::F32, Type::F64};

}  // namespace tbem::card
