// A thread while it runs, and the warp and the block that it belongs to.
#pragma once

#include "test/card/code/Program.h"
#include "test/card/run/Fault.h"
#include "test/card/run/Memory.h"
#include "test/card/run/Settings.h"

#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

namespace tbem::card {

struct Block;
struct Warp;

/// Where a call goes back to.
struct Frame {
  const Function* function = nullptr;
  std::uint32_t next = 0;  ///< instruction
  std::size_t firstSlot = 0, firstParam = 0;
  std::uint64_t localBase = 0, localEnd = 0;
  const Call* call = nullptr;  ///< that made the frame behind this one
};

/// A register's lower bits as a number.
template <class T>
T valueOf(std::uint64_t bits) {
  if constexpr (sizeof(T) == 1)
    return std::bit_cast<T>(static_cast<std::uint8_t>(bits));
  else if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(static_cast<std::uint16_t>(bits));
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<std::uint32_t>(bits));
  else
    return std::bit_cast<T>(bits);
}

/// A register that holds a number. Narrow whole ones are extended by their own sign.
template <class T>
std::uint64_t bitsOf(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(value);
  else
    return std::bit_cast<std::uint64_t>(value);
}

struct Lane {
  enum class State : std::uint8_t { Ready, Barrier, Collective, Ended };

  std::uint64_t* registers = nullptr;  ///< of the running function; each slot 32 behind the one before (Warp::slots)
  std::uint32_t next = 0;              ///< instruction
  State state = State::Ready;
  bool carry = false;
  std::uint16_t index = 0;  ///< in its block
  const Function* function = nullptr;
  Block* block = nullptr;
  Warp* warp = nullptr;
  std::byte* params = nullptr;  ///< .param area of the running function
  std::size_t firstSlot = 0, firstParam = 0;
  std::uint64_t localBase = 0;  ///< of the running function, from kLocalBase
  std::uint64_t localEnd = 0;

  std::vector<std::byte> local, paramBytes;
  std::vector<Frame> frames;

  // What it waits for.
  const Instruction* waiting = nullptr;
  std::uint32_t barrier = 0, barrierThreads = 0, mask = 0;
  bool predicate = false, alignedBarrier = false;

  std::uint32_t inWarp() const { return index % 32U; }

  std::uint64_t& at(std::uint32_t slot) const { return registers[slot * std::size_t{32}]; }

  template <class T>
  T get(std::uint32_t slot) const {
    return valueOf<T>(at(slot));
  }
  template <class T>
  void set(std::uint32_t slot, T value) {
    at(slot) = bitsOf(value);
  }
};

/// Lanes that stand at one instruction run it together.
struct Warp {
  Lane* lanes = nullptr;
  std::uint32_t count = 0;
  bool backward = false;               ///< lanes from the last to the first
  std::vector<std::uint64_t> slots;    ///< of all frames: for each slot the lanes' values
  std::uint64_t* registers = nullptr;  ///< slots of the function that the lanes now run

  std::uint64_t* row(std::uint32_t slot) const { return registers + slot * std::size_t{32}; }
};

/// Does for each lane of the mask what `Does` does for one.
template <auto Does>
void each(const Instruction& in, Warp& warp, std::uint32_t mask) {
  if (warp.backward) {
    for (; mask != 0; mask &= ~(1U << (31 - std::countl_zero(mask)))) Does(in, warp.lanes[31 - std::countl_zero(mask)]);
  } else {
    for (; mask != 0; mask &= mask - 1) Does(in, warp.lanes[std::countr_zero(mask)]);
  }
}

/// Conditions of graphs' nodes and their values, by handle.
using Conditions = std::map<std::uint64_t, std::uint32_t>;

/// What all blocks of a launch share.
struct LaunchState {
  const Settings* settings = nullptr;
  Memory* memory = nullptr;
  const Program* program = nullptr;
  const Function* kernel = nullptr;
  std::uint32_t grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1};
  std::uint64_t sharedBytes = 0;  ///< static and dynamic
  std::vector<std::byte> arguments;
  Conditions* conditions = nullptr;  ///< as Launch has them
  std::uint32_t serial = 0;          ///< of the launch
  /// Of fences and atomic operations (Races.h): the number of atomic operations so far, and by block the last ones behind which
  /// it had released, and acquired, memory.
  std::uint32_t sequence = 0;
  std::map<std::uint32_t, std::uint32_t> released, acquired;
  std::uint64_t executed = 0;  ///< instructions of threads
};

struct Block {
  LaunchState* launch = nullptr;
  std::uint32_t number = 0;  ///< in the grid
  std::uint32_t at[3] = {0, 0, 0};
  std::vector<Lane> lanes;
  std::vector<Warp> warps;
  std::vector<std::byte> shared;
  std::vector<std::uint8_t> sharedKnown;
  std::vector<Cell> sharedCells;
  std::uint32_t serial = 0;  ///< of the block among all blocks
  std::uint16_t interval = 0;
  bool fenced = false;  ///< a fence since its last atomic operation
  /// By warp, lane, lane: how much of the second lane's past the first knows.
  std::vector<std::array<std::array<std::uint16_t, 32>, 32>> clocks;
};

/// Throws a Fault with the kernel, the line of its text, the thread, and `text`.
[[noreturn]] void fail(const Lane& lane, const Instruction& in, FaultKind kind, const std::string& text);

}  // namespace tbem::card
