// Norms, boxes and methods as the clauses of perturbations and trainings give them. Internal to compiler/graph.
#pragma once

#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/perturb/Method.h"

#include <functional>
#include <optional>
#include <string>

namespace tbem::graph {

/// A word, or a word with arguments.
struct CalledWord {
  std::string name;  ///< "" where it is neither
  const ast::Call* call = nullptr;
};
CalledWord calledWord(const ast::Expr* expr);

/// `linf(0.03)`, `l2(1)`. Reports else. A factor whose level is a text stands for the word that the text is, here as for methods.
void readNorm(ClauseReader& reader, const ast::Expr& expr, Ball& into);
/// `[0, 1]`. Reports else.
void readBox(ClauseReader& reader, const ast::Expr& expr, Ball& into);

/// Near what a method searches.
struct MethodPlace {
  const Ball& ball;
  bool keepLabel = false;
  std::size_t number = 1;  ///< of the method in its declaration
};
/// `gradient(steps: 30)`. Nothing after a report.
std::optional<MethodSpec> readMethod(ClauseReader& reader, const ast::Argument& item, const MethodPlace& place);

/// A share above 0 and at most 1; nothing after a report. `name`: of the argument, which is a share of this.
std::optional<Rational> readShare(ClauseReader& reader, const std::string& name, const ast::Expr& expr, const char* of);

/// What clauses that move examples say: one method, `norm:` and `box:`, read into `ball`, and items of their own, which `own`
/// reads (false: it is none of them). `items`: what there may be, for reports. Gives the method's item; null: there is none,
/// which was reported.
using OwnItem = std::function<bool(const ast::Argument& item)>;
const ast::Argument* readMoving(ClauseReader& reader, const ast::Clause& clause, Ball& ball, const char* items,
                                const OwnItem& own);

/// Clause `harden` of a training: `gradient(steps: 5), norm: linf(0.03), box: [0, 1], share: 0.5`. Nothing after a report.
std::optional<Hardening> readHardening(ClauseReader& reader, const ast::Clause& clause);

}  // namespace tbem::graph
