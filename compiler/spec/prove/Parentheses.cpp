// `A or B or C and y`: `and` binds closer than `or`, so A and B say nothing of y. The conditions of Listing 1 are printed so.
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/sema/Walk.h"
#include "compiler/spec/process/Process.h"

#include <algorithm>
#include <string_view>

namespace tbem::spec {

namespace {

/// The operands of a chain of one logical operator, left to right.
std::vector<const ast::Expr*> operandsOf(const ast::Expr& expr, ast::BinaryOp op) {
  std::vector<const ast::Expr*> open{&expr}, found;
  while (!open.empty()) {
    const ast::Expr* next = open.back();
    open.pop_back();
    const auto* both = ast::dynCast<ast::Binary>(next);
    if (both == nullptr || both->op != op) {
      found.push_back(next);
      continue;
    }
    open.push_back(both->right);
    open.push_back(both->left);
  }
  return found;
}

class Outputs {
public:
  explicit Outputs(const ast::Process& process) {
    for (const auto& port : process.outputs) {
      for (const ast::Parameter& one : port) names.push_back(one.name.text);
    }
    for (const ast::Process::External& external : process.externals) {
      if (external.writes) names.push_back(external.name.text);
    }
  }
  bool in(const ast::Expr& expr) const {
    bool found = false;
    sema::forEachInside(expr, [&](const ast::Expr& inner) {
      const auto* word = ast::dynCast<ast::NameRef>(&inner);
      found = found || (word != nullptr && std::find(names.begin(), names.end(), word->name.text) != names.end());
    });
    return found;
  }

private:
  std::vector<std::string_view> names;
};

}  // namespace

bool reportLostParentheses(Session& session, const ast::Process& process) {
  if (process.post == nullptr) return false;
  const Outputs outputs(process);
  const std::vector<const ast::Expr*> alternatives = operandsOf(*process.post, ast::BinaryOp::Or);
  bool told = false;
  for (std::size_t last = 1; last < alternatives.size(); ++last) {
    const std::vector<const ast::Expr*> parts = operandsOf(*alternatives[last], ast::BinaryOp::And);
    const auto says = std::find_if(parts.begin(), parts.end(), [&](const ast::Expr* part) { return outputs.in(*part); });
    if (says == parts.begin() || says == parts.end()) continue;
    std::size_t first = last;
    while (first > 0 && !outputs.in(*alternatives[first - 1])) --first;
    if (first == last) continue;
    const SrcRange from = alternatives[first]->range;
    const SrcRange to = (*(says - 1))->range;
    session.sink.report(diag::alternative_says_nothing, from, sourceText(session.sources, from))
        .label((*says)->range, "this belongs to the last alternative alone")
        .note("`and` binds closer than `or`; with the parentheses it holds for all of them")
        .fix({from.begin, from.begin}, "(", Applicability::Certain)
        .fix({to.end, to.end}, ")", Applicability::Certain);
    told = true;
  }
  return told;
}

}  // namespace tbem::spec
