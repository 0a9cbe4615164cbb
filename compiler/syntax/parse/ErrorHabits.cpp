// What other languages write in a place where it is written otherwise here.
#include "compiler/syntax/layout/LayoutRules.h"
#include "compiler/syntax/parse/Errors.h"

#include <TbemParser.h>

#include <fmt/format.h>

#include <algorithm>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;

/// True between the brackets of an index: `x[..., `.
bool insideIndex(antlr4::TokenStream& input, std::size_t index) {
  int depth = 0;
  for (std::size_t i = index; i-- > 0;) {
    const std::size_t type = input.get(i)->getType();
    if (type == P::RBRACK || type == P::RPAREN) ++depth;
    if ((type == P::LBRACK || type == P::LPAREN) && depth-- == 0)
      return type == P::LBRACK && i > 0 && endsOperand(input.get(i - 1)->getType());
    if (type == P::END) return false;
  }
  return false;
}

/// A comma between values that stand in no parentheses, in a body: `return a, b`, `let a, b = f(x)`.
std::string tupleNote(const antlr4::RuleContext* context, antlr4::TokenStream& input, std::size_t comma) {
  for (const auto* each = context; each != nullptr; each = dynamic_cast<const antlr4::RuleContext*>(each->parent)) {
    if (each->getRuleIndex() == P::RuleFunction || each->getRuleIndex() == P::RuleConstant) return {};  // there are none there
  }
  if (!beginsOperand(input.get(std::min(comma + 1, input.size() - 1))->getType())) return {};
  int open = 0;
  for (std::size_t i = comma; i-- > 0 && open <= 0;) {
    const std::size_t type = input.get(i)->getType();
    if (type == P::END || type == P::SEMI || type == P::LBRACE || type == P::RBRACE) break;
    if (type == P::RETURN) return "several results are a tuple: `return (a, b)`";
    if ((type == P::LET || type == P::VAR) && i + 2 == comma) return "a tuple is taken apart in parentheses: `let (a, b) = f(x)`";
    if (type == P::RPAREN || type == P::RBRACK || type == P::RCURLY) --open;
    if (type == P::LPAREN || type == P::LBRACK || type == P::LCURLY) ++open;
  }
  return {};
}

/// Clauses of a training written as settings of other languages are: `epochs: 2`, `epochs = 2, batch = 32`.
std::string clauseNote(antlr4::ParserRuleContext* context, antlr4::TokenStream& input, const antlr4::Token& token) {
  auto* config = dynamic_cast<P::ConfigContext*>(context);
  if (config == nullptr || config->configClause().empty()) return {};
  P::ConfigClauseContext* clause = config->configClause().back();
  if (clause->ID() == nullptr) return {};
  const std::size_t index = token.getTokenIndex(), type = token.getType();
  const bool isSet = type == P::COLON || type == P::EQ;
  if (isSet && clause->getStart() == clause->getStop()) {
    const antlr4::Token* value = input.get(std::min(index + 1, input.size() - 1));
    const bool isCall = input.get(std::min(index + 2, input.size() - 1))->getType() == P::LPAREN;
    const bool isShort = value->getType() == P::NUMBER || value->getType() == P::ID;
    const std::string word = clause->ID()->getText();
    if (word == "factor" || word == "input")  // without a name
      return formOf(word == "factor" ? P::RuleFactorPart : P::RuleInputPart);
    return settingNote(word, (isShort ? value->getText() : "value") + (isShort && isCall ? "(...)" : ""));
  }
  const bool isCrop = index > 0 && input.get(index - 1)->getText() == "crop";  // of `augment flip, crop(4)`
  const bool follows =
      !isCrop && index > 1 && input.get(index - 1)->getType() == P::ID && input.get(index - 2)->getType() == P::COMMA;
  return follows && beginsOperand(type) ? "clauses stand on lines of their own, or with a `;` between them" : "";
}
}  // namespace

std::string settingNote(std::string_view word, std::string_view value) {
  return fmt::format("a clause is a word and its value: `{} {}`", word, value);
}

std::string habitNote(antlr4::ParserRuleContext* context, antlr4::TokenStream& input, const antlr4::Token& token) {
  const std::size_t index = token.getTokenIndex(), type = token.getType();
  if (index == 0 || index >= input.size()) return {};
  const antlr4::Token* before = input.get(index - 1);
  if (before->getType() == P::ID && before->getText() == "while") return "what is repeated has an end: `for i in 0 .. n { ... }`";
  if (type == P::IF && endsOperand(before->getType())) return "a choice is written `if condition then a else b`";
  if (type == P::COLON && insideIndex(input, index))
    return "an index takes one element of a list; a part of a tensor is `slice(x, start: [...], size: [...])`";
  if (type == P::COMMA) {
    if (std::string note = tupleNote(context, input, index); !note.empty()) return note;
  }
  return clauseNote(context, input, token);
}

}  // namespace tbem::syntax
