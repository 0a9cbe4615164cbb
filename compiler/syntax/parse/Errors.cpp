#include "compiler/syntax/parse/Errors.h"

#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/layout/LayoutRules.h"

#include <TbemParser.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;
using antlr4::misc::IntervalSet;

/// True if the last declaration read begins with a word that begins none: the builder will say so, and what follows belongs to
/// it.
bool afterUnknown(const antlr4::ParserRuleContext* program) {
  const auto* top = program->children.empty() ? nullptr : dynamic_cast<P::TopContext*>(program->children.back());
  return top != nullptr && const_cast<P::TopContext*>(top)->unknown() != nullptr;
}

/// The loops whose members end in END: there a bad member is skipped and the loop goes on.
bool isList(std::size_t rule) { return rule == P::RuleProgram || rule == P::RuleBlock || rule == P::RuleConfig; }

/// True if the innermost thing in hand is a statement or clause with an END of its own; else the whole declaration is lost.
bool insideMember(const antlr4::ParserRuleContext* context) {
  for (const auto* each = context; each != nullptr; each = dynamic_cast<const antlr4::ParserRuleContext*>(each->parent)) {
    switch (each->getRuleIndex()) {
      case P::RuleStatement:
      case P::RuleConfigClause:
      case P::RuleClause:
      case P::RuleProcessClause:
        return true;
      case P::RuleBlock:
      case P::RuleConfig:
        if (!each->children.empty()) return true;  // its `{` was there
        break;
      default:
        break;
    }
  }
  return false;
}
}  // namespace

SrcRange ErrorStrategy::range(const antlr4::Token* token) const {
  const std::size_t begin = std::min(token->getStartIndex(), source.text.size());
  const std::size_t end = std::clamp(token->getStopIndex() + 1, begin, source.text.size());
  return {source.base + static_cast<Loc>(begin), source.base + static_cast<Loc>(end)};
}

std::string ErrorStrategy::describe(const antlr4::Token* token) const {
  const std::size_t type = token->getType();
  if (type == antlr4::Token::EOF) return "end of the text";
  if (type == P::END) return "end of the line";
  const SrcRange where = range(token);
  const std::string text = source.text.substr(where.begin - source.base, where.end - where.begin);
  if (type == P::STRING) return "text " + (text.size() > 30 ? text.substr(0, 27) + "...\"" : text);
  return "`" + text + "`";
}

void ErrorStrategy::tell(antlr4::Parser* parser, antlr4::Token* token, const IntervalSet& expected) {
  beginErrorCondition(parser);
  if (token->getTokenIndex() == lastTold) return;
  const bool made = token->getStopIndex() + 1 == token->getStartIndex() && token->getType() != P::END;
  if (made) return;  // the layout pass has told of it
  lastTold = token->getTokenIndex();
  if (special(parser, token)) return;
  IntervalSet could = expected;
  const bool closer = could.contains(static_cast<std::size_t>(P::RPAREN)) ||
                      could.contains(static_cast<std::size_t>(P::RBRACK)) || could.contains(static_cast<std::size_t>(P::RCURLY));
  if (closer && beginsOperand(token->getType())) could.add(P::COMMA);
  const std::string wanted = describeExpected(could);
  Diagnostic& told =
      sink.report(diag::syntax_unexpected, range(token), describe(token) + (wanted.empty() ? "" : ": expected " + wanted));
  const std::string near = nearWord(token, expected);
  if (!near.empty()) told.fix(range(token), near);
  if (token->getType() == P::EQ && expected.contains(static_cast<std::size_t>(P::COLON))) told.fix(range(token), ":");
  antlr4::TokenStream* input = parser->getTokenStream();
  const bool isName = expected.contains(static_cast<std::size_t>(P::ID)) || (input->LT(1) == token && input->LA(2) == P::COLON);
  const std::string habit = habitNote(parser->getContext(), *input, *token);
  if (!habit.empty()) {
    told.note(habit);
  } else if (isName && token->getType() != P::ID && near.empty() &&
             std::isalpha(static_cast<unsigned char>(token->getText().front())) != 0) {
    told.note(describe(token) + " is a word of the language: no name can be so");
  }
  const std::string note = formNote(parser->getContext());
  if (!note.empty()) told.note(note);
}

