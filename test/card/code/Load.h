// From a PTX text to a program.
#pragma once

#include "test/card/code/Program.h"
#include "test/card/run/Memory.h"

#include <tl/expected.hpp>

#include <string_view>

namespace tbem::card {

struct LoadError {
  enum class Kind : std::uint8_t { Text, Version, Target, Memory };
  Kind kind = Kind::Text;
  std::string text;  ///< "line 12: .."
};

struct LoadedProgram {
  Program program;
  std::vector<std::uint64_t> variables;  ///< addresses in memory, to be released with the program
};

/// Variables of the module are allocated and filled. Errors: the text has what this card does not know or what is wrong, is for a
/// newer card or driver, or its variables do not fit.
tl::expected<LoadedProgram, LoadError> loadProgram(std::string_view text, unsigned computeCapability, Memory& memory);

}  // namespace tbem::card
