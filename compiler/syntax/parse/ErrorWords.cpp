// The words of syntax errors: what a set of tokens means to a person, and the slips that have a message of their own.
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/layout/LayoutRules.h"
#include "compiler/syntax/layout/Words.h"
#include "compiler/syntax/parse/Errors.h"

#include <TbemParser.h>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tbem::syntax {

namespace {
using P = grammar::TbemParser;

struct Form {
  std::size_t rule;
  const char* what;
  const char* text;
};
constexpr Form kForms[] = {
    {P::RuleBinding, "a bound variable", "name: set"},
    {P::RuleForIn, "a comprehension", "[expression for name in list]"},
    {P::RuleFactorPart, "a factor", "factor name: level, level"},
    {P::RuleInputPart, "an input", "input name: [size, size]"},
    {P::RuleWeights, "a weight", "weight name: tensor[...] init zeros"},
    {P::RulePart, "a part", "name: expression"},
    {P::RuleExternal, "an external variable", "rd name: type"},
    {P::RuleSkipping, "a skip", "skip computed when condition leaving otherwise"},
    {P::RuleQuantifier, "a quantifier", "forall[name: set] | condition"},
    {P::RuleConditional, "a choice", "if condition then value else value"},
    {P::RuleCallable, "a declaration", "network name(tensors; parameters) -> type { ... }"},
    {P::RuleFunction, "a function", "function name(parameters) -> type { ... }"},
    {P::RuleProcess, "a process", "process name(inputs) outputs, pre, post, end_process"},
    {P::RuleImporting, "an import", "import std.vision: resnet"},
    {P::RuleConstant, "a constant", "let name = value"},
    {P::RuleMutate, "a mutation", "mutate name of network { ... }"},
    {P::RuleDesign, "a design", "design name of network { ... }"},
    {P::RuleMeasure, "a measurement", "measure design { ... }"},
    {P::RuleRegress, "a regression", "regress name from design { ... }"},
    {P::RulePredict, "a prediction", "predict regression at {factor: level}"},
    {P::RuleFit, "a fit", "fit design at {factor: level} over factor into 24 GiB"},
    {P::RuleDataset, "a dataset", "dataset name = call"},
    {P::RuleTrain, "a training", "train name = network on data { ... }"},
    {P::RulePerturb, "a perturbation", "perturb name of training on data { ... }"},
    {P::RuleAssume, "an assumption", "assume input in [low, high]"},
};

bool isSuffix(std::size_t type) { return type == P::LPAREN || type == P::LBRACK || type == P::DOT || type == P::UNIT; }

/// Marks and words that may be named in a message, in the order in which they are named.
const char* spelling(std::size_t type) {
  switch (type) {
    case P::RPAREN:
      return "`)`";
    case P::RBRACK:
      return "`]`";
    case P::RCURLY:
    case P::RBRACE:
      return "`}`";
    case P::LPAREN:
      return "`(`";
    case P::LBRACK:
      return "`[`";
    case P::LBRACE:
      return "a body `{ }`";
    case P::LCURLY:
      return "`{`";
    case P::COMMA:
      return "`,`";
    case P::SEMI:
      return "`;`";
    case P::COLON:
      return "`:`";
    case P::EQ:
      return "`=`";
    case P::ARROW:
      return "`->`";
    case P::BAR:
      return "`|`";
    case P::THEN:
      return "`then`";
    case P::ELSE:
      return "`else`";
    case P::IN:
      return "`in`";
    case P::WHEN:
      return "`when`";
    case P::LEAVING:
      return "`leaving`";
    case P::OF:
      return "`of`";
    case P::ON:
      return "`on`";
    case P::AT:
      return "`at`";
    case P::AS:
      return "`as`";
    case P::FROM:
      return "`from`";
    case P::OVER:
      return "`over`";
    case P::INTO:
      return "`into`";
    case P::END_PROCESS:
      return "`end_process`";
    case P::ENUMERATOR:
      return "a member `<name>`";
    case P::NUMBER:
      return "a number";
    case P::STRING:
      return "a text";
    case P::ID:
      return "a name";
    case P::END:
      return "the end of the line";
    default:
      return nullptr;
  }
}
}  // namespace

