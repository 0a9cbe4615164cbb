// Imports, and the declarations whose `{ }` holds clauses of a word and what it is given: mutate, measure, regress, fit, train,
// perturb.
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/parse/Build.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::syntax {

ast::Decl* Builder::importing(P::ImportingContext* ctx) {
  auto* made = make<ast::Import>(ctx);
  for (antlr4::tree::TerminalNode* each : ctx->path()->ID()) made->path.push_back(name(each));
  for (antlr4::tree::TerminalNode* each : ctx->ID()) {
    if (ctx->AS() != nullptr)
      made->alias = name(each);
    else
      made->names.push_back(name(each));
  }
  return made;
}

std::vector<Builder::Entry> Builder::entries(P::ConfigContext* ctx) {
  std::vector<Entry> list;
  if (ctx == nullptr) return list;
  for (P::ConfigClauseContext* each : ctx->configClause()) {
    if (broken(each)) continue;
    Entry entry;
    entry.ctx = each;
    entry.word = name(each->start);
    // A condition compares with `=`, also at its outermost.
    const bool compares = entry.word.text == "where" || entry.word.text == "budget";
    for (P::ArgumentContext* item : each->argument()) entry.items.push_back(argument(item, compares));
    list.push_back(std::move(entry));
  }
  return list;
}

/// Reports a clause whose word is none of `words`, or that has an `as`, `after` or `before` where none belongs.
bool Builder::known(const Entry& entry, std::string_view what, const std::vector<std::string>& words) {
  if (std::find(words.begin(), words.end(), entry.word.text) == words.end()) {
    Diagnostic& told = sink.report(diag::syntax_no_clause, entry.word.range, entry.word.text, what);
    const std::string near = nearest(entry.word.text, words);
    if (entry.word.text == "budget")  // its sizes are the data's, which need not be where the program is checked
      told.note("a clause of designs: one of the same network and `task`, with its batch in `input`, says what a step may take");
    else if (!near.empty())
      told.fix(entry.word.range, near);
    else
      told.note(fmt::format("its clauses: `{}`", fmt::join(words, "`, `")));
    return false;
  }
  return true;
}

/// Whether it is the first of its word; reports where it is not.
bool Builder::fresh(const Entry& entry, std::set<std::string>& seen) {
  if (seen.insert(entry.word.text).second) return true;
  sink.report(diag::syntax_repeated_clause, entry.word.range, entry.word.text);
  return false;
}

/// The one unnamed operand of a clause; reports and returns null where it has none, several, or a named one.
const ast::Expr* Builder::single(const Entry& entry) {
  if (entry.items.size() == 1 && entry.items[0].name.empty() && !entry.items[0].rest) return entry.items[0].value;
  sink.report(diag::syntax_clause_one, range(entry.ctx), entry.word.text);
  return nullptr;
}

std::vector<ast::Name> Builder::nameList(const Entry& entry) {
  std::vector<ast::Name> names;
  for (const ast::Argument& each : entry.items) {
    const auto* ref = each.name.empty() ? ast::dynCast<ast::NameRef>(each.value) : nullptr;
    if (ref != nullptr)
      names.push_back(ref->name);
    else
      sink.report(diag::syntax_clause_names, each.range, entry.word.text);
  }
  if (entry.items.empty()) sink.report(diag::syntax_clause_names, entry.word.range, entry.word.text);
  return names;
}

std::vector<ast::Clause> Builder::clauses(P::ConfigContext* ctx, std::string_view what, const std::vector<std::string>& words) {
  std::vector<ast::Clause> list;
  for (Entry& each : entries(ctx)) {
    if (!known(each, what, words)) continue;
    list.push_back(clause(each));
  }
  return list;
}

/// What an optimiser moves alone may stand behind it: `on head`.
ast::Clause Builder::clause(Entry& entry) {
  ast::Clause made{entry.word, std::move(entry.items), range(entry.ctx)};
  for (P::ConfigTailContext* tail : entry.ctx->configTail()) {
    if (entry.word.text == "optimizer" && tail->on != nullptr && made.on == nullptr)
      made.on = value(tail->on);
    else
      sink.report(diag::syntax_clause_tail, range(tail), text(range(tail->start)), entry.word.text);
  }
  return made;
}

ast::Decl* Builder::mutate(P::MutateContext* ctx) {
  auto* made = make<ast::Mutate>(ctx);
  made->name = name(ctx->ID(0));
  made->base = name(ctx->ID(1));
  for (const Entry& each : entries(ctx->config())) {
    if (!known(each, "a mutation", {"repeat", "insert", "drop", "swap", "widen"})) continue;
    ast::Mutate::Operation operation;
    operation.word = each.word;
    operation.range = range(each.ctx);
    const ast::Expr* operand = single(each);
    for (P::ConfigTailContext* tail : each.ctx->configTail()) {
      if (tail->on != nullptr) {
        sink.report(diag::syntax_clause_tail, range(tail), text(range(tail->start)), each.word.text);
      } else if (tail->word != nullptr) {
        operation.where = name(tail->word);
        operation.inserted = operand;
        operation.path = value(tail->value(0));
      } else {
        operation.as = name(tail->ID());
        operation.levels = values(tail->value());
      }
    }
    if (operation.path == nullptr) operation.path = operand;
    const bool inserts = each.word.text == "insert";
    if (inserts != (operation.inserted != nullptr))
      sink.report(inserts ? diag::syntax_insert_where : diag::syntax_only_insert, each.word.range, each.word.text);
    if (operation.as.empty()) sink.report(diag::syntax_mutation_name, each.word.range, each.word.text);
    if (operand != nullptr && !operation.as.empty()) made->operations.push_back(std::move(operation));
  }
  return made;
}

ast::Decl* Builder::measure(P::MeasureContext* ctx) {
  auto* made = make<ast::Measure>(ctx);
  made->name = name(ctx->ID());
  std::set<std::string> seen;
  for (Entry& each : entries(ctx->config())) {
    if (!known(each, "a measurement",
               {"on", "metric", "repeat", "tune", "warmup", "steps", "seed", "within", "threads", "order", "examples", "attack",
                "timeout"}) ||
        !fresh(each, seen))
      continue;
    if (each.word.text == "on") {
      // Names alone, or a clause with what stands in their parentheses: `command("run")`.
      const bool allNames = std::ranges::all_of(each.items, [](const ast::Argument& item) {
        return item.name.empty() && ast::dynCast<ast::NameRef>(item.value) != nullptr;
      });
      if (allNames)
        made->backends = nameList(each);
      else
        made->others.push_back({each.word, std::move(each.items), range(each.ctx)});
    } else if (each.word.text == "metric") {
      made->metrics = nameList(each);
    } else if (each.word.text == "repeat") {
      made->repeat = single(each);
    } else {
      made->others.push_back({each.word, std::move(each.items), range(each.ctx)});
    }
  }
  return made;
}

ast::Decl* Builder::regress(P::RegressContext* ctx) {
  auto* made = make<ast::Regress>(ctx);
  made->name = name(ctx->ID(0));
  // A file is named with its quotes, which no name of a design has.
  made->from = name(ctx->STRING() != nullptr ? ctx->STRING() : ctx->ID(1));
  std::set<std::string> seen;
  for (Entry& each : entries(ctx->config())) {
    if (!known(each, "a regression", {"response", "terms", "validate", "on", "where", "weights"}) || !fresh(each, seen)) continue;
    if (each.word.text == "response") {
      made->response = single(each);
    } else if (each.word.text == "terms") {
      made->terms = single(each);
    } else if (each.word.text == "validate") {
      const std::vector<ast::Name> names = nameList(each);
      if (names.size() == 1) made->validate = names[0];
    } else {
      made->others.push_back({each.word, std::move(each.items), range(each.ctx)});
    }
  }
  return made;
}

ast::Decl* Builder::fit(P::FitContext* ctx) {
  auto* made = make<ast::Fit>(ctx);
  made->design = name(ctx->ID(0));
  made->over = name(ctx->ID(1));
  if (ctx->at != nullptr) made->at = value(ctx->at);
  made->into = value(ctx->into);
  if (ctx->on != nullptr) made->device = value(ctx->on);
  return made;
}

ast::Decl* Builder::train(P::TrainContext* ctx) {
  auto* made = make<ast::Train>(ctx);
  made->name = name(ctx->ID());
  made->network = value(ctx->value(0));
  made->data = value(ctx->value(1));
  made->clauses = clauses(ctx->config(), "a training",
                          {"epochs", "steps", "batch", "optimizer",  "loss",       "seed",    "validate", "patience", "schedule",
                           "dtype",  "math",  "mixed", "accumulate", "checkpoint", "augment", "tune",     "backend",  "every",
                           "resume", "gates", "exits", "harden",     "freeze",     "weights", "turn"});
  return made;
}

ast::Decl* Builder::perturb(P::PerturbContext* ctx) {
  auto* made = make<ast::Perturb>(ctx);
  made->name = name(ctx->ID(0));
  made->target = name(ctx->ID(1));
  made->data = value(ctx->value());
  made->clauses = clauses(ctx->config(), "a perturbation",
                          {"norm", "by", "keep", "box", "metric", "certify", "detect", "squeeze", "batch", "seed"});
  return made;
}

}  // namespace tbem::syntax
