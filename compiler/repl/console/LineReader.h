// Where entries come from: a terminal with its keys, history and completion, or a pipe.
#pragma once

#include "compiler/serve/Completion.h"
#include "compiler/support/Interrupts.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tbem::repl {

struct Line {
  enum class Kind : std::uint8_t {
    Text,
    Interrupted,  ///< Ctrl-C at the prompt
    End           ///< Ctrl-D, or no more input
  } kind = Kind::End;
  std::string text;  ///< without the end of its line; lines of an entry that comes back from the history stand below each other
};

class LineReader {
public:
  virtual ~LineReader() = default;
  virtual Line read(const std::string& prompt) = 0;
  /// An entry as a whole, for the history.
  virtual void keep(const std::string& /*entry*/) {}
  /// Whether somebody sees the prompt.
  virtual bool isTerminal() const { return false; }
};

/// What may stand at the end of what was typed of a line.
using Complete = std::function<serve::Completions(const std::string& line)>;

/// Standard input as lines.
std::unique_ptr<LineReader> pipeReader();
/// The terminal. `history`: a file, "" where nothing is kept. `interrupts`: who says that Ctrl-C was typed; it must outlive this.
std::unique_ptr<LineReader> terminalReader(const std::string& history, Interrupts* interrupts, Complete complete);

}  // namespace tbem::repl
