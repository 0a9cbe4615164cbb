// The lexer's input: bytes as characters, so that offsets of tokens are byte offsets and any byte may come.
//
// The automata that the parser generator's runtime builds as it reads are of the process, and it counts in them without a lock
// (LexerATNSimulator::match_calls, PredictionContext::globalNodeCount). A lexer has an input, so the input holds the lock: one
// thread reads at a time.
#pragma once

#include <antlr4-runtime.h>

#include <mutex>
#include <string>

namespace tbem::syntax {

inline std::mutex runtimeOfParser;

class ByteStream : public antlr4::ANTLRInputStream {
public:
  explicit ByteStream(const std::string& text) {
    _data.resize(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) _data[i] = static_cast<unsigned char>(text[i]);
    p = 0;
  }

private:
  std::lock_guard<std::mutex> alone{runtimeOfParser};
};

}  // namespace tbem::syntax
