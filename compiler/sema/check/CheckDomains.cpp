// What parameters may be, of declarations that nothing calls too.
#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>
#include <vector>

namespace tbem::sema {

namespace {

using Parameters = std::vector<const ast::Parameter*>;

class DomainChecker : public Evaluator {
public:
  DomainChecker(const Program& program, ExprPool& pool, DiagnosticSink& sink, const Module& module)
      : Evaluator(program, pool, sink), sink(sink), module(module) {}

  void check(const ast::Decl& decl, const Parameters& list) {
    for (const ast::Parameter* one : list) {
      if (one->domain == nullptr || namesOneOf(*one->domain, list)) continue;
      const Value domain = quietly(*one->domain);
      if (domain.isPoison()) continue;
      if (isEmpty(domain)) {
        sink.report(diag::domain_empty, one->domain->range, one->name.text, print(pool, domain));
        continue;
      }
      if (one->defaultValue == nullptr || namesOneOf(*one->defaultValue, list)) continue;
      const Value value = quietly(*one->defaultValue);
      Signature signature;
      signature.name = decl.name.text;
      signature.module = &module;
      signature.decl = &decl;
      if (!value.isPoison()) checkDomain(signature, *one, domain, value, one->defaultValue->range);
    }
  }

private:
  DiagnosticSink& sink;
  const Module& module;

  /// Mistakes in it are told where it is called.
  Value quietly(const ast::Expr& expr) {
    Value value;
    reportsOf(sink, [&] { value = evaluateIn(module, expr, {}); });
    return value;
  }

  static bool namesOneOf(const ast::Expr& expr, const Parameters& list) {
    bool names = false;
    forEachInside(expr, [&](const ast::Expr& inner) {
      const auto* name = ast::dynCast<ast::NameRef>(&inner);
      names = names || (name != nullptr && std::any_of(list.begin(), list.end(), [&](const ast::Parameter* one) {
                          return one->name.text == name->name.text;
                        }));
    });
    return names;
  }

  bool isEmpty(const Value& domain) const {
    // `{}` reads as a record without fields.
    const bool isCollection = domain.is(ValueKind::List) || domain.is(ValueKind::Set) || domain.is(ValueKind::Record);
    if (!domain.is(ValueKind::Range)) return isCollection && domain.items.empty();
    const auto low = pool.constantValue(domain.items[0].expr), high = pool.constantValue(domain.items[1].expr);
    if (!low || !high) return false;
    const int order = compare(*low, *high);
    return domain.inclusive ? order > 0 : order >= 0;
  }
};

Parameters parametersOf(const ast::Decl& decl) {
  Parameters list;
  const auto add = [&](const std::vector<ast::Parameter>& some) {
    for (const ast::Parameter& one : some) list.push_back(&one);
  };
  if (const auto* callable = ast::dynCast<ast::Callable>(&decl)) add(callable->parameters);
  if (const auto* function = ast::dynCast<ast::Function>(&decl)) add(function->parameters);
  if (const auto* process = ast::dynCast<ast::Process>(&decl)) {
    for (const auto* side : {&process->inputs, &process->outputs}) {
      for (const std::vector<ast::Parameter>& port : *side) add(port);
    }
  }
  return list;
}

}  // namespace

void checkDomains(const Program& program, DiagnosticSink& sink) {
  for (const auto& module : program.modules()) {
    if (module->isStandard) continue;
    ExprPool pool;
    DomainChecker checker(program, pool, sink, *module);
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) checker.check(*decl, parametersOf(*decl));
    }
  }
}

}  // namespace tbem::sema
