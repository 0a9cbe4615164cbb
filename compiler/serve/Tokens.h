// What each name of a program is, for an editor that colours by meaning.
#pragma once

#include "compiler/serve/Reading.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tbem::serve {

enum class TokenType : std::uint8_t { Namespace, Class, Function, Parameter, Variable, Property, Type };
/// As the protocol names them, in the order of TokenType.
constexpr std::array<std::string_view, 7> kTokenTypes = {"namespace", "class",    "function", "parameter",
                                                         "variable",  "property", "type"};
enum TokenModifier : std::uint8_t { kDeclares = 1, kReadOnly = 2, kOfLibrary = 4 };
/// As the protocol names them, by bit.
constexpr std::array<std::string_view, 3> kTokenModifiers = {"declaration", "readonly", "defaultLibrary"};

struct Token {
  SrcRange range;  ///< in one line
  TokenType type{};
  std::uint8_t modifiers = 0;
};
/// By place; none overlaps another.
std::vector<Token> tokensOf(const Reading& reading);

}  // namespace tbem::serve
