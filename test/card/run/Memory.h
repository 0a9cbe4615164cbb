// The card's memory: one range of addresses that the host cannot reach, with what is known of each byte beside it.
#pragma once

#include "test/card/run/Races.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>

namespace tbem::card {

/// Addresses of a kernel. All spaces share one range, so a generic address is that of its space.
inline constexpr std::uint64_t kSharedBase = 0x0100'0000, kLocalBase = 0x0200'0000, kParamBase = 0x0300'0000,
                               kWindow = 0x0100'0000;
inline constexpr std::uint64_t kGlobalBase = 0x0b00'0000'0000;

/// What is known of a byte.
enum : std::uint8_t { kAllocated = 1, kWritten = 2, kConstant = 4 };

class Memory {
public:
  explicit Memory(std::uint64_t capacity);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  struct Allocation {
    std::uint64_t bytes = 0;
    unsigned number = 0;  ///< from 1, in the order in which they were made
    std::string name;     ///< of a variable; "" for what the host asked for
  };

  /// Bytes that lie between allocations belong to none. Empty: there is not so much.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, const std::string& name = "");
  /// Whether an allocation starts there.
  bool release(std::uint64_t address);
  std::uint64_t free() const { return capacity_ - used_; }
  std::uint64_t capacity() const { return capacity_; }
  /// What the host asked for and has not released; variables of modules are theirs.
  struct Held {
    std::size_t allocations = 0;
    std::uint64_t bytes = 0;
  };
  Held held() const;

  /// Whether all of it lies within one allocation.
  bool holds(std::uint64_t address, std::uint64_t bytes) const;
  bool isWritten(std::uint64_t address, std::uint64_t bytes) const;
  void markWritten(std::uint64_t address, std::uint64_t bytes) { std::memset(known(address), kAllocated | kWritten, bytes); }
  void markConstant(std::uint64_t address, std::uint64_t bytes) {
    std::memset(known(address), kAllocated | kWritten | kConstant, bytes);
  }

  /// Of addresses in the range only (`reaches`).
  bool reaches(std::uint64_t address) const { return address - kGlobalBase < range_; }
  std::byte* bytes(std::uint64_t address) { return data_ + (address - kGlobalBase); }
  std::uint8_t* known(std::uint64_t address) { return known_ + (address - kGlobalBase); }
  const std::uint8_t* known(std::uint64_t address) const { return known_ + (address - kGlobalBase); }
  /// Whether races are looked for there. Cells take 13 times the memory that they are for: where much is allocated, only one page
  /// in sixteen has them.
  bool isTracked(std::uint64_t address) const { return used_ <= kWhollyTracked || address / 4096 % 16 == 0; }
  Cell& cell(std::uint64_t address) { return cells_[(address - kGlobalBase) / 4]; }

  /// "12 bytes behind allocation 3 of 4096 bytes at 0xb0000000200": the nearest one.
  std::string nearest(std::uint64_t address) const;

private:
  static constexpr std::uint64_t kWhollyTracked = 128ULL << 20;

  std::optional<std::uint64_t> place(std::uint64_t bytes, std::uint64_t from, std::uint64_t to) const;

  std::uint64_t capacity_, range_, used_ = 0, next_;
  unsigned made_ = 0;
  std::byte* data_;
  std::uint8_t* known_;
  Cell* cells_;
  std::map<std::uint64_t, Allocation> allocations_;
};

}  // namespace tbem::card
