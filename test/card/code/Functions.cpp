// Functions that cards only approximate. What is exact, rounded, is within the bounds of the manual (PTX ISA 9.0, section 9.7.3).
#include "test/card/code/Arithmetic.h"
#include "test/card/code/Handlers.h"
#include "test/card/code/Rounded.h"

#include <algorithm>
#include <bit>

namespace tbem::card {
namespace {

using Real = double (*)(double);

template <Real Of>
bool approximate(const Instruction& in, Lane& lane) {
  const float value = operandUnder(in.flags, lane.get<float>(in.from[0]));
  lane.set(in.to[0], resultUnder(in.flags, static_cast<float>(Of(static_cast<double>(value)))));
  return true;
}

double inverseRoot(double value) { return 1 / std::sqrt(value); }

template <Real Of>
void function(Site& site) {
  site.expect("approx");
  if (site.take("ftz")) site.in.flags |= kFlush;
  emitPlain(site, site.expectType({Type::F32}), 1, each<approximate<Of>>);
}

/// Only the upper halves of operand and result count; the lower half of the result is zero.
template <Real Of>
bool upperHalf(const Instruction& in, Lane& lane) {
  constexpr std::uint64_t kUpper = 0xffff'ffff'0000'0000ULL;
  const double value = flushed(std::bit_cast<double>(lane.get<std::uint64_t>(in.from[0]) & kUpper));
  lane.set(in.to[0], std::bit_cast<std::uint64_t>(flushed(Of(value))) & kUpper);
  return true;
}

double reciprocal(double value) { return 1 / value; }

bool inverseRoot64(const Instruction& in, Lane& lane) {
  lane.set(in.to[0], inverseRoot(lane.get<double>(in.from[0])));
  return true;
}

void rsqrt(Site& site) {
  site.expect("approx");
  const bool flush = site.take("ftz");
  if (flush) site.in.flags |= kFlush;
  const Type type = site.expectType(kReals);
  if (type == Type::F32) return emitPlain(site, type, 1, each<approximate<inverseRoot>>);
  emitPlain(site, type, 1, flush ? each<upperHalf<inverseRoot>> : each<inverseRoot64>);
}

void rcp(Site& site) {
  if (!site.takeReal64Approximation()) return emitReciprocal(site);
  emitPlain(site, Type::F64, 1, each<upperHalf<reciprocal>>);
}

}  // namespace

std::vector<OpcodeRow> functionOpcodes() {
  return {{"ex2", function<std::exp2>},
          {"lg2", function<std::log2>},
          {"sin", function<std::sin>},
          {"cos", function<std::cos>},
          {"tanh", function<std::tanh>},
          {"rsqrt", rsqrt},
          {"rcp", rcp}};
}

}  // namespace tbem::card
