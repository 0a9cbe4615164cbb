// What is typed at the prompt: when it is whole, and what it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbem::repl {

enum class EntryKind : std::uint8_t {
  Nothing,       ///< blanks and comments
  Command,       ///< `:word rest`
  Question,      ///< `?rest`
  Plot,          ///< `plot rest`
  Declarations,  ///< of the language, one or several
  Expression,    ///< one of the language
  Mistake        ///< the parser says why
};

struct Entry {
  EntryKind kind = EntryKind::Nothing;
  std::string text;  ///< all of it, without blanks around it
  std::string word;  ///< of a command, without its colon
  std::string rest;  ///< behind the mark, the command or the word `plot`
};

/// Whether what was typed so far, one or several lines, is an entry: no bracket, body, comment, process or operand is left open.
/// A header that clauses may follow (an operator's) ends by an empty line, and so does what cannot be read whatever follows.
bool isWhole(std::string_view text);

/// Whether a line that comes while another entry is open begins an entry of its own, so that the other one ends as it is: no line
/// of the language begins with `:` or `?`.
bool beginsAnother(std::string_view line);

Entry readEntry(std::string_view text);

}  // namespace tbem::repl
