// The declarations of a program in order, and what of its text can be folded.
#pragma once

#include "compiler/serve/Reading.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::serve {

struct Outlined {
  std::string name;    ///< "fit table1" for declarations that have no name
  std::string detail;  ///< "network", "design of vgg"
  const ast::Decl* decl = nullptr;
  SrcRange word;                ///< the name, or where the declaration begins
  std::vector<Outlined> parts;  ///< parameters of a callable, factors of a design
};
std::vector<Outlined> outlineOf(const Reading& reading);

/// Of more than one line, from the first byte to behind the last, in bytes of the text.
struct Fold {
  enum class What : std::uint8_t { Code, Comment, Imports } what{};
  std::size_t begin = 0, end = 0;
};
std::vector<Fold> foldsOf(const Reading& reading);

}  // namespace tbem::serve
