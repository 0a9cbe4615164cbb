// The pattern that shows which bytes of an arena were written. As f32, f64, f16, bf16 it is (or holds) NaN; as i64 it is far out
// of any range that an index may have; no arithmetic on sound values yields it.
#pragma once

#include "tbem/backend.h"
#include "tbem/executable.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>

namespace tbem::runtime {

constexpr std::uint32_t kPoison = 0xFFF9A5A5U;  ///< repeated every four bytes, from a 4-aligned start

/// A range of bytes, [begin, end).
struct Written {
  std::uint64_t begin = 0, end = 0;
};

/// What differs from the pattern.
struct PoisonScan {
  std::uint64_t end = 0;          ///< one past the highest differing byte; 0: none differs
  std::uint64_t stray = kAbsent;  ///< lowest differing byte that lies in none of the allowed ranges
};

/// Fills device memory with the pattern.
tbem_status poisonDevice(const tbem_backend& backend, char* device, std::uint64_t bytes);
/// Compares device memory with the pattern; `allowed`: ranges relative to `device`, in any order, that may differ.
tl::expected<PoisonScan, tbem_status> scanDevice(const tbem_backend& backend, const char* device, std::uint64_t bytes,
                                                 std::span<const Written> allowed);

}  // namespace tbem::runtime
