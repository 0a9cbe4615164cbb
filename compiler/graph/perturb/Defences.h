// What is asked of a perturbation beyond points: how well they are told from examples, and what squeezing makes of them
// (docs/perturb.md).
#pragma once

#include "compiler/diagnostics/Source.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tbem::graph {

/// Clause `detect`.
struct DetectSpec {
  SrcRange range;
  std::int64_t folds = 5;
  double cost = 1;
  std::optional<std::int64_t> examples;  ///< the first so many; nothing: all, and 2000 at most
};

/// An item of clause `squeeze`: `bits(4)`, `median(2)`.
struct SqueezeSpec {
  enum class Kind : std::uint8_t { Bits, Median } kind = Kind::Bits;
  std::int64_t size = 0;
  std::string text;  ///< as a person writes it
  SrcRange range;
};

}  // namespace tbem::graph
