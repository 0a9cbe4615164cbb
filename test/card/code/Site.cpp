#include "test/card/code/Site.h"

#include "test/card/run/Lane.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tbem::card {

std::uint32_t FunctionSite::constant(std::uint64_t bits) {
  const auto [entry, isNew] = constants.emplace(bits, static_cast<std::uint32_t>(function.slots()));
  if (isNew) function.constants.push_back(bits);
  return entry->second;
}

Site::Site(FunctionSite& of, const Statement& statement) : function(of), statement_(statement) {
  left_.assign(statement.modifiers.begin(), statement.modifiers.end());
  in.line = statement.line;
  if (!statement.guarded) return;
  in.guard = function.slotOf(statement.guard);
  in.guardIs = statement.guardNegated ? 0 : 1;
}

void Site::fail(const std::string& text) const {
  std::string name = statement_.opcode;
  for (const std::string& modifier : statement_.modifiers) name += "." + modifier;
  throw PtxFailure(statement_.line, "`" + name + "`: " + text);
}

bool Site::take(std::string_view modifier) {
  const auto entry = std::find(left_.begin(), left_.end(), modifier);
  if (entry == left_.end()) return false;
  left_.erase(entry);
  return true;
}

void Site::expect(std::string_view modifier) {
  if (!take(modifier)) fail("has no ." + std::string(modifier));
}

std::optional<Type> Site::takeType() {
  for (const std::string_view name : left_) {
    const auto type = typeOf(name);
    if (!type) continue;
    take(name);
    return type;
  }
  return std::nullopt;
}

Type Site::expectType(std::initializer_list<Type> allowed) {
  const auto type = takeType();
  if (!type) fail("has no type that this card knows");
  if (std::find(allowed.begin(), allowed.end(), *type) == allowed.end()) fail(std::string("is not known for .") + nameOf(*type));
  return *type;
}

std::optional<Space> Site::takeSpace() {
  for (const std::string_view name : left_) {
    const auto space = spaceOf(name);
    if (!space) continue;
    take(name);
    return space;
  }
  return std::nullopt;
}

std::uint32_t Site::takeRounding(std::uint32_t otherwise) {
  if (take("rn")) return kNearest;
  if (take("rz")) return kTowardZero;
  if (take("rm")) return kDown;
  if (take("rp")) return kUp;
  return otherwise;
}

bool Site::takeReal64Approximation() {
  const std::vector<std::string_view> wanted{"approx", "ftz", "f64"};
  if (left_ != wanted) return false;
  left_.clear();
  return true;
}

void Site::finish() const {
  if (!left_.empty()) fail("the modifier ." + std::string(left_.front()) + " is not known here");
}

void Site::expectOperands(std::size_t least, std::size_t most) const {
  if (operands() < least || operands() > most) fail("has " + std::to_string(operands()) + " operands");
}

std::uint32_t Site::literal(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::Integer) {
    if (isReal(type))
      fail("a number without bits or a point stands where one of type ." + std::string(nameOf(type)) + " is wanted");
    const unsigned bits = type == Type::Pred ? 1 : 8 * bytesOf(type);
    if (type == Type::Pred) return function.constant(operand.bits != 0 ? 1 : 0);
    // As a register of the type would hold it.
    const std::uint64_t low = bits == 64 ? operand.bits : operand.bits & ((1ULL << bits) - 1);
    const bool negative = isSigned(type) && bits < 64 && (low >> (bits - 1) & 1) != 0;
    return function.constant(negative ? low | ~((1ULL << bits) - 1) : low);
  }
  const bool narrow = operand.kind == Operand::Kind::Real32;
  if (bytesOf(type) == (narrow ? 4U : 8U)) return function.constant(operand.bits);
  if (type != Type::F32 && type != Type::F64) fail("a real number stands where none is wanted");
  if (narrow)
    return function.constant(
        std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits)))));
  return function.constant(std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits))));
}

namespace {

constexpr std::pair<const char*, Special> kSpecials[] = {
    {"%tid.x", Special::TidX},
    {"%tid.y", Special::TidY},
    {"%tid.z", Special::TidZ},
    {"%ntid.x", Special::NtidX},
    {"%ntid.y", Special::NtidY},
    {"%ntid.z", Special::NtidZ},
    {"%ctaid.x", Special::CtaidX},
    {"%ctaid.y", Special::CtaidY},
    {"%ctaid.z", Special::CtaidZ},
    {"%nctaid.x", Special::NctaidX},
    {"%nctaid.y", Special::NctaidY},
    {"%nctaid.z", Special::NctaidZ},
    {"%laneid", Special::LaneId},
    {"%warpid", Special::WarpId},
    {"%nwarpid", Special::NwarpId},
    {"%lanemask_eq", Special::MaskEq},
    {"%lanemask_le", Special::MaskLe},
    {"%lanemask_lt", Special::MaskLt},
    {"%lanemask_ge", Special::MaskGe},
    {"%lanemask_gt", Special::MaskGt},
    {"%dynamic_smem_size", Special::DynamicShared},
    {"%total_smem_size", Special::TotalShared},
};

}  // namespace

std::uint32_t Site::source(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::Register && bytesOf(*registerType(operand)) != bytesOf(type))
    fail(function.text.registers[operand.index].name + " has not the size of ." + nameOf(type));
  return looseSource(operand, type);
}

