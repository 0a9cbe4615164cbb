// The text around a place, which need not be right: words, and the call in whose arguments the place lies.
#pragma once

#include "compiler/serve/Reading.h"

#include <cstddef>
#include <set>
#include <string_view>

namespace tbem::serve {

std::size_t lineBegin(std::string_view text, std::size_t place);
/// Where the word begins that ends there; `end` itself where none does.
std::size_t wordBegin(std::string_view text, std::size_t end);
/// The word that ends there or, behind it, blanks do.
std::string_view wordBefore(std::string_view text, std::size_t end);
/// The call whose arguments hold the place: where its parenthesis opens, or npos.
std::size_t openCall(std::string_view text, std::size_t place);
/// The words before a colon among arguments, but not those inside other brackets.
std::set<std::string_view> namedArguments(std::string_view arguments);
/// Whether the byte of the program's own file lies in a comment or in a string.
bool isWritten(const Reading& reading, std::size_t place);

}  // namespace tbem::serve
