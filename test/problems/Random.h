// Random problems for each primitive, and random layouts for their operands.
#pragma once

#include "test/problems/Problem.h"

#include <random>

namespace tbem::test {

class Random {
public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// Uniform in [low, high], both included.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool coin() { return integer(0, 1) == 1; }
  /// Normal values that are exact in f32; with `ties` small integers, so that maxima repeat.
  Array array(std::vector<std::int64_t> dims, bool ties = false);
  Array positive(std::vector<std::int64_t> dims);
  Array targets(std::int64_t count, std::int64_t classes);

private:
  std::mt19937_64 engine_;
};

/// A random problem whose operands fit; outputs have shapes only.
Problem randomProblem(tbem_primitive primitive, Random& random);

/// Gives an operand one of: row-major, and for ranks from 3 on channels last, channels in blocks of 16 or 8. Equal `kind`s give
/// equal layouts.
void setKind(tbem_operand& operand, int kind);
constexpr int kKinds = 4;

}  // namespace tbem::test
