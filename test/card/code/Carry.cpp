// Numbers wider than registers (PTX ISA 9.0, section 9.7.2).
#include "test/card/code/Arithmetic.h"
#include "test/card/code/Handlers.h"

namespace tbem::card {
namespace {

/// a + b + carry or a - b - carry. What is carried in and out is the instruction's to say.
template <class T, bool Subtracts, bool In, bool Out>
bool chain(const Instruction& in, Lane& lane) {
  const unsigned __int128 a = lane.get<T>(in.from[0]), b = lane.get<T>(in.from[1]), carry = In && lane.carry ? 1 : 0;
  const unsigned __int128 exact = Subtracts ? a - b - carry : a + b + carry;
  if constexpr (Out) lane.carry = (exact >> (8 * sizeof(T)) & 1) != 0;
  lane.set(in.to[0], static_cast<T>(exact));
  return true;
}

template <bool Subtracts, bool In, bool Out>
void emitChain(Site& site) {
  const Type type = site.expectType({Type::U32, Type::S32, Type::U64, Type::S64});
  emitPlain(site, type, 2,
            bytesOf(type) == 4 ? each<chain<std::uint32_t, Subtracts, In, Out>> : each<chain<std::uint64_t, Subtracts, In, Out>>);
}

template <bool Subtracts>
void withCarryIn(Site& site) {
  if (site.take("cc"))
    emitChain<Subtracts, true, true>(site);
  else
    emitChain<Subtracts, true, false>(site);
}

/// The low or high half of a product, plus what is added and carried.
template <class T, bool High, bool In, bool Out>
bool productChain(const Instruction& in, Lane& lane) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  using Bits = std::make_unsigned_t<T>;
  const Wide product = static_cast<Wide>(lane.get<T>(in.from[0])) * static_cast<Wide>(lane.get<T>(in.from[1]));
  const auto half = static_cast<Bits>(High ? product >> (8 * sizeof(T)) : product);
  const unsigned __int128 exact =
      static_cast<unsigned __int128>(half) + lane.get<Bits>(in.from[2]) + (In && lane.carry ? 1U : 0U);
  if constexpr (Out) lane.carry = (exact >> (8 * sizeof(T)) & 1) != 0;
  lane.set(in.to[0], static_cast<T>(exact));
  return true;
}

template <bool High, bool In, bool Out>
void emitProduct(Site& site) {
  const Type type = site.expectType({Type::U32, Type::S32, Type::U64, Type::S64});
  emitPlain(site, type, 3, withInteger(type, []<class T>() -> Handler { return each<productChain<T, High, In, Out>>; }));
}

template <bool In, bool Out>
void eitherHalf(Site& site) {
  if (site.take("hi")) return emitProduct<true, In, Out>(site);
  site.expect("lo");
  emitProduct<false, In, Out>(site);
}

void productWithCarryIn(Site& site) {
  if (site.take("cc"))
    eitherHalf<true, true>(site);
  else
    eitherHalf<true, false>(site);
}

}  // namespace

void addWithCarryOut(Site& site) { emitChain<false, false, true>(site); }
void subtractWithCarryOut(Site& site) { emitChain<true, false, true>(site); }
void multiplyAddWithCarryOut(Site& site) { eitherHalf<false, true>(site); }

std::vector<OpcodeRow> carryOpcodes() {
  return {{"addc", withCarryIn<false>}, {"subc", withCarryIn<true>}, {"madc", productWithCarryIn}};
}

}  // namespace tbem::card
