// What a name or a word of the language is, where a mouse rests on it.
#pragma once

#include "compiler/serve/Reading.h"

#include <optional>
#include <string>

namespace tbem::serve {

struct Hover {
  SrcRange range;             ///< the word
  std::string declaration;    ///< code in the language: "let y = conv2d(x, out: 8)", a signature
  std::string documentation;  ///< Markdown; "" where there is none
};

/// Of the word at this place of the program's own file; nothing where neither a name that means something nor a word of the
/// language (docs/words.md) stands there.
std::optional<Hover> hoverAt(const Reading& reading, Loc place);

/// The declaration in short, as code: a callable's signature, another declaration's first line, a parameter as it is declared.
/// "" where the range declares nothing.
std::string declarationText(const Reading& reading, SrcRange declaration);

}  // namespace tbem::serve