void ErrorStrategy::reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) {
  if (inErrorRecoveryMode(parser)) return;
  antlr4::Token* token = error.getOffendingToken();
  IntervalSet expected;
  if (const auto* stuck = dynamic_cast<const antlr4::NoViableAltException*>(&error)) {
    // What could have stood at the token where the last alternative died.
    if (stuck->getDeadEndConfigs() != nullptr) {
      for (const auto& config : stuck->getDeadEndConfigs()->configs) {
        for (const antlr4::atn::Transition* each : config->state->transitions) {
          if (!each->isEpsilon()) expected.addAll(each->label());
        }
      }
    } else {
      expected = parser->getExpectedTokens();
    }
  } else {
    expected = error.getExpectedTokens();
  }
  tell(parser, token, expected);
}

antlr4::Token* ErrorStrategy::recoverInline(antlr4::Parser* parser) {
  const IntervalSet expected = parser->getExpectedTokens();
  const bool one = expected.size() == 1 && !expected.contains(static_cast<std::size_t>(P::END)) &&
                   !expected.contains(static_cast<std::size_t>(P::ID)) &&
                   !expected.contains(static_cast<std::size_t>(P::LBRACE)) && !expected.contains(antlr4::Token::EOF);
  if (one && !inErrorRecoveryMode(parser) && singleTokenInsertion(parser)) return getMissingSymbol(parser);
  if (expected.contains(static_cast<std::size_t>(P::END))) return endOfMember(parser, expected);
  throw antlr4::InputMismatchException(parser);
}

/// A statement, clause or declaration is read, but something stands before its END: reports it, and goes on after that END.
antlr4::Token* ErrorStrategy::endOfMember(antlr4::Parser* parser, const IntervalSet& expected) {
  if (!inErrorRecoveryMode(parser)) tell(parser, parser->getCurrentToken(), expected);
  skipToEnd(parser, !insideMember(parser->getContext()));
  antlr4::Token* end = parser->getCurrentToken();
  if (end->getType() != P::END) throw antlr4::InputMismatchException(parser);
  parser->consume();
  endErrorCondition(parser);
  return end;
}

void ErrorStrategy::reportMissingToken(antlr4::Parser* parser) {
  if (!inErrorRecoveryMode(parser)) tell(parser, parser->getCurrentToken(), parser->getExpectedTokens());
}

/// Consumes up to END, over balanced braces; up to the END before the next declaration where a whole declaration is lost. Stops
/// before a `}` that closes what is around.
void ErrorStrategy::skipToEnd(antlr4::Parser* parser, bool wholeDeclaration) {
  antlr4::TokenStream* input = parser->getTokenStream();
  int depth = 0;
  for (std::size_t type = input->LA(1); type != antlr4::Token::EOF; type = input->LA(1)) {
    if (type == P::LBRACE) ++depth;
    if (type == P::RBRACE && depth-- == 0) {
      if (!wholeDeclaration) return;
      depth = 0;
    }
    if (type == P::END && depth == 0) {
      const std::size_t next = input->LA(2);
      if (!wholeDeclaration || next == antlr4::Token::EOF || beginsDeclaration(next) || next == P::LET) return;
    }
    parser->consume();
  }
}

void ErrorStrategy::recover(antlr4::Parser* parser, std::exception_ptr /*error*/) {
  skipToEnd(parser, !insideMember(parser->getContext()));
}

void ErrorStrategy::sync(antlr4::Parser* parser) {
  antlr4::ParserRuleContext* context = parser->getContext();
  if (!isList(context->getRuleIndex())) return;
  antlr4::TokenStream* input = parser->getTokenStream();
  const auto& atn = parser->getATN();
  const IntervalSet next = atn.nextTokens(atn.states[parser->getState()]);
  const bool top = context->getRuleIndex() == P::RuleProgram;
  while (!next.contains(input->LA(1))) {
    const std::size_t type = input->LA(1);
    if (type == antlr4::Token::EOF || (type == P::RBRACE && !top)) return;
    if (type != P::END && !inErrorRecoveryMode(parser) && !(top && afterUnknown(context)))
      tell(parser, parser->getCurrentToken(), next);
    if (type == P::RBRACE) parser->consume();
    skipToEnd(parser, top);
    if (input->LA(1) == P::END) parser->consume();
    if (input->LA(1) == P::RBRACE && !top) return;
  }
}

}  // namespace tbem::syntax
