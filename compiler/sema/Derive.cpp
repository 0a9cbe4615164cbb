#include "compiler/sema/Derive.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Suggest.h"

#include <algorithm>

namespace tbem::sema {

namespace {

class Deriver {
public:
  Deriver(Program& p, Module& m, DiagnosticSink& s) : program(p), module(m), sink(s) {}

  void run() {
    for (const auto& file : module.files) {
      for (const ast::Decl* decl : file->declarations) {
        if (const auto* mutation = ast::dynCast<ast::Mutate>(decl)) derive(*mutation);
      }
    }
  }

private:
  /// Null after a report, and where another declaration has the name.
  const ast::Callable* derive(const ast::Mutate& mutation) {
    const ast::Decl* const known = module.own.at(mutation.name.text);
    if (known != &mutation) return ast::dynCast<ast::Callable>(known);
    if (std::find(open.begin(), open.end(), &mutation) != open.end()) {
      std::string chain;
      for (const ast::Mutate* one : open) chain += one->name.text + " -> ";
      sink.report(diag::recursive_network, mutation.name.range, mutation.name.text, chain + mutation.name.text);
      return nullptr;
    }
    open.push_back(&mutation);
    const Resolved base = baseOf(mutation);
    open.pop_back();
    if (!base) return nullptr;
    auto made = std::make_unique<Derivation>();
    made->mutation = &mutation;
    made->module = &module;
    made->base = base;
    auto* result = made->nodes.make<ast::Callable>(mutation.range);
    *result = ast::cast<ast::Callable>(*base.decl);
    result->range = mutation.range;
    result->name = mutation.name;
    result->documentation = mutation.documentation;
    result->isPrivate = mutation.isPrivate;
    for (const ast::Mutate::Operation& operation : mutation.operations) addParameter(made->nodes, operation, *result);
    made->result = result;
    module.own[mutation.name.text] = result;
    program.derivations.push_back(std::move(made));
    return result;
  }

  Resolved baseOf(const ast::Mutate& mutation) {
    Resolved base = program.resolve(module, mutation.base.text);
    if (!base) {
      suggest(sink.report(diag::unknown_name, mutation.base.range, mutation.base.text), mutation.base, program.names(module),
              ownNames(module));
      return {};
    }
    if (const auto* other = ast::dynCast<ast::Mutate>(base.decl); other != nullptr && base.module == &module) {
      base.decl = derive(*other);
      if (base.decl == nullptr) return {};
    }
    const auto* callable = ast::dynCast<ast::Callable>(base.decl);
    const bool hasPlaces = callable != nullptr && callable->hasBody && callable->callable != ast::CallableKind::Operator;
    if (hasPlaces) return base;
    sink.report(diag::mutation_base, mutation.base.range, mutation.base.text);
    return {};
  }

  /// The first level is the default. Without levels: `drop` and `insert` may be done or not, `repeat` and `widen` take any number
  /// and do nothing unless asked.
  void addParameter(ast::File& nodes, const ast::Mutate::Operation& operation, ast::Callable& to) {
    for (const ast::Parameter& other : to.parameters) {
      if (other.name.text != operation.as.text) continue;
      sink.report(diag::duplicate_name, operation.as.range, operation.as.text).label(other.name.range, "declared here first");
      return;
    }
    const std::string& word = operation.word.text;
    const bool chooses = word == "drop" || word == "insert";
    std::vector<const ast::Expr*> levels = operation.levels;
    if (levels.empty() && word == "swap") {
      sink.report(diag::mutation_without_levels, operation.range, operation.as.text);
      return;
    }
    for (const bool value : {false, true}) {
      if (!chooses || !operation.levels.empty()) break;
      auto* literal = nodes.make<ast::Bool>(operation.as.range);
      literal->value = value;
      levels.push_back(literal);
    }
    ast::Parameter parameter;
    parameter.name = operation.as;
    parameter.range = operation.range;
    auto* type = nodes.make<ast::NamedType>(operation.as.range);
    type->name = {chooses ? "bool" : word == "swap" ? "block" : word == "repeat" ? "int" : "real", operation.as.range};
    parameter.type = type;
    if (levels.empty()) {
      auto* one = nodes.make<ast::Number>(operation.as.range);
      one->text = "1";
      parameter.defaultValue = one;
    } else {
      auto* domain = nodes.make<ast::Set>(operation.range);
      domain->items = levels;
      parameter.domain = domain;
      parameter.defaultValue = levels.front();
    }
    to.parameters.push_back(std::move(parameter));
  }

  Program& program;
  Module& module;
  DiagnosticSink& sink;
  std::vector<const ast::Mutate*> open;
};

}  // namespace

void deriveTemplates(Program& program, Module& module, DiagnosticSink& sink) { Deriver(program, module, sink).run(); }

}  // namespace tbem::sema
