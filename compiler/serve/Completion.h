// What may be written at a place.
#pragma once

#include "compiler/serve/Reading.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::serve {

struct Completion {
  enum class Kind : std::uint8_t { Parameter, Local, Constant, Function, Callable, Declaration, Module, Word } kind{};
  std::string label;
  std::string insert;         ///< instead of the word begun there: "kernel: "
  std::string detail;         ///< code in the language
  std::string documentation;  ///< Markdown
};

struct Completions {
  std::size_t begin = 0;         ///< of the word that is begun there, in bytes of the text; the place itself where there is none
  std::vector<Completion> list;  ///< nearest meaning first; not filtered by the word begun
};

/// At this byte of the program's own file, which need not be right anywhere near it.
Completions completionsAt(const Reading& reading, std::size_t place);

}  // namespace tbem::serve
