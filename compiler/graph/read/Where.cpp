#include "compiler/graph/read/Where.h"

#include "compiler/diagnostics/tables/Design.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>
#include <set>
#include <string>

namespace tbem::graph {

namespace {

/// Evaluates conditions among the levels of one row.
class Condition : public sema::Evaluator {
public:
  Condition(const sema::Program& program, sema::ExprPool& pool, DiagnosticSink& sink, const OutputsExist& outputsExist)
      : Evaluator(program, pool, sink), outputsExist(outputsExist) {}
  std::optional<bool> holds(const ast::Expr& condition, const sema::Module& module, std::vector<sema::Local> names) {
    sema::Frame fresh;
    fresh.module = &module;
    fresh.locals = std::move(names);
    frame = &fresh;
    const sema::Value value = evaluate(condition);
    const auto known = forceBool(value, "`where`", condition.range);
    frame = nullptr;
    return known;
  }

protected:
  /// A process holds of its inputs where its `pre` does and some outputs meet its `post`; an only output that is a bool is true.
  sema::Value applyProcess(const ast::Expr& use, const sema::Value& callee, sema::Arguments arguments) override {
    const auto& process = *static_cast<const ast::Process*>(callee.decl);
    if (process.inputs.size() > 1 || process.outputs.size() > 1)
      return fail(diag::wrong_kind, use.range, "a condition", "a process with one group of inputs and one of outputs",
                  "`" + process.name.text + "`");
    if (!process.externals.empty())
      return fail(diag::wrong_kind, use.range, "a condition", "a process without external variables",
                  "`" + process.name.text + "`");
    const std::vector<ast::Parameter> none;
    const std::vector<ast::Parameter>& inputs = process.inputs.empty() ? none : process.inputs.front();
    sema::Frame inside;
    inside.module = callee.module;
    inside.decl = &process;
    std::vector<sema::Value> tensors;
    if (!bind({process.name.text, callee.module, &process, {}, inputs}, arguments, inside, tensors)) return {};
    std::vector<std::pair<std::string, sema::Value>> given;
    for (const ast::Parameter& one : inputs) given.emplace_back(one.name.text, inside.find(one.name.text)->value);
    const std::optional<bool> holds = outputsExist(process, *callee.module, given);
    if (holds) return truth(*holds);
    std::string values;
    for (const auto& [name, value] : given) values += (values.empty() ? "" : ", ") + name + " = " + sema::print(pool, value);
    return fail(diag::where_undecided, use.range, process.name.text, values);
  }

private:
  const OutputsExist& outputsExist;
};

std::vector<std::uint32_t> factorsNamed(const DesignSpec& spec, const ast::Expr& expr) {
  std::set<std::uint32_t> found;
  sema::forEachInside(expr, [&](const ast::Expr& inner) {
    const auto* name = ast::dynCast<ast::NameRef>(&inner);
    const auto factor = name == nullptr ? std::nullopt : spec.find(name->name.text);
    if (factor) found.insert(*factor);
  });
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<RowCondition> rowConditions(const DesignSpec& spec) {
  std::vector<RowCondition> conditions;
  std::vector<const ast::Expr*> open(spec.where.rbegin(), spec.where.rend());
  while (!open.empty()) {
    const ast::Expr* next = open.back();
    open.pop_back();
    const auto* both = ast::dynCast<ast::Binary>(next);
    if (both != nullptr && both->op == ast::BinaryOp::And) {
      open.push_back(both->right);
      open.push_back(both->left);
    } else {
      conditions.push_back({next, factorsNamed(spec, *next)});
    }
  }
  return conditions;
}

std::optional<bool> holds(Session& session, const sema::Program& program, const DesignSpec& spec, const RowCondition& condition,
                          std::span<const std::uint32_t> levels, const OutputsExist& outputsExist) {
  // Levels that are not numbers keep their expressions in the design's own pool, so that is where conditions are evaluated too.
  Condition evaluator(program, *spec.pool, session.sink, outputsExist);
  std::vector<sema::Local> names;
  for (const std::uint32_t f : condition.factors) {
    if (!spec.active(f, levels)) return true;
    sema::Local local;
    local.name = spec.factors[f].name;
    local.value = spec.factors[f].levels[levels[f]].value;
    names.push_back(std::move(local));
  }
  return evaluator.holds(*condition.expr, *spec.module, std::move(names));
}

}  // namespace tbem::graph
