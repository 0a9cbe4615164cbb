// The rows of primitives.def as values.
#pragma once

#include "tbem/backend.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tbem::runtime {

/// A row of primitives.def. Word lists are separated by spaces.
struct Signature {
  std::string_view name, inputs, outputs, attributes, scalars;
  bool moves = false;           ///< elements of any type, and computes nothing
  bool choosesLayouts = false;  ///< its library does; other primitives take what comes
  int index = -1;               ///< the operand that holds numbers of elements, or -1
  std::uint32_t f32 = 0;        ///< bit k: operand k may be f32 where operand 0 is bf16

  constexpr int inputCount() const { return words(inputs); }
  constexpr int outputCount() const { return words(outputs); }
  /// The only input stands for one or more: `inputCount` is the least number.
  constexpr bool isVariadic() const { return inputs.ends_with('*'); }
  constexpr bool mayBeF32(int operand) const { return operand < 32 && ((f32 >> operand) & 1U) != 0; }

private:
  static constexpr int words(std::string_view list) {
    int count = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] != ' ' && (i == 0 || list[i - 1] == ' ')) ++count;
    }
    return count;
  }
};

/// The row with the words of its last column read. Does not compile for a word that is none of them.
consteval Signature withFacts(Signature row, std::string_view facts) {
  while (!facts.empty()) {
    const std::string_view word = facts.substr(0, facts.find(' '));
    facts.remove_prefix(word.size() < facts.size() ? word.size() + 1 : word.size());
    if (word == "moves") {
      row.moves = true;
    } else if (word == "layouts") {
      row.choosesLayouts = true;
    } else if (word.starts_with("index:")) {
      row.index = word.back() - '0';
    } else if (word.starts_with("f32:")) {
      for (const char digit : word.substr(4)) row.f32 |= std::uint32_t{1} << (digit - '0');
    } else {
      throw "no word of the column `facts`";
    }
  }
  return row;
}

constexpr std::array<Signature, TBEM_PRIMITIVE_COUNT> kSignatures = {{
#define TBEM_PRIMITIVE(name, inputs, outputs, attributes, scalars, facts) \
  withFacts({#name, inputs, outputs, attributes, scalars}, facts),
#include "tbem/primitives.def"
#undef TBEM_PRIMITIVE
}};

constexpr const Signature& signature(tbem_primitive primitive) { return kSignatures[static_cast<std::size_t>(primitive)]; }

}  // namespace tbem::runtime
