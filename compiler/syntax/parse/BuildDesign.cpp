// Designs: factors, inputs, and the clauses that say which rows are wanted.
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/parse/Build.h"
#include "compiler/syntax/parse/Errors.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::syntax {

namespace {
struct Slot {
  std::string_view word;
  const ast::Expr* ast::Design::*member;
};
constexpr Slot kSlots[] = {
    {"task", &ast::Design::task},         {"strength", &ast::Design::strength},
    {"covering", &ast::Design::covering}, {"within", &ast::Design::within},
    {"rows", &ast::Design::rows},         {"array", &ast::Design::array},
    {"seed", &ast::Design::seed},         {"dtype", &ast::Design::dtype},
    {"math", &ast::Design::math},         {"accumulate", &ast::Design::accumulate},
    {"mixed", &ast::Design::mixed},       {"checkpoint", &ast::Design::checkpoint},
};

}  // namespace

const std::vector<std::string>& designWords() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list{"factor", "input", "where", "full", "filter", "budget", "freeze", "optimizer"};
    for (const Slot& slot : kSlots) list.emplace_back(slot.word);
    return list;
  }();
  return words;
}

ast::Decl* Builder::design(P::DesignContext* ctx) {
  auto* made = make<ast::Design>(ctx);
  made->name = name(ctx->ID());
  if (ctx->value() != nullptr) made->of = value(ctx->value());
  for (Entry& each : entries(ctx->config())) {
    if (!known(each, "a design", designWords())) continue;
    if (each.word.text == "budget") {
      budget(each, made->budgets);
    } else if (each.word.text == "freeze" || each.word.text == "optimizer") {
      made->groups.push_back(clause(each));
    } else {
      designClause(each, *made);
    }
  }
  return made;
}

template <class Ctx>
ast::Factor Builder::factor(Ctx* ctx) {
  ast::Factor made;
  made.name = name(ctx->ID(0));
  made.range = range(ctx);
  std::vector<P::ValueContext*> levels = ctx->value();
  if (ctx->UNDER() != nullptr) {
    made.parent = name(ctx->ID(1));
    made.parentLevel = value(levels.back());
    levels.pop_back();
  }
  made.levels = values(levels);
  return made;
}

ast::Input Builder::input(P::InputPartContext* ctx) {
  ast::Input made{name(ctx->ID(0)), value(ctx->value(0)), {}, nullptr, range(ctx)};
  if (ctx->UNDER() == nullptr) return made;
  made.parent = name(ctx->ID(1));
  made.parentLevel = value(ctx->value(1));
  return made;
}

/// Whether a line of a list of factors or inputs is none, but a clause written as settings of other languages are: `strength: 3`.
/// A factor or input of that name has the word `factor` or `input` before it.
bool Builder::isSetting(const ast::Name& name, antlr4::tree::TerminalNode* colon, Context* value, std::string_view listed) {
  if (std::ranges::find(designWords(), name.text) == designWords().end()) return false;
  sink.report(diag::syntax_unexpected, range(colon->getSymbol()), "`:`")
      .note(settingNote(name.text, text(range(value))))
      .note(
          fmt::format("where it is the name of {} {}: `{} {}: ...`", listed == "input" ? "an" : "a", listed, listed, name.text));
  return true;
}

void Builder::factors(P::ConfigClauseContext* ctx, ast::Design& out) {
  out.factors.push_back(factor(ctx->factorPart()));
  for (P::FactorRestContext* each : ctx->factorRest()) {
    if (!isSetting(name(each->ID(0)), each->COLON(), each->value(0), "factor")) out.factors.push_back(factor(each));
  }
}

void Builder::budget(const Entry& entry, std::vector<ast::Budget>& out) {
  ast::Budget made;
  made.range = range(entry.ctx);
  for (P::ConfigTailContext* tail : entry.ctx->configTail()) {
    if (tail->on != nullptr && made.on == nullptr)
      made.on = value(tail->on);
    else
      sink.report(diag::syntax_clause_tail, range(tail), text(range(tail->start)), entry.word.text);
  }
  made.limit = single(entry);
  if (made.limit != nullptr) out.push_back(made);
}

void Builder::designClause(const Entry& entry, ast::Design& out) {
  if (entry.ctx->factorPart() != nullptr) return factors(entry.ctx, out);
  if (!entry.ctx->inputPart().empty()) {
    for (P::InputPartContext* each : entry.ctx->inputPart()) {
      const bool isFirst = each == entry.ctx->inputPart(0);
      if (isFirst || !isSetting(name(each->ID(0)), each->COLON(), each->value(0), "input")) out.inputs.push_back(input(each));
    }
    return;
  }
  for (P::ConfigTailContext* tail : entry.ctx->configTail())
    sink.report(diag::syntax_clause_tail, range(tail), text(range(tail->start)), entry.word.text);
  if (entry.word.text == "full" || entry.word.text == "filter") {
    if (!entry.items.empty()) sink.report(diag::syntax_full_alone, entry.items[0].range, entry.word.text);
    (entry.word.text == "full" ? out.full : out.filter) = true;
    (entry.word.text == "full" ? out.fullRange : out.filterRange) = entry.word.range;
    return;
  }
  const ast::Expr* operand = single(entry);
  if (operand == nullptr) return;
  if (entry.word.text == "where") {
    out.where.push_back(operand);
    return;
  }
  const auto* slot =
      std::find_if(std::begin(kSlots), std::end(kSlots), [&](const Slot& each) { return each.word == entry.word.text; });
  if (slot == std::end(kSlots)) {  // `factor` or `input` without a name after it
    sink.report(diag::syntax_clause_one, entry.word.range, entry.word.text);
    return;
  }
  if (out.*(slot->member) != nullptr) sink.report(diag::syntax_repeated_clause, entry.word.range, entry.word.text);
  out.*(slot->member) = operand;
}

}  // namespace tbem::syntax
