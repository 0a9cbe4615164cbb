// Arithmetic of real numbers (PTX ISA 9.0, section 9.7.3).
#include "test/card/code/Arithmetic.h"
#include "test/card/code/Handlers.h"
#include "test/card/code/Rounded.h"

#include <algorithm>
#include <bit>

namespace tbem::card {
namespace {

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
// Of a NaN and a number the number; of zeros the negative one is less.
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    return a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b) const {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    return a > b || (a == b && std::signbit(b)) ? a : b;
  }
};
template <class Operation>
struct WithNan {
  template <class T>
  T operator()(T a, T b) const {
    return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : Operation{}(a, b);
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    return -a;
  }
};
struct Magnitude {
  template <class T>
  T operator()(T a) const {
    return std::fabs(a);
  }
};
/// The second number with the sign of the first.
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return std::copysign(b, a);
  }
};

template <class T, class Operation, unsigned Count>
bool under(const Instruction& in, Lane& lane) {
  std::array<T, Count> values;
  for (unsigned at = 0; at < Count; ++at) values[at] = operandUnder(in.flags, lane.get<T>(in.from[at]));
  T result;
  {
    const Rounding rounding(in.flags);
    // Nothing tells the compiler that arithmetic depends on the mode: it may move neither before nor behind its change.
    asm volatile("" : "+m"(values));
    result = std::apply([](auto... all) { return static_cast<T>(Operation{}(all...)); }, values);
    asm volatile("" : "+m"(result));
  }
  lane.set(in.to[0], resultUnder(in.flags, result));
  return true;
}

template <class T, class Operation, unsigned Count>
Handler nearestOf() {
  if constexpr (Count == 1)
    return unary<T, Operation>;
  else if constexpr (Count == 2)
    return binary<T, Operation>;
  else
    return ternary<T, Operation>;
}

/// Takes what modifiers are left. The common case, nearest and no flag, has a handler of its own.
template <class Operation, unsigned Count>
void emitReal(Site& site, Type type, std::uint32_t rounding) {
  site.in.flags = rounding;
  if (type == Type::F32 && site.take("ftz")) site.in.flags |= kFlush;
  if (type == Type::F32 && site.take("sat")) site.in.flags |= kSaturate;
  const bool plain = site.in.flags == kNearest;
  if (type == Type::F32)
    return emitPlain(site, type, Count, plain ? nearestOf<float, Operation, Count>() : each<under<float, Operation, Count>>);
  emitPlain(site, type, Count, plain ? nearestOf<double, Operation, Count>() : each<under<double, Operation, Count>>);
}

bool isReal32Or64(Type type) { return type == Type::F32 || type == Type::F64; }

/// An instruction that both kinds of numbers have.
template <class Operation, bool (*OfIntegers)(Site& site, Type type)>
void sum(Site& site) {
  const auto type = site.takeType();
  if (!type) site.fail("has no type that this card knows");
  if (OfIntegers(site, *type)) return;
  if (!isReal32Or64(*type)) site.fail(std::string("is not known for .") + nameOf(*type));
  emitReal<Operation, 2>(site, *type, site.takeRounding(kNearest));
}

void add(Site& site) { site.take("cc") ? addWithCarryOut(site) : sum<Add, addIntegers>(site); }
void sub(Site& site) { site.take("cc") ? subtractWithCarryOut(site) : sum<Subtract, subtractIntegers>(site); }

void fma(Site& site) {
  const std::uint32_t rounding = site.takeRounding(kRounding + 1);
  if (rounding > kRounding) site.fail("has no rounding");
  emitReal<MultiplyAdd, 3>(site, site.expectType(kReals), rounding);
}

void mad(Site& site) {
  if (site.take("cc")) return multiplyAddWithCarryOut(site);
  const std::uint32_t rounding = site.takeRounding(kRounding + 1);
  if (rounding > kRounding) return multiplyAddIntegers(site);
  emitReal<MultiplyAdd, 3>(site, site.expectType(kReals), rounding);
}

