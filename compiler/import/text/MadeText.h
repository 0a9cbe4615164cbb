// What a block makes before its steps, as text. Internal to compiler/import/text.
#pragma once

#include "compiler/import/Blocks.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tbem::imports {

/// Functions that stand for long lists of numbers, "relative_position_index()", and their types.
using TableTypes = std::map<std::string, std::string>;
/// The type of a parameter that has these values: "int", "list of real".
std::string typeOf(const std::vector<std::string>& values, const TableTypes& tables);

class MadeText {
public:
  MadeText(const Units& units, const Blocks& all, const Block& block) : units(units), all(all), block(block) {}

  std::string filledHoles(const Marked& marked) const;
  std::string argumentText(const Expression& expression) const;
  std::string constructor(const Made& made) const;

private:
  const Block& blockOf(const Made& made) const { return all.blocks[units.units[made.unit].block]; }
  std::vector<std::string> valuesOf(const Made& made) const;
  std::string blockText(const Made& made, const std::vector<std::string>& values) const;
  /// Equal members as a comprehension, with another first one where that differs; members in which one number differs, too.
  std::string list(const Made& made) const;
  /// "[block(p: [0.1, 0.2, 0.3][i]) for i in 0 .. 3]", of the members from `from` on, by the name `index`; the element of the
  /// first of all is 0.
  std::optional<std::string> withOneThatDiffers(const std::vector<Made>& members, std::size_t from,
                                                const std::string& index) const;

  const Units& units;
  const Blocks& all;
  const Block& block;
};

}  // namespace tbem::imports