std::uint32_t Site::looseSource(const Operand& operand, Type type) {
  if (operand.negated) fail("`!` stands where it has no meaning");
  switch (operand.kind) {
    case Operand::Kind::Register: {
      const Type of = *registerType(operand);
      if ((of == Type::Pred) != (type == Type::Pred)) fail(function.text.registers[operand.index].name + " is of another type");
      if (bytesOf(of) < bytesOf(type)) fail(function.text.registers[operand.index].name + " is too narrow");
      return function.slotOf(operand.index);
    }
    case Operand::Kind::Integer:
    case Operand::Kind::Real32:
    case Operand::Kind::Real64:
      return literal(operand, type);
    case Operand::Kind::Special:
      for (const auto& [name, special] : kSpecials)
        if (operand.name == name) return static_cast<std::uint32_t>(special);
      fail("the special register " + operand.name + " is not known");
    case Operand::Kind::Name:
      if (operand.name == "WARP_SZ") return function.constant(32);
      if (const auto entry = function.shared.find(operand.name); entry != function.shared.end())
        return function.constant(entry->second + operand.bits);
      if (const auto entry = function.names.addresses.find(operand.name); entry != function.names.addresses.end())
        return function.constant(entry->second + operand.bits);
      fail("the name " + operand.name + " is not known");
    case Operand::Kind::Variable: {
      const Variable& variable = function.text.variables[operand.index];
      const std::uint64_t offset = function.offsets[operand.index] + operand.bits;
      if (variable.space == Space::Shared) return function.constant(offset);
      if (variable.space == Space::Param && function.function.entry) return function.constant(kParamBase + offset);
      fail("the address of " + variable.name + " is not a number that is known before the kernel runs");
    }
    default:
      fail("an operand has another form than this card knows");
  }
}

std::uint32_t Site::predicate(const Operand& operand, bool& negated) {
  Operand plain = operand;
  negated = std::exchange(plain.negated, false);
  return source(plain, Type::Pred);
}

std::uint32_t Site::target(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::Register && bytesOf(*registerType(operand)) != bytesOf(type))
    fail(function.text.registers[operand.index].name + " has not the size of ." + nameOf(type));
  return looseTarget(operand, type);
}

std::uint32_t Site::looseTarget(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::Sink) return static_cast<std::uint32_t>(Special::Sink);
  if (operand.kind != Operand::Kind::Register || operand.negated) fail("a result is no register");
  const Type of = *registerType(operand);
  if ((of == Type::Pred) != (type == Type::Pred)) fail(function.text.registers[operand.index].name + " is of another type");
  if (bytesOf(of) < bytesOf(type)) fail(function.text.registers[operand.index].name + " is too narrow");
  return function.slotOf(operand.index);
}

namespace {

bool localAddress(const Instruction& in, Lane& lane) {
  lane.at(in.to[0]) = kLocalBase + lane.localBase + static_cast<std::uint64_t>(in.number);
  return true;
}

}  // namespace

bool Site::emitLocalAddress(const Operand& operand, std::uint32_t slot) {
  if (operand.kind != Operand::Kind::Variable || function.text.variables[operand.index].space != Space::Local) return false;
  const Instruction kept = in;
  in.to[0] = slot;
  in.number = static_cast<std::int64_t>(function.offsets[operand.index] + operand.bits);
  emit(each<localAddress>);
  in = kept;
  return true;
}

bool Site::address(std::size_t at, Space space, std::uint32_t& slot, std::uint64_t size) {
  const Operand& place = operand(at);
  if (place.kind != Operand::Kind::Address) fail("an address stands in [ ]");
  const Operand& base = place.parts[0];
  in.number = static_cast<std::int64_t>(place.bits);
  if (base.kind == Operand::Kind::Variable) {
    const Variable& variable = function.text.variables[base.index];
    if (space != Space::Generic && variable.space != space) fail(variable.name + " lies in another state space");
    if (place.bits > variable.bytes || (!variable.external && size > variable.bytes - place.bits))
      fail("reaches beyond " + variable.name);
    const bool argument = function.function.entry && std::find(function.text.parameters.begin(), function.text.parameters.end(),
                                                               base.index) != function.text.parameters.end();
    if (variable.space == Space::Param && !argument) {
      in.number += static_cast<std::int64_t>(function.offsets[base.index]);
      return true;
    }
    if (emitLocalAddress(base, function.scratch))
      slot = function.scratch;
    else
      slot = source(base, Type::U64);
    return false;
  }
  if (base.kind == Operand::Kind::Register && registerType(base) && bytesOf(*registerType(base)) == 4)
    slot = source(base, Type::U32);
  else
    slot = source(base, Type::U64);
  return false;
}

std::int64_t Site::immediate(const Operand& operand) const {
  if (operand.kind != Operand::Kind::Integer) fail("an operand is no number");
  return static_cast<std::int64_t>(operand.bits);
}

std::uint32_t Site::labelled(const Operand& operand) const {
  if (operand.kind == Operand::Kind::Name)
    if (const auto entry = function.text.labels.find(operand.name); entry != function.text.labels.end()) return entry->second;
  fail("the label " + operand.name + " is not there");
}

std::optional<Type> Site::registerType(const Operand& operand) const {
  if (operand.kind != Operand::Kind::Register) return std::nullopt;
  return function.text.registers[operand.index].type;
}

void Site::emit(Handler handler) {
  Instruction done = in;
  done.handler = handler;
  function.function.code.push_back(done);
}

void Site::emitFlow(Handler handler) {
  in.flow = Flow::Other;
  emit(handler);
}

}  // namespace tbem::card
