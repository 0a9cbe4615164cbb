// A module as the card runs it: instructions whose operands are slots of a thread's registers.
#pragma once

#include "test/card/ptx/Type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tbem::card {

struct Warp;
struct Instruction;
struct Function;

/// Does one instruction for the lanes of a warp that are in the mask; at least one is.
using Handler = void (*)(const Instruction& in, Warp& warp, std::uint32_t mask);

/// What an instruction does to where its threads stand.
enum class Flow : std::uint16_t {
  Next,    ///< they go on behind it
  Branch,  ///< they go to instruction `number`
  Other    ///< the handler says, by Lane::next and Lane::state
};

inline constexpr std::uint32_t kAlways = 0;  ///< slot of a predicate that is true

/// How an instruction rounds, and what else its modifiers say.
enum Flag : std::uint32_t {
  kNearest = 0,
  kTowardZero = 1,
  kDown = 2,
  kUp = 3,
  kRounding = 3,
  kFlush = 4,        ///< .ftz
  kSaturate = 8,     ///< .sat
  kNegateLast = 16,  ///< the predicate that is combined is negated
  kToWhole = 32      ///< .rni and so on, to a real number
};

struct Instruction {
  Handler handler = nullptr;
  std::array<std::uint32_t, 4> to{};
  std::array<std::uint32_t, 4> from{};
  std::uint32_t guard = kAlways;
  std::uint16_t guardIs = 1;  ///< value of the guard for which it runs
  Flow flow = Flow::Next;
  std::uint32_t flags = 0;
  std::uint32_t line = 0;
  std::int64_t number = 0;  ///< offset of an address, instruction that is jumped to, index of what belongs to it
};

/// Slots that every function has first: what special registers say.
enum class Special : std::uint32_t {
  True,
  Sink,  ///< takes results that nobody wants
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  MaskEq,
  MaskLe,
  MaskLt,
  MaskGe,
  MaskGt,
  DynamicShared,
  TotalShared,
  Count
};

struct Parameter {
  std::uint64_t offset = 0, bytes = 0;
};

/// A call's parameters and results as bytes of the caller's and the callee's .param areas.
struct Call {
  const Function* callee = nullptr;
  std::vector<Parameter> in, out;  ///< of the caller
};

struct Function {
  std::string name;
  bool entry = false;
  std::vector<Instruction> code;
  std::vector<std::string> registers;    ///< names, from the slot behind the special ones
  std::vector<std::uint64_t> constants;  ///< slots behind the registers
  std::vector<Parameter> parameters, results;
  std::uint64_t paramBytes = 0;  ///< all of its .param area
  std::uint64_t localBytes = 0;
  std::uint64_t sharedBytes = 0;  ///< without what a launch adds
  std::uint64_t mostThreads = 0;
  bool exactThreads = false;
  std::vector<Call> calls;
  std::vector<std::vector<std::uint32_t>> branches;

  std::size_t slots() const { return static_cast<std::size_t>(Special::Count) + registers.size() + constants.size(); }
};

struct Program {
  std::vector<std::unique_ptr<Function>> functions;
  std::vector<std::string> lines;  ///< of its text
};

}  // namespace tbem::card
