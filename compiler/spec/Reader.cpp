#include "compiler/spec/Reader.h"

#include "compiler/sema/Walk.h"
#include "compiler/support/diagnostics/Sema.h"
#include "compiler/support/diagnostics/Specification.h"

#include <algorithm>

namespace tbem::spec {

using sema::ExprOp;
using sema::Value;
using sema::ValueKind;

Reader::Reader(Session& session, const sema::Program& program, const sema::Module& module, ProcessModel& model)
    : Evaluator(program, model.pool, session.sink), model(model), session(session) {
  names.module = &module;
  names.decl = model.decl;
  frame = &names;
}

// ---- Unknowns ---------------------------------------------------------------------------------------------------------

SymbolId Reader::unknown(std::string name, SrcRange range, bool isOutput, bool isTruth, Domain domain) {
  const SymbolId symbol = pool.symbol(name, range, domain.isReal);
  model.unknowns.push_back({std::move(name), range, isOutput, isTruth});
  model.domains.push_back(std::move(domain));
  return symbol;
}

Value Reader::valueOf(SymbolId symbol) const {
  const ExprId expr = pool.symbolRef(symbol);
  if (model.unknowns[static_cast<std::size_t>(symbol)].isTruth) return Value::boolean(expr);
  return Value::number(expr, model.domains[static_cast<std::size_t>(symbol)].isReal);
}

/// The values that a type and an `in` allow. Nothing after a report.
std::optional<Domain> Reader::domainOf(const std::string& name, const ast::Type& type, const ast::Expr* values) {
  const auto* named = ast::dynCast<ast::NamedType>(&type);
  const std::string word = named != nullptr ? named->name.text : std::string();
  if (word != "int" && word != "bool" && word != "real") {
    fail(diag::process_type, type.range, name, model.decl->name.text, std::string(session.sources.text(type.range)));
    return std::nullopt;
  }
  Domain domain = word == "bool" ? Domain::truth() : Domain{};
  domain.isReal = word == "real";
  if (values == nullptr) return domain;
  const Value given = evaluate(*values);
  if (given.is(ValueKind::Range) && pool.constantValue(given.items[2].expr) == Rational::of(1)) {
    const auto low = pool.constantValue(given.items[0].expr);
    const auto high = pool.constantValue(given.items[1].expr);
    if (low && high && low->isInt() && high->isInt()) {
      domain.low = low->num;
      domain.high = given.inclusive ? high->num : high->num - 1;
      return domain;
    }
  }
  const auto items = elements(given, values->range);
  if (!items) return std::nullopt;
  for (const Value& item : *items) {
    const auto value = item.is(ValueKind::Number) || item.is(ValueKind::Bool) ? pool.constantValue(item.expr) : std::nullopt;
    if (!value || (word == "int" && !value->isInt())) {
      fail(diag::wrong_kind, values->range, "`" + name + "`", word + " values after `in`", kindName(item));
      return std::nullopt;
    }
    domain.levels.push_back(*value);
  }
  std::sort(domain.levels.begin(), domain.levels.end(), [](const Rational& a, const Rational& b) { return compare(a, b) < 0; });
  domain.levels.erase(std::unique(domain.levels.begin(), domain.levels.end()), domain.levels.end());
  return domain;
}

bool Reader::port(const std::vector<ast::Parameter>& list, bool isOutput, std::optional<SymbolId> presence) {
  for (const ast::Parameter& one : list) {
    std::optional<Domain> domain = domainOf(one.name.text, *one.type, one.domain);
    if (!domain) return false;
    const bool isTruth = ast::cast<ast::NamedType>(*one.type).name.text == "bool";
    const SymbolId symbol = unknown(one.name.text, one.name.range, isOutput, isTruth, std::move(*domain));
    names.define(one.name.text, valueOf(symbol), one.name.range);
    if (!presence) continue;
    presences[one.name.text] = *presence;
    model.unknowns[static_cast<std::size_t>(symbol)].port = static_cast<std::size_t>(*presence);
  }
  return true;
}

void Reader::exactlyOne(const std::vector<SymbolId>& ports) {
  ExprId sum = pool.constant(0);
  for (const SymbolId one : ports) sum = pool.make(ExprOp::Add, sum, pool.symbolRef(one));
  model.axioms.push_back(pool.make(ExprOp::Equal, sum, pool.constant(1)));
}

bool Reader::external(const ast::Process::External& external) {
  std::optional<Domain> domain = domainOf(external.name.text, *external.type, nullptr);
  if (!domain) return false;
  const bool isTruth = ast::cast<ast::NamedType>(*external.type).name.text == "bool";
  const std::string& name = external.name.text;
  const SymbolId old = unknown(external.writes ? "~" + name : name, external.name.range, false, isTruth, *domain);
  before[name] = old;
  names.define(name, valueOf(old), external.name.range);  // in `pre`; `post` means the value after
  return true;
}

bool Reader::declare() {
  const ast::Process& process = *model.process;
  for (const bool isOutput : {false, true}) {
    const auto& side = isOutput ? process.outputs : process.inputs;
    std::vector<SymbolId> flags;
    for (const auto& list : side) {
      std::optional<SymbolId> presence;
      if (side.size() > 1 && !list.empty()) {
        presence = unknown("bound(" + list.front().name.text + ")", list.front().name.range, isOutput, true, Domain::truth());
        flags.push_back(*presence);
      }
      if (!port(list, isOutput, presence)) return false;
    }
    if (flags.size() > 1) exactlyOne(flags);
  }
  return std::all_of(process.externals.begin(), process.externals.end(),
                     [&](const ast::Process::External& one) { return external(one); });
}

bool Reader::read() {
  const ast::Process& process = *model.process;
  if (!declare()) return false;
  const ExprId yes = pool.constant(1);
  model.pre = yes;
  if (process.pre != nullptr) {
    const Value value = evaluate(*process.pre);
    if (value.isPoison()) return false;
    if (!value.is(ValueKind::Bool)) {
      wrongKind(process.pre->range, "`pre`", "a bool", value);
      return false;
    }
    model.pre = value.expr;
    if (model.mentionsOutputs(value.expr)) {
      sema::forEachInside(*process.pre, [&](const ast::Expr& inner) {
        const auto* word = ast::dynCast<ast::NameRef>(&inner);
        if (word == nullptr || names.find(word->name.text) == nullptr) return;
        const Value& used = names.find(word->name.text)->value;
        if (used.expr != sema::kNoExpr && model.mentionsOutputs(used.expr))
          fail(diag::output_in_pre, word->name.range, word->name.text);
      });
      return false;
    }
    findQuotients(*process.pre);
  }
  for (const ast::Process::External& one : process.externals) {
    if (!one.writes) continue;
    const SymbolId old = before.at(one.name.text);
    const SymbolId after = unknown(one.name.text, one.name.range, true, model.unknowns[static_cast<std::size_t>(old)].isTruth,
                                   model.domains[static_cast<std::size_t>(old)]);
    names.define(one.name.text, valueOf(after), one.name.range);
  }
  if (process.post == nullptr) {
    model.post.expr = yes;
    return true;
  }
  std::optional<Condition> post = condition(*process.post, false);
  if (!post) return false;
  model.post = std::move(*post);
  findQuotients(*process.post);
  return true;
}

// ---- Words of processes -----------------------------------------------------------------------------------------------

Value Reader::oldValue(const ast::Old& expr) {
  const auto found = before.find(expr.name.text);
  if (found == before.end()) return fail(diag::no_old_value, expr.range, expr.name.text);
  return valueOf(found->second);
}

std::optional<Value> Reader::specialCall(std::string_view name, const ast::Call& call) {
  if (name != "bound") return std::nullopt;
  const bool single = call.arguments.size() == 1 && !call.arguments.front().rest && call.arguments.front().name.empty();
  const auto* word = single ? ast::dynCast<ast::NameRef>(call.arguments.front().value) : nullptr;
  const ast::Process& process = *model.process;
  const auto has = [&](const std::vector<std::vector<ast::Parameter>>& side) {
    return std::any_of(side.begin(), side.end(), [&](const auto& list) {
      return std::any_of(list.begin(), list.end(), [&](const ast::Parameter& p) { return p.name.text == word->name.text; });
    });
  };
  if (word == nullptr || (!has(process.inputs) && !has(process.outputs)))
    return fail(diag::bound_of_port, call.range, process.name.text);
  const auto found = presences.find(word->name.text);
  if (found == presences.end()) return truth(true);  // the only port
  return valueOf(found->second);
}

/// The text of each `/` outside quantifiers, whose variables have no values here.
void Reader::findQuotients(const ast::Expr& root) {
  std::vector<const ast::Expr*> open{&root};
  ++quiet;
  while (!open.empty()) {
    const ast::Expr* next = open.back();
    open.pop_back();
    if (next->kind == ast::NodeKind::Quantifier || next->kind == ast::NodeKind::Comprehension) continue;
    const auto* node = ast::dynCast<ast::Binary>(next);
    if (node != nullptr && node->op == ast::BinaryOp::Divide) {
      const Value left = evaluate(*node->left);
      const Value right = evaluate(*node->right);
      const bool whole = left.is(ValueKind::Number) && right.is(ValueKind::Number) && !left.isReal && !right.isReal;
      const bool known = whole && pool.constantValue(left.expr) && pool.constantValue(right.expr);
      if (whole && !known) model.quotients.push_back({node, left.expr, right.expr});
    }
    sema::forEachChild(*next, [&](const ast::Expr& child) { open.push_back(&child); });
  }
  --quiet;
  std::sort(model.quotients.begin(), model.quotients.end(),
            [](const auto& a, const auto& b) { return a.text->range.begin < b.text->range.begin; });
}

}  // namespace tbem::spec
