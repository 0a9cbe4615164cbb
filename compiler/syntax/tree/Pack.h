// Trees as bytes: the standard library is parsed when the compiler is built, and read back from memory when a program starts.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <memory>
#include <string>
#include <string_view>

namespace tbem::syntax {

/// Places are written relative to the source's first byte. The format has no version: who reads was built with who wrote.
std::string pack(const ast::File& file);

/// The tree that was packed, with places in `source`, which must hold the same text. Other bytes are a bug of ours.
std::unique_ptr<ast::File> unpack(const Source& source, std::string_view packed);

}  // namespace tbem::syntax
