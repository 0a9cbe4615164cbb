#include "compiler/syntax/parse/Build.h"

#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/layout/Words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tbem::syntax {

SrcRange Builder::range(const antlr4::Token* token) const {
  if (token == nullptr || token->getStartIndex() > source.text.size()) return {};
  return {source.base + static_cast<Loc>(token->getStartIndex()), source.base + static_cast<Loc>(token->getStopIndex() + 1)};
}

SrcRange Builder::range(const Context* ctx) const {
  if (ctx == nullptr || ctx->start == nullptr) return {};
  return cover(range(ctx->start), range(ctx->stop));
}

std::string Builder::text(SrcRange where) const {
  if (!where.valid()) return {};
  return source.text.substr(where.begin - source.base, where.end - where.begin);
}

ast::Name Builder::name(const antlr4::Token* token) const {
  if (token == nullptr) return {};
  const SrcRange where = range(token);
  return {text(where), where};
}
ast::Name Builder::name(antlr4::tree::TerminalNode* node) const {
  return node == nullptr ? ast::Name{} : name(node->getSymbol());
}

/// `<north>` without its marks.
ast::Name Builder::member(antlr4::tree::TerminalNode* node) const {
  ast::Name made = name(node);
  made.text = made.text.substr(1, made.text.size() - 2);
  return made;
}

/// True if the parser reported an error inside, other than in a clause or statement of its own, which is left out alone.
/// A loop with a list of its own: chains of operators are deep trees.
bool Builder::broken(Context* root) const {
  if (!repaired) return false;
  std::vector<Context*> left{root};
  while (!left.empty()) {
    Context* ctx = left.back();
    left.pop_back();
    if (ctx->exception != nullptr) return true;
    const bool list = ctx->getRuleIndex() == P::RuleBlock || ctx->getRuleIndex() == P::RuleConfig;
    for (antlr4::tree::ParseTree* child : ctx->children) {
      if (!list && dynamic_cast<antlr4::tree::ErrorNode*>(child) != nullptr) return true;
      auto* rule = dynamic_cast<Context*>(child);
      if (rule == nullptr) continue;
      const std::size_t index = rule->getRuleIndex();
      if (index != P::RuleStatement && index != P::RuleConfigClause && index != P::RuleClause) left.push_back(rule);
    }
  }
  return false;
}

void Builder::program(P::ProgramContext* ctx) {
  if (ctx->TBEM() != nullptr && ctx->NUMBER() != nullptr) {
    const ast::Name digits = name(ctx->NUMBER());
    if (digits.range.valid() && digits.text != "1") sink.report(diag::syntax_version, digits.range, digits.text);
    file.version = 1;
  }
  for (P::TopContext* each : ctx->top()) top(each);
}

void Builder::expression(P::ExpressionContext* ctx) {
  if (ctx->expr() != nullptr && !broken(ctx)) file.expression = expr(ctx->expr());
}

void Builder::top(P::TopContext* ctx) {
  if (broken(ctx)) return;
  if (ctx->unknown() != nullptr) return unknown(ctx->unknown(), true);
  if (ctx->declaration() == nullptr) return;
  ast::Decl* made = declaration(ctx->declaration());
  if (made == nullptr) return;
  made->isPrivate = ctx->PRIVATE() != nullptr;
  const auto documented = docs.find(ctx->start->getStartIndex());
  if (documented != docs.end()) made->documentation = documented->second;
  file.declarations.push_back(made);
}

