// What is known of a gate's decisions about a sample, over a ball of inputs.
#pragma once

#include <cstdint>

namespace tbem::certify {

/// A gate decides once about a sample, or, at the places of its image, about each of so many rows.
struct Decisions {
  std::int64_t of = 1;       ///< how many there are
  std::int64_t isTrue = 0;   ///< of these, those whose condition is true for every input of the ball
  std::int64_t isFalse = 0;  ///< or false for every one
  std::int64_t open() const { return of - isTrue - isFalse; }
  /// 1: all are true; 0: all are false; -1: neither.
  std::int8_t together() const {
    if (isTrue == of) return 1;
    return static_cast<std::int8_t>(isFalse == of ? 0 : -1);
  }
};

}  // namespace tbem::certify