// The approximations of div, sqrt and rcp answer what is exact, rounded: within their bounds.
void div(Site& site) {
  const auto type = site.takeType();
  if (!type) site.fail("has no type that this card knows");
  if (divideIntegers(site, *type)) return;
  if (!isReal32Or64(*type)) site.fail(std::string("is not known for .") + nameOf(*type));
  if (*type == Type::F32 && (site.take("approx") || site.take("full"))) return emitReal<Divide, 2>(site, *type, kNearest);
  const std::uint32_t rounding = site.takeRounding(kRounding + 1);
  if (rounding > kRounding) site.fail("has no rounding");
  emitReal<Divide, 2>(site, *type, rounding);
}

template <class Operation>
void root(Site& site) {
  const Type type = site.expectType(kReals);
  if (type == Type::F32 && site.take("approx")) return emitReal<Operation, 1>(site, type, kNearest);
  const std::uint32_t rounding = site.takeRounding(kRounding + 1);
  if (rounding > kRounding) site.fail("has no rounding");
  emitReal<Operation, 1>(site, type, rounding);
}

template <class Operation, bool (*OfIntegers)(Site& site, Type type)>
void bound(Site& site) {
  const auto type = site.takeType();
  if (!type) site.fail("has no type that this card knows");
  if (OfIntegers(site, *type)) return;
  if (!isReal32Or64(*type)) site.fail(std::string("is not known for .") + nameOf(*type));
  if (*type == Type::F32 && site.take("NaN")) return emitReal<WithNan<Operation>, 2>(site, *type, kNearest);
  emitReal<Operation, 2>(site, *type, kNearest);
}

template <class Operation, bool (*OfIntegers)(Site& site, Type type)>
void sign(Site& site) {
  const auto type = site.takeType();
  if (!type) site.fail("has no type that this card knows");
  if (OfIntegers(site, *type)) return;
  if (!isReal32Or64(*type)) site.fail(std::string("is not known for .") + nameOf(*type));
  emitReal<Operation, 1>(site, *type, kNearest);
}

void copysign(Site& site) {
  const Type type = site.expectType(kReals);
  emitPlain(site, type, 2, type == Type::F32 ? binary<float, CopySign> : binary<double, CopySign>);
}

enum Class : std::int64_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

template <class T>
bool classify(const Instruction& in, Lane& lane) {
  const T value = lane.get<T>(in.from[0]);
  bool is = false;
  switch (static_cast<Class>(in.number)) {
    case kFinite:
      is = std::isfinite(value);
      break;
    case kInfinite:
      is = std::isinf(value);
      break;
    case kNumber:
      is = !std::isnan(value);
      break;
    case kNotANumber:
      is = std::isnan(value);
      break;
    case kNormal:
      is = std::isnormal(value);
      break;
    case kSubnormal:
      is = std::fpclassify(value) == FP_SUBNORMAL;
      break;
  }
  lane.set(in.to[0], is);
  return true;
}

void testp(Site& site) {
  site.in.number = -1;
  for (const auto& [name, of] : {std::pair{"finite", kFinite},
                                 {"infinite", kInfinite},
                                 {"number", kNumber},
                                 {"notanumber", kNotANumber},
                                 {"normal", kNormal},
                                 {"subnormal", kSubnormal}})
    if (site.in.number < 0 && site.take(name)) site.in.number = of;
  if (site.in.number < 0) site.fail("says not what it asks");
  const Type type = site.expectType(kReals);
  site.finish();
  site.expectOperands(2, 2);
  site.in.to[0] = site.target(0, Type::Pred);
  site.in.from[0] = site.source(1, type);
  site.emit(type == Type::F32 ? each<classify<float>> : each<classify<double>>);
}

}  // namespace

// rcp and sqrt of f64 that are only approximated are in Functions.cpp.
void emitReciprocal(Site& site) { root<Reciprocal>(site); }

std::vector<OpcodeRow> arithmeticOpcodes() {
  return {{"add", add},
          {"sub", sub},
          {"mul", sum<Multiply, multiplyIntegers>},
          {"fma", fma},
          {"mad", mad},
          {"div", div},
          {"sqrt", root<SquareRoot>},
          {"min", bound<Least, leastOfIntegers>},
          {"max", bound<Greatest, greatestOfIntegers>},
          {"neg", sign<Negate, negateIntegers>},
          {"abs", sign<Magnitude, magnitudeOfIntegers>},
          {"copysign", copysign},
          {"testp", testp}};
}

}  // namespace tbem::card