ast::Decl* Builder::declaration(P::DeclarationContext* ctx) {
  if (auto* c = ctx->callable()) return callable(c);
  if (auto* c = ctx->function()) return function(c);
  if (auto* c = ctx->process()) return process(c);
  if (auto* c = ctx->importing()) return importing(c);
  if (auto* c = ctx->mutate()) return mutate(c);
  if (auto* c = ctx->design()) return design(c);
  if (auto* c = ctx->measure()) return measure(c);
  if (auto* c = ctx->regress()) return regress(c);
  if (auto* c = ctx->fit()) return fit(c);
  if (auto* c = ctx->train()) return train(c);
  if (auto* c = ctx->perturb()) return perturb(c);
  if (auto* c = ctx->constant()) {
    auto* made = make<ast::Constant>(c);
    made->name = name(c->ID());
    made->value = expr(c->expr());
    return made;
  }
  if (auto* c = ctx->predict()) {
    auto* made = make<ast::Predict>(c);
    made->regression = name(c->ID());
    made->at = value(c->value());
    return made;
  }
  if (auto* c = ctx->dataset()) {
    auto* made = make<ast::Dataset>(c);
    made->name = name(c->ID());
    made->value = expr(c->expr());
    return made;
  }
  if (auto* c = ctx->assume()) {
    auto* made = make<ast::Assume>(c);
    made->input = name(c->ID());
    made->domain = value(c->value());
    return made;
  }
  return nullptr;
}

namespace {
/// For a word with which other languages begin a declaration or a statement, how that is said here; "" for other words.
std::string_view wayOf(std::string_view word, bool atTop) {
  constexpr std::string_view kDeclares[] = {"class", "def", "fn", "func", "layer", "model", "module", "net", "struct"};
  constexpr std::string_view kDesigns[] = {"campaign", "experiment", "factors", "grid", "study", "sweep"};
  constexpr std::string_view kLoops[] = {"while", "loop", "repeat", "do", "foreach"};
  if (!atTop) {
    if (const SoftWord* soft = findSoftWord(word); soft != nullptr && soft->kind == WordClass::Header)
      return "it is a clause of the header: before the `{`, on a line of its own";
    const bool loops = std::ranges::find(kLoops, word) != std::end(kLoops);
    return loops ? "what is repeated has an end: `for i in 0 .. n { ... }`" : "";
  }
  if (std::ranges::find(designWords(), word) != designWords().end())
    return "it is a clause of a design: `design name of NETWORK { ... }`";
  if (std::ranges::find(kDesigns, word) != std::end(kDesigns))
    return "factors and their levels are declared by `design name of NETWORK { ... }`";
  if (word == "from" || word == "using" || word == "include")
    return "names of another module come by `import std.vision: resnet`";
  if (std::ranges::find(kDeclares, word) != std::end(kDeclares))
    return "a network is declared by `network name(x: tensor[n, c]) -> tensor[n, c] { ... }`, a part of one by `block`";
  return "";
}
}  // namespace

void Builder::unknown(P::UnknownContext* ctx, bool atTop) {
  const ast::Name word = name(ctx->ID());
  std::vector<std::string> candidates;
  for (const SoftWord& soft : softWords()) {
    const bool wanted = atTop ? soft.kind == WordClass::Declaration : soft.kind == WordClass::Anywhere || soft.text == "assert";
    if (wanted) candidates.emplace_back(soft.text);
  }
  if (!atTop)
    candidates.insert(candidates.end(), {"let", "var", "for", "if", "return", "exit"});
  else
    candidates.emplace_back("let");
  Diagnostic& told = sink.report(atTop ? diag::syntax_no_declaration : diag::syntax_no_statement, word.range, word.text);
  const std::string near = nearest(word.text, candidates);
  if (!near.empty()) told.fix(word.range, near);
  const std::string_view way = near.empty() ? wayOf(word.text, atTop) : "";
  if (!way.empty()) told.note(std::string(way));
  const std::size_t next = ctx->afterUnknown()->start->getType();
  if (!near.empty() || !way.empty()) return;
  if (!atTop && (next == P::LPAREN || next == P::LBRACK || next == P::DOT)) {
    told.note("a value alone is no statement: name it with `let`, or `return` it");
    return;
  }
  std::ranges::sort(candidates);
  told.note(fmt::format("{} begin with {}", atTop ? "declarations" : "statements", fmt::join(candidates, ", ")));
}

}  // namespace tbem::syntax
