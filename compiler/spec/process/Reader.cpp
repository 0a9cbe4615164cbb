#include "compiler/spec/process/Reader.h"

#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/sema/Walk.h"

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

bool Reader::port(const std::vector<ast::Parameter>& list, bool isOutput, std::optional<SymbolId> presence) {
  for (const ast::Parameter& one : list) {
    const std::size_t first = model.unknowns.size();
    const std::optional<Value> value =
        variable({one.name, one.name.text, *one.type, one.domain, isOutput, mostElements(one.name.text, isOutput)});
    if (!value) return false;
    names.define(one.name.text, *value, one.name.range);
    if (!presence) continue;
    presences[one.name.text] = *presence;
    model.variables.back().port = static_cast<std::size_t>(*presence);
    for (std::size_t s = first; s < model.unknowns.size(); ++s) model.unknowns[s].port = static_cast<std::size_t>(*presence);
  }
  return true;
}

void Reader::exactlyOne(const std::vector<SymbolId>& ports) {
  ExprId sum = pool.constant(0);
  for (const SymbolId one : ports) sum = pool.make(ExprOp::Add, sum, pool.symbolRef(one));
  model.axioms.push_back(pool.make(ExprOp::Equal, sum, pool.constant(1)));
}

bool Reader::external(const ast::Process::External& external) {
  const std::string& name = external.name.text;
  const std::optional<Value> value =
      variable({external.name, external.writes ? "~" + name : name, *external.type, nullptr, false, mostElements(name, false)});
  if (!value) return false;
  before[name] = *value;
  names.define(name, *value, external.name.range);  // in `pre`; `post` means the value after
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
        model.variables.pop_back();  // nothing that a text names
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
  bounds.emplace(process, [this](const std::string& name) { return highest(name); });
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
        const bool isOutput = word != nullptr && names.find(word->name.text) != nullptr &&
                              std::any_of(model.variables.begin(), model.variables.end(),
                                          [&](const Variable& one) { return one.isOutput && one.name == word->name.text; });
        if (isOutput) fail(diag::output_in_pre, word->name.range, word->name.text);
      });
      return false;
    }
    findQuotients(*process.pre);
  }
  for (const ast::Process::External& one : process.externals) {
    if (!one.writes) continue;
    const std::optional<Value> after =
        variable({one.name, one.name.text, *one.type, nullptr, true, mostElements(one.name.text, true)});
    if (!after) return false;
    names.define(one.name.text, *after, one.name.range);
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
  return found->second;
}

/// An element of a list at a position that is an unknown.
std::optional<Value> Reader::elementAt(const Value& list, ExprId position) {
  const auto plain = [](const Value& item) {
    return item.is(ValueKind::Number) || item.is(ValueKind::Bool) || item.is(ValueKind::Word);
  };
  if (list.items.empty() || !std::all_of(list.items.begin(), list.items.end(), plain)) return std::nullopt;
  return elementOf(list, position);
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