std::string describeExpected(const antlr4::misc::IntervalSet& expected) {
  const auto has = [&](std::size_t type) { return expected.contains(type); };
  std::vector<std::string> words;
  const bool expression = has(P::NUMBER) && has(P::LPAREN);
  const bool afterOperand = has(P::PLUS) && !expression;
  const bool declaration = has(P::NETWORK);
  if (declaration) return "a declaration";
  if (expression) words.emplace_back("an expression");
  static constexpr std::size_t order[] = {P::ID,     P::NUMBER,      P::STRING, P::COLON, P::EQ,      P::ARROW,  P::BAR,
                                          P::THEN,   P::ELSE,        P::IN,     P::WHEN,  P::LEAVING, P::OF,     P::ON,
                                          P::AT,     P::AS,          P::FROM,   P::OVER,  P::INTO,    P::LPAREN, P::LBRACK,
                                          P::LCURLY, P::LBRACE,      P::COMMA,  P::SEMI,  P::RPAREN,  P::RBRACK, P::RCURLY,
                                          P::RBRACE, P::END_PROCESS, P::END};
  for (const std::size_t type : order) {
    if (!has(type)) continue;
    if (expression &&
        (type == P::ID || type == P::NUMBER || type == P::STRING || type == P::LPAREN || type == P::LBRACK || type == P::LCURLY))
      continue;
    if (afterOperand && (isSuffix(type) || type == P::EQ)) continue;
    if (type == P::END && afterOperand) words.emplace_back("an operator");
    words.emplace_back(spelling(type));
  }
  if (words.empty() || words.size() > 5) return {};
  std::string text = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) text += (i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

/// A word that could stand here and is spelt nearly so, or "".
std::string ErrorStrategy::nearWord(const antlr4::Token* token, const antlr4::misc::IntervalSet& expected) const {
  if (token->getType() != P::ID) return {};
  std::vector<std::string> candidates;
  for (const SoftWord& each : softWords()) {
    if (expected.contains(each.token)) candidates.emplace_back(each.text);
  }
  static constexpr std::size_t reserved[] = {P::AND,    P::OR,     P::NOT,   P::DIV,  P::CDIV, P::MOD,    P::IF,    P::THEN,
                                             P::ELSE,   P::FOR,    P::IN,    P::LET,  P::VAR,  P::RETURN, P::TRUE_, P::FALSE_,
                                             P::FORALL, P::EXISTS, P::SKIP_, P::EXIT, P::WHEN, P::LEAVING};
  for (std::size_t i = 0; i < std::size(reserved); ++i) {
    if (expected.contains(reserved[i])) candidates.emplace_back(reservedWords()[i]);
  }
  return nearest(source.text.substr(token->getStartIndex(), token->getStopIndex() + 1 - token->getStartIndex()), candidates);
}

std::string formOf(std::size_t rule) {
  const Form* const form = std::ranges::find(kForms, rule, &Form::rule);
  return form == std::end(kForms) ? "" : fmt::format("{} is written `{}`", form->what, form->text);
}

std::string formNote(const antlr4::RuleContext* context) {
  for (const auto* each = context; each != nullptr; each = dynamic_cast<const antlr4::RuleContext*>(each->parent)) {
    if (std::string form = formOf(each->getRuleIndex()); !form.empty()) return form;
    switch (each->getRuleIndex()) {
      case P::RulePath:
      case P::RuleWeightPart:
      case P::RuleFactorRest:
        break;
      default:
        return {};
    }
  }
  return {};
}

namespace {
bool isInProcess(const antlr4::RuleContext* context) {
  for (const auto* each = context; each != nullptr; each = dynamic_cast<const antlr4::RuleContext*>(each->parent)) {
    if (each->getRuleIndex() == P::RuleProcess) return true;
  }
  return false;
}

/// A type of SOFL that is not there, in the type that ends before a token: its first word, and what such types are called.
std::pair<const antlr4::Token*, const char*> soflType(antlr4::TokenStream& input, std::size_t index) {
  constexpr std::size_t kWords = 6;
  for (std::size_t i = index + 1; i-- > 1 && i + kWords > index;) {
    const antlr4::Token* const token = input.get(i);
    const std::size_t before = input.get(i - 1)->getType();
    if (token->getType() == P::END) break;
    if (token->getType() == P::STAR && i > 1 && before == P::ID) {
      const std::size_t first = input.get(i - 2)->getType();
      if (first == P::COLON || first == P::OF) return {input.get(i - 1), "products of types"};
    }
    if (token->getType() != P::ID || (before != P::COLON && before != P::OF)) continue;
    if (token->getText() == "map") return {token, "maps"};
    if (token->getText() == "composed") return {token, "composed types"};
  }
  return {nullptr, nullptr};
}
}  // namespace

/// Slips with a message of their own. True if one was told.
bool ErrorStrategy::special(antlr4::Parser* parser, antlr4::Token* token) {
  antlr4::TokenStream* input = parser->getTokenStream();
  const std::size_t index = token->getTokenIndex();
  const antlr4::Token* before = index > 0 && index < input->size() ? input->get(index - 1) : nullptr;
  const std::size_t type = token->getType();
  const std::size_t previous = before == nullptr ? 0 : before->getType();
  antlr4::ParserRuleContext* context = parser->getContext();
  const std::size_t rule = context->getRuleIndex();
  const auto text = [&](const antlr4::Token* each) {
    return source.text.substr(range(each).begin - source.base, range(each).end - range(each).begin);
  };

  if (isInProcess(context)) {
    if (const auto [word, types] = soflType(*input, index); word != nullptr) {
      sink.report(diag::syntax_sofl_type, range(word), types)
          .note(
              "a process has numbers, `bool`, texts that an `in` lists, enumerations, and sequences and sets of these and of "
              "sequences and sets");
      return true;
    }
  }
  const bool parameterEnds =
      type == P::COMMA || type == P::RPAREN || type == P::SEMI || type == P::EQ || type == P::ID || type == P::LBRACK;
  if ((rule == P::RuleParameterGroup || rule == P::RuleParameters) && previous == P::ID && parameterEnds) {
    sink.report(diag::syntax_parameter_type, range(before), text(before));
    return true;
  }
  if ((rule == P::RuleStatement || rule == P::RuleConstant) && type == P::COLON && previous == P::ID) {
    sink.report(diag::syntax_let_type, range(token), text(before));
    return true;
  }
  if (type == P::LPAREN && previous == P::ID && (text(before) == "tensor" || text(before) == "i64" || text(before) == "f32")) {
    sink.report(diag::syntax_shape_brackets, range(token), text(before));
    return true;
  }
  const antlr4::Token* second = before != nullptr && index > 1 ? input->get(index - 2) : nullptr;
  if (second != nullptr && second->getType() == P::FACTOR && previous == P::ID && beginsOperand(type)) {
    const SrcRange behind{range(before).end, range(before).end};
    sink.report(diag::syntax_factor_colon, range(token), text(before)).fix(behind, ":", Applicability::Certain);
    return true;
  }
  if (second != nullptr && second->getType() == P::FACTOR && type == P::EQ) {
    sink.report(diag::syntax_factor_colon, range(token), text(before)).fix(range(token), ":", Applicability::Certain);
    return true;
  }
  const bool header = rule == P::RuleCallable || rule == P::RuleFunction || rule == P::RuleTop;
  if (header && type == P::COLON && previous == P::RPAREN) {
    sink.report(diag::syntax_results_arrow, range(token)).fix(range(token), " ->", Applicability::Maybe);
    return true;
  }
  if (type == P::COLON &&
      (rule == P::RuleStatement || rule == P::RuleIfStatement || rule == P::RuleBlock || rule == P::RulePostfix)) {
    sink.report(diag::syntax_body_braces, range(token)).fix(range(token), " {", Applicability::Maybe);
    return true;
  }
  if (rule == P::RuleSkipping && type == P::IF) {
    sink.report(diag::syntax_skip_when, range(token)).fix(range(token), "when", Applicability::Maybe);
    return true;
  }
  return false;
}

}  // namespace tbem::syntax
