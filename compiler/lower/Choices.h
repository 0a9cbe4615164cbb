// Which algorithm each operator takes on one machine, where its backend has several: measured once, then read, so that equal
// measurements give equal plans and equal bits.
#pragma once

#include "runtime/include/tbem/backend.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tbem::estimate {

/// What was measured of one operator, and what follows.
struct Choice {
  std::int32_t algorithm = 0;
  std::vector<double> seconds;  ///< by number of the algorithm; negative: not there for this operator
};

/// Another algorithm than the default is taken only where it takes at most this share of the default's time: it needs memory, and
/// a measurement is not repeated.
constexpr double kWorthwhile = 0.95;
Choice chooseAlgorithm(std::vector<double> seconds);

using Choices = std::map<std::string, Choice>;

/// The key of an operator: its shapes, element types and attributes, whatever the layouts, threads, and whether its products may
/// round to TF32. One line of text without tabs: "conv2d f32[16x64x56x56] f32[64x64x3x3] - f32[16x64x56x56] (1 1 1 1 1 1 1 1 1)
/// 2 threads".
std::string choiceKey(tbem_primitive primitive, const std::vector<tbem_operand>& operands,
                      const std::vector<std::int64_t>& attributes, int threads, bool tf32);

}  // namespace tbem::estimate
