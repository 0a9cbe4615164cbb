// The soft words of the language: words only where a clause begins or right after an operand, names elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tbem::syntax {

enum class WordClass : std::uint8_t {
  Declaration,  ///< begins a declaration: at the beginning of a clause, outside all braces, a name after it
  Header,       ///< begins a clause of a declaration's header: outside all braces
  Body,         ///< begins a clause inside braces (`factor`, `input`, `assert`)
  Anywhere,     ///< begins a clause in a header and in a body (`weight`, `buffer`)
  Connector     ///< stands right after an operand (`of`, `at`, `step`)
};

struct SoftWord {
  std::string_view text;
  std::size_t token;
  WordClass kind;
};

/// The row of a soft word, or nullptr.
const SoftWord* findSoftWord(std::string_view text);
const std::vector<SoftWord>& softWords();
/// The words that stand for themselves everywhere (`let`, `div` ...), in the order of the lexer.
const std::vector<std::string_view>& reservedWords();
bool isUnitWord(std::string_view text);

}  // namespace tbem::syntax
