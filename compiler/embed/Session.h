// A program that is asked about: behind `tbem_session`. Internal to this folder.
#pragma once

#include "compiler/embed/Answer.h"
#include "compiler/embed/Options.h"
#include "compiler/session/CompileSession.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tbem::embed {

class Session {
public:
  explicit Session(driver::Places places);

  void load(std::string name, std::string text);
  /// Answers for the program of an exported model from now on; where there is none, for the one that it had.
  Answer importModel(const std::string& network, const std::string& document);
  /// The program's text, or "".
  const char* program() const { return text ? text->c_str() : ""; }
  Answer ask(Question question, std::span<const tbem_option> options);
  /// The command that answers, of this program and these places. Errors: why there is none.
  tl::expected<std::unique_ptr<driver::Invocation>, std::string> invocation(Question question,
                                                                            std::span<const tbem_option> options) const;

private:
  Answer checkAgain();

  driver::Places places;
  Events nobody;                    ///< of whom `checked` tells
  session::CompileSession checked;  ///< what is known from earlier checks
  std::optional<std::string> text;
  std::string name;         ///< of the program's file
  bool expression = false;  ///< the text is one, and has no file
};

}  // namespace tbem::embed
