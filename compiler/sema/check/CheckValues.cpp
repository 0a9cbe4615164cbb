// What can be known of constants and functions that no design uses.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/check/NameChecker.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tbem::sema {

void checkConstants(const Program& program, DiagnosticSink& sink) {
  for (const auto& module : program.modules()) {
    if (module->isStandard) continue;
    // One evaluator for all: a mistake is told where it stands, not again in every constant that is made from it.
    ExprPool pool;
    Evaluator evaluator(program, pool, sink);
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (const auto* constant = ast::dynCast<ast::Constant>(decl)) evaluator.constant(*module, *constant);
      }
    }
  }
}

namespace {

/// Depth first over "names in its text", with a stack of its own, since chains of functions may be long.
class Circles {
public:
  Circles(const std::vector<FunctionUse>& uses, DiagnosticSink& sink) : sink(sink) {
    for (const FunctionUse& use : uses) {
      if (use.in->kind == ast::NodeKind::Function) from[use.in].push_back(&use);
    }
  }

  void search(const ast::Decl& start) {
    if (!seen.insert(&start).second) return;
    path = {{&start, 0}};
    while (!path.empty()) {
      auto& [function, next] = path.back();
      const std::vector<const FunctionUse*>& all = from[function];
      if (next == all.size()) {
        path.pop_back();
        continue;
      }
      follow(*all[next++]);
    }
  }

private:
  void follow(const FunctionUse& use) {
    const auto open = std::find_if(path.begin(), path.end(), [&](const auto& step) { return step.first == use.function; });
    if (open != path.end()) {
      std::string chain;
      for (auto it = open; it != path.end(); ++it) chain += it->first->name.text + " -> ";
      sink.report(diag::recursive, use.range, use.function->name.text, chain + use.function->name.text);
    } else if (seen.insert(use.function).second) {
      path.emplace_back(use.function, 0);
    }
  }

  DiagnosticSink& sink;
  std::unordered_map<const ast::Decl*, std::vector<const FunctionUse*>> from;
  std::unordered_set<const ast::Decl*> seen;
  std::vector<std::pair<const ast::Decl*, std::size_t>> path;  ///< functions in hand, and their next use
};

}  // namespace

void checkRecursion(const std::vector<FunctionUse>& uses, DiagnosticSink& sink) {
  Circles circles(uses, sink);
  for (const FunctionUse& use : uses) {
    if (use.in->kind == ast::NodeKind::Function) circles.search(*use.in);
  }
}

}  // namespace tbem::sema
