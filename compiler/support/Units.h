// The closed list of unit words that may stand after a number.
#pragma once

#include "compiler/support/Rational.h"

#include <span>
#include <string_view>

namespace tbem {

/// What a unit measures. The base units are byte, second, joule, watt, FLOP, hertz.
enum class Dimension : std::uint8_t { Bytes, Seconds, Joules, Watts, Flops, Hertz };

struct UnitWord {
  std::string_view word;
  Dimension dimension;
  Rational factor;  ///< one of this unit in base units, exactly
};

/// All unit words, ordered by dimension and size.
std::span<const UnitWord> unitWords();
/// The row of a unit word (exact case: `MB` is not `mB`), or nullptr.
const UnitWord* findUnit(std::string_view word);
/// "bytes", "seconds", "joules", "watts", "FLOPs", "hertz".
std::string_view describe(Dimension dimension);
/// "B", "s", "J", "W", "FLOP", "Hz".
std::string_view baseUnit(Dimension dimension);

}  // namespace tbem
