// The lexer's input: bytes as characters, so that offsets of tokens are byte offsets and any byte may come.
#pragma once

#include <antlr4-runtime.h>

#include <string>

namespace tbem::syntax {

class ByteStream : public antlr4::ANTLRInputStream {
public:
  explicit ByteStream(const std::string& text) {
    _data.resize(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) _data[i] = static_cast<unsigned char>(text[i]);
    p = 0;
  }
};

}  // namespace tbem::syntax
