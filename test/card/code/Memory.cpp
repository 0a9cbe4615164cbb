// ld and st (PTX ISA 9.0, section 9.7.9).
#include "test/card/code/Handlers.h"
#include "test/card/run/Reach.h"

namespace tbem::card {
namespace {

constexpr std::uint32_t kOrdered = 1;  ///< of Instruction::flags: .relaxed, .acquire, .release

template <class T, unsigned Count, Space In>
bool load(const Instruction& in, Lane& lane) {
  const std::uint64_t address = lane.at(in.from[0]) + static_cast<std::uint64_t>(in.number);
  const Use use{(in.flags & kOrdered) != 0 ? Touch::Atomic : Touch::Read, nullptr};
  const std::byte* bytes = reach<sizeof(T) * Count>(lane, in, In, address, use);
  std::array<T, Count> values;
  std::memcpy(values.data(), bytes, sizeof(values));
  for (unsigned at = 0; at < Count; ++at) lane.set(in.to[at], values[at]);
  return true;
}

template <class T, unsigned Count, Space In>
bool store(const Instruction& in, Lane& lane) {
  const std::uint64_t address = lane.at(in.to[0]) + static_cast<std::uint64_t>(in.number);
  std::array<T, Count> values;
  for (unsigned at = 0; at < Count; ++at) values[at] = lane.get<T>(in.from[at]);
  const Use use{(in.flags & kOrdered) != 0 ? Touch::Atomic : Touch::Write, values.data()};
  std::memcpy(reach<sizeof(T) * Count>(lane, in, In, address, use), values.data(), sizeof(values));
  return true;
}

/// Parameters of calls, and those of functions that are called: bytes of the frame, at `number`.
template <class T, unsigned Count>
bool loadParam(const Instruction& in, Lane& lane) {
  std::array<T, Count> values;
  std::memcpy(values.data(), lane.params + in.number, sizeof(values));
  for (unsigned at = 0; at < Count; ++at) lane.set(in.to[at], values[at]);
  return true;
}

template <class T, unsigned Count>
bool storeParam(const Instruction& in, Lane& lane) {
  std::array<T, Count> values;
  for (unsigned at = 0; at < Count; ++at) values[at] = lane.get<T>(in.from[at]);
  std::memcpy(lane.params + in.number, values.data(), sizeof(values));
  return true;
}

template <class T, bool Loads, unsigned Count>
Handler inSpace(Space space) {
  switch (space) {
    case Space::Shared:
      return Loads ? each<load<T, Count, Space::Shared>> : each<store<T, Count, Space::Shared>>;
    case Space::Local:
      return Loads ? each<load<T, Count, Space::Local>> : each<store<T, Count, Space::Local>>;
    case Space::Param:
      return Loads ? each<load<T, Count, Space::Param>> : nullptr;
    case Space::Generic:
      return Loads ? each<load<T, Count, Space::Generic>> : each<store<T, Count, Space::Generic>>;
    case Space::Global:
    case Space::Const:
      return Loads ? each<load<T, Count, Space::Global>> : each<store<T, Count, Space::Global>>;
  }
  return nullptr;
}

Type bitsOf(Type type) {
  if (type == Type::F32) return Type::B32;
  if (type == Type::F64) return Type::B64;
  if (type == Type::F16 || type == Type::BF16) return Type::B16;
  return type;
}

struct Place {
  Space space;
  bool frame;  ///< in the .param area of the function
};

template <bool Loads>
Handler handlerOf(Type type, std::size_t count, const Place& place) {
  return withInteger(bitsOf(type), [&]<class T>() -> Handler {
    if (count == 1) {
      if (place.frame) return Loads ? each<loadParam<T, 1>> : each<storeParam<T, 1>>;
      return inSpace<T, Loads, 1>(place.space);
    }
    if (count == 2) {
      if (place.frame) return Loads ? each<loadParam<T, 2>> : each<storeParam<T, 2>>;
      return inSpace<T, Loads, 2>(place.space);
    }
    if constexpr (sizeof(T) <= 4) {
      if (place.frame) return Loads ? each<loadParam<T, 4>> : each<storeParam<T, 4>>;
      return inSpace<T, Loads, 4>(place.space);
    }
    return nullptr;
  });
}

/// What only concerns caches, and promises about other threads.
void takeHints(Site& site) {
  for (const char* hint : {"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal", "L1::evict_unchanged",
                           "L1::evict_first", "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B"})
    site.take(hint);
  site.take("weak");
  site.take("volatile");
  const bool relaxed = site.take("relaxed"), acquire = site.take("acquire"), release = site.take("release");
  if (!relaxed && !acquire && !release) return;
  site.in.flags |= kOrdered;
  if (!site.take("cta") && !site.take("gpu") && !site.take("sys")) site.fail("has no scope");
}

template <bool Loads>
void access(Site& site) {
  const Space space = site.takeSpace().value_or(Space::Generic);
  takeHints(site);
  const bool two = site.take("v2"), four = site.take("v4");
  const auto type = site.takeType();
  if (!type || *type == Type::Pred) site.fail("has no type that this card knows");
  site.finish();
  site.expectOperands(2, 2);
  const std::size_t count = four ? 4 : two ? 2 : 1;
  const Operand& value = site.operand(Loads ? 0 : 1);
  if ((count > 1) != (value.kind == Operand::Kind::List) || (count > 1 && value.parts.size() != count))
    site.fail("has another number of values than its type");
  for (std::size_t at = 0; at < count; ++at) {
    const Operand& part = count > 1 ? value.parts[at] : value;
    if (Loads)
      site.in.to[at] = site.looseTarget(part, *type);
    else
      site.in.from[at] = site.looseSource(part, *type);
  }
  const bool frame = site.address(Loads ? 1 : 0, space, Loads ? site.in.from[0] : site.in.to[0], bytesOf(*type) * count);
  const Handler handler = handlerOf<Loads>(*type, count, {space, frame});
  if (handler == nullptr) site.fail("is not known for this space and type");
  site.emit(handler);
}

void nothing(Site& site) {
  site.takeSpace();
  for (const char* level : {"L1", "L2"}) site.take(level);
  site.finish();
}

}  // namespace

std::vector<OpcodeRow> memoryOpcodes() { return {{"ld", access<true>}, {"st", access<false>}, {"prefetch", nothing}}; }

}  // namespace tbem::card
