// atom, red, fences (PTX ISA 9.0, section 9.7.13). Threads run one at a time, so what one does is not divided.
#include "test/card/code/Handlers.h"
#include "test/card/code/Rounded.h"
#include "test/card/run/Reach.h"

#include <utility>

namespace tbem::card {
namespace {

struct Exchange {
  template <class T>
  T operator()(T, T b, T) const {
    return b;
  }
};
struct CompareAndSwap {
  template <class T>
  T operator()(T a, T b, T c) const {
    return a == b ? c : a;
  }
};
struct Add {
  template <class T>
  T operator()(T a, T b, T) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) + static_cast<std::make_unsigned_t<T>>(b));
    else
      return a + b;
  }
};
struct AddFlushed {
  template <class T>
  T operator()(T a, T b, T) const {
    return flushed(flushed(a) + flushed(b));
  }
};
struct Increment {
  template <class T>
  T operator()(T a, T b, T) const {
    return a >= b ? 0 : a + 1;
  }
};
struct Decrement {
  template <class T>
  T operator()(T a, T b, T) const {
    return a == 0 || a > b ? b : a - 1;
  }
};
struct Least {
  template <class T>
  T operator()(T a, T b, T) const {
    return b < a ? b : a;
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b, T) const {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b, T) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b, T) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b, T) const {
    return a ^ b;
  }
};

/// An atomic operation on global memory: what the block fenced before is released, what others released is acquired.
void order(Block& block) {
  LaunchState& launch = *block.launch;
  launch.acquired[block.number] = ++launch.sequence;
  if (std::exchange(block.fenced, false)) launch.released[block.number] = launch.sequence;
}

template <class T, class Operation>
bool update(const Instruction& in, Lane& lane) {
  const std::uint64_t address = lane.at(in.from[0]) + static_cast<std::uint64_t>(in.number);
  auto space = static_cast<Space>(in.flags);
  if (space == Space::Generic) space = spaceAt(address);
  if (space == Space::Global && lane.block->launch->settings->races) order(*lane.block);
  std::byte* bytes = reach<sizeof(T)>(lane, in, space, address, {Touch::Atomic, nullptr});
  T old;
  std::memcpy(&old, bytes, sizeof(T));
  const T result = Operation{}(old, lane.get<T>(in.from[1]), lane.get<T>(in.from[2]));
  std::memcpy(bytes, &result, sizeof(T));
  lane.set(in.to[0], old);
  return true;
}

template <class Operation>
Handler wholeOf(Type type) {
  switch (type) {
    case Type::U32:
    case Type::B32:
      return each<update<std::uint32_t, Operation>>;
    case Type::S32:
      return each<update<std::int32_t, Operation>>;
    case Type::U64:
    case Type::B64:
      return each<update<std::uint64_t, Operation>>;
    case Type::S64:
      return each<update<std::int64_t, Operation>>;
    default:
      return nullptr;
  }
}

Handler addOf(Type type, Space space) {
  if (type == Type::F64) return each<update<double, Add>>;
  // f32 in global memory is flushed, in shared memory not.
  if (type == Type::F32) return space == Space::Shared ? each<update<float, Add>> : each<update<float, AddFlushed>>;
  return type == Type::B32 || type == Type::B64 ? nullptr : wholeOf<Add>(type);
}

Handler handlerOf(Site& site, Type type, Space space) {
  const bool bits = type == Type::B32 || type == Type::B64;
  if (site.take("add")) return addOf(type, space);
  if (site.take("exch")) return bits ? wholeOf<Exchange>(type) : nullptr;
  if (site.take("cas")) return bits ? wholeOf<CompareAndSwap>(type) : nullptr;
  if (site.take("and")) return bits ? wholeOf<And>(type) : nullptr;
  if (site.take("or")) return bits ? wholeOf<Or>(type) : nullptr;
  if (site.take("xor")) return bits ? wholeOf<Xor>(type) : nullptr;
  if (site.take("inc")) return type == Type::U32 ? each<update<std::uint32_t, Increment>> : nullptr;
  if (site.take("dec")) return type == Type::U32 ? each<update<std::uint32_t, Decrement>> : nullptr;
  if (site.take("min")) return bits ? nullptr : wholeOf<Least>(type);
  if (site.take("max")) return bits ? nullptr : wholeOf<Greatest>(type);
  return nullptr;
}

void takeOrder(Site& site) {
  for (const char* word : {"relaxed", "acquire", "release", "acq_rel", "cta", "gpu", "sys"}) site.take(word);
}

template <bool Answers>
void atomic(Site& site) {
  takeOrder(site);
  const Space space = site.takeSpace().value_or(Space::Generic);
  if (space != Space::Generic && space != Space::Global && space != Space::Shared) site.fail("is not known for this space");
  const auto type = site.takeType();
  if (!type) site.fail("has no type that this card knows");
  const bool swaps = [&] {
    for (const std::string& modifier : site.modifiers())
      if (modifier == "cas") return true;
    return false;
  }();
  const Handler handler = handlerOf(site, *type, space);
  if (handler == nullptr) site.fail("does what this card does not know for this type");
  site.finish();
  const std::size_t at = Answers ? 1 : 0, count = at + (swaps ? 3 : 2);
  site.expectOperands(count, count);
  site.in.to[0] = Answers ? site.target(0, *type) : static_cast<std::uint32_t>(Special::Sink);
  site.in.flags = static_cast<std::uint32_t>(space);
  if (site.address(at, space, site.in.from[0], bytesOf(*type))) site.fail("changes a parameter");
  site.in.from[1] = site.source(at + 1, *type);
  if (swaps) site.in.from[2] = site.source(at + 2, *type);
  site.emit(handler);
}

bool fence(const Instruction&, Lane& lane) {
  lane.block->fenced = true;
  return true;
}

bool nothing(const Instruction&, Lane&) { return true; }

void membar(Site& site) {
  const bool wide = site.take("gl") || site.take("sys");
  if (!wide) site.expect("cta");
  site.finish();
  site.emit(wide ? each<fence> : each<nothing>);
}

void fenceOf(Site& site) {
  if (!site.take("sc")) site.expect("acq_rel");
  const bool wide = site.take("gpu") || site.take("sys");
  if (!wide) site.expect("cta");
  site.finish();
  site.emit(wide ? each<fence> : each<nothing>);
}

}  // namespace

std::vector<OpcodeRow> atomicOpcodes() {
  return {{"atom", atomic<true>}, {"red", atomic<false>}, {"membar", membar}, {"fence", fenceOf}};
}

}  // namespace tbem::card
