// mov, cvta, isspacep (PTX ISA 9.0, section 9.7.9).
#include "test/card/code/Handlers.h"
#include "test/card/run/Reach.h"

namespace tbem::card {
namespace {

void move(const Instruction& in, Warp& warp, std::uint32_t mask) {
  const std::uint64_t* from = warp.row(in.from[0]);
  fill(warp.row(in.to[0]), mask, [=](std::size_t at) { return from[at]; });
}

/// Two or four parts of a register. `number` is the bits of a part.
bool pack(const Instruction& in, Lane& lane) {
  const auto bits = static_cast<unsigned>(in.number);
  std::uint64_t whole = 0;
  for (unsigned at = 0; at < in.flags; ++at) whole |= (lane.at(in.from[at]) & ((1ULL << bits) - 1)) << (bits * at);
  lane.at(in.to[0]) = whole;
  return true;
}

bool unpack(const Instruction& in, Lane& lane) {
  const auto bits = static_cast<unsigned>(in.number);
  const std::uint64_t whole = lane.at(in.from[0]);
  for (unsigned at = 0; at < in.flags; ++at) lane.at(in.to[at]) = whole >> (bits * at) & ((1ULL << bits) - 1);
  return true;
}

Type partOf(Site& site, Type type, std::size_t parts) {
  const unsigned bytes = bytesOf(type) / static_cast<unsigned>(parts);
  if ((parts != 2 && parts != 4) || bytes < 1 || bytes > 4) site.fail("has another number of parts than this card knows");
  return bytes == 1 ? Type::B8 : bytes == 2 ? Type::B16 : Type::B32;
}

void mov(Site& site) {
  const auto type = site.takeType();
  if (!type) site.fail("has no type that this card knows");
  site.finish();
  site.expectOperands(2, 2);
  const Operand &to = site.operand(0), &from = site.operand(1);
  const Operand& list = to.kind == Operand::Kind::List ? to : from;
  if (list.kind == Operand::Kind::List) {
    const Type part = partOf(site, *type, list.parts.size());
    site.in.number = 8 * bytesOf(part);
    site.in.flags = static_cast<std::uint32_t>(list.parts.size());
    const bool packs = &list == &from;
    for (std::size_t at = 0; at < list.parts.size(); ++at)
      (packs ? site.in.from : site.in.to)[at] = packs ? site.source(list.parts[at], part) : site.target(list.parts[at], part);
    if (packs)
      site.in.to[0] = site.target(to, *type);
    else
      site.in.from[0] = site.source(from, *type);
    return site.emit(packs ? each<pack> : each<unpack>);
  }
  site.in.to[0] = site.target(to, *type);
  if (from.kind == Operand::Kind::Variable && site.emitLocalAddress(from, site.in.to[0])) return;
  site.in.from[0] = site.source(from, *type);
  site.emit(move);
}

// All spaces share one range of addresses, so a generic address is that of its space.
void cvta(Site& site) {
  site.take("to");
  if (!site.takeSpace()) site.fail("has no state space");
  const Type type = site.expectType({Type::U64});
  site.finish();
  site.expectOperands(2, 2);
  site.in.to[0] = site.target(0, type);
  if (site.operand(1).kind == Operand::Kind::Variable && site.emitLocalAddress(site.operand(1), site.in.to[0])) return;
  site.in.from[0] = site.source(1, type);
  site.emit(move);
}

bool liesIn(const Instruction& in, Lane& lane) {
  lane.set(in.to[0], spaceAt(lane.at(in.from[0])) == static_cast<Space>(in.number));
  return true;
}

void isspacep(Site& site) {
  const auto space = site.takeSpace();
  if (!space || *space == Space::Const) site.fail("asks for a space that this card does not know here");
  site.finish();
  site.expectOperands(2, 2);
  site.in.number = static_cast<std::int64_t>(*space);
  site.in.to[0] = site.target(0, Type::Pred);
  site.in.from[0] = site.source(1, Type::U64);
  site.emit(each<liesIn>);
}

}  // namespace

std::vector<OpcodeRow> moveOpcodes() { return {{"mov", mov}, {"cvta", cvta}, {"isspacep", isspacep}}; }

}  // namespace tbem::card
