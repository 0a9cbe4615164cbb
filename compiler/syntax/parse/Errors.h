// How the parser reports what it cannot read, and where it goes on: at the next END over balanced braces.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"

#include <antlr4-runtime.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace tbem::syntax {

/// One error a statement or clause: no token is deleted, a token is inserted only where exactly one could stand and it is neither
/// END nor a name.
class ErrorStrategy : public antlr4::DefaultErrorStrategy {
public:
  ErrorStrategy(const Source& source, DiagnosticSink& sink) : source(source), sink(sink) {}

  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;
  void recover(antlr4::Parser* parser, std::exception_ptr error) override;
  antlr4::Token* recoverInline(antlr4::Parser* parser) override;
  void sync(antlr4::Parser* parser) override;

protected:
  void reportMissingToken(antlr4::Parser* parser) override;

private:
  const Source& source;
  DiagnosticSink& sink;
  std::size_t lastTold = static_cast<std::size_t>(-1);  ///< index of the token of the last report

  SrcRange range(const antlr4::Token* token) const;
  std::string describe(const antlr4::Token* token) const;
  void tell(antlr4::Parser* parser, antlr4::Token* token, const antlr4::misc::IntervalSet& expected);
  std::string nearWord(const antlr4::Token* token, const antlr4::misc::IntervalSet& expected) const;
  bool special(antlr4::Parser* parser, antlr4::Token* token);
  antlr4::Token* endOfMember(antlr4::Parser* parser, const antlr4::misc::IntervalSet& expected);
  void skipToEnd(antlr4::Parser* parser, bool wholeDeclaration);
};

/// "`)` or `,`", "a name", "an expression": what a set of token types means to a person; "" for a set too large to help.
std::string describeExpected(const antlr4::misc::IntervalSet& expected);
/// "a factor is written `factor name: level, level`"; "" for a rule that has no such form.
std::string formOf(std::size_t rule);
/// The same for the construct in hand; "" inside an expression.
std::string formNote(const antlr4::RuleContext* context);
/// How that is said here which other languages say with this token in this place; "" where they say nothing.
std::string habitNote(antlr4::ParserRuleContext* context, antlr4::TokenStream& input, const antlr4::Token& token);
/// How a clause is written that has a sign between its word and its value: `epochs: 2`.
std::string settingNote(std::string_view word, std::string_view value);

}  // namespace tbem::syntax
