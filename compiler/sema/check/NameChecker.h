// One walk over a declaration with the names that are visible at each point. Internal to this folder.
#pragma once

#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/check/CheckNames.h"
#include "compiler/sema/check/Uses.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::sema {

/// A function of the program that is named in a declaration.
struct FunctionUse {
  const ast::Decl* in = nullptr;
  const ast::Function* function = nullptr;
  SrcRange range;
};

/// Reports each function that leads back to itself, at the use that closes the circle.
void checkRecursion(const std::vector<FunctionUse>& uses, DiagnosticSink& sink);

class NameChecker {
public:
  NameChecker(const Program& program, DiagnosticSink& sink, const Module& module, std::vector<FunctionUse>& uses)
      : program(program), sink(sink), module(module), uses(uses) {}
  void check(const ast::Decl& decl);

  std::vector<Use>* recorded = nullptr;  ///< where to put what names mean; null: nobody asks

private:
  using Kind = NameKind;
  struct Name {
    std::string_view text;
    SrcRange range;     ///< to be shown: of a result all of it
    SrcRange declared;  ///< the word; empty, at the result's beginning, of one without a name
    Kind kind{};
    const ast::Type* type = nullptr;
    bool used = false;
    bool mayBeUnused = true;
  };

  // Declarations
  void checkCallable(const ast::Callable& decl);
  void checkFunction(const ast::Function& decl);
  void checkProcess(const ast::Process& decl);
  void checkMutation(const ast::Mutate& decl);
  void checkDesign(const ast::Design& decl);
  void checkTrain(const ast::Train& decl);
  void gateMode(const ast::Expr* mode);
  void checkPerturb(const ast::Perturb& decl);
  void parameters(const std::vector<ast::Parameter>& list, Kind kind);
  void type(const ast::Type* type, bool bindsDimensions);
  void onlyInProcess(SrcRange range, const std::string& word);
  void elementType(const ast::Name& name);
  void dimension(const ast::Expr& dim, bool binds);
  void weight(const ast::WeightStmt& weight);
  /// Reports parts and inputs that are given twice.
  template <class Given>
  void once(const std::vector<Given>& list);
  void parts(const std::vector<ast::Part>& list, bool needsNames);
  void updates(const std::vector<ast::Part>& list);

  // Statements
  void block(const ast::Block& block);
  void statement(const ast::Stmt& statement);
  void assign(const ast::Assign& assign);

  // Expressions
  void expr(const ast::Expr* expr);
  void nameUse(const ast::Name& name);
  void member(const ast::Member& member);
  void call(const ast::Call& call, bool piped);
  void uncallable(const ast::NameRef& word, const Name& local);
  void unknownArgument(const ast::Name& name, const ast::Decl& callee, const std::vector<const ast::Parameter*>& parameters);
  void arguments(const ast::Call& call, const ast::Decl& callee, bool piped);

  // Names
  Name* find(std::string_view text);
  void define(const ast::Name& name, Kind kind, const ast::Type* type = nullptr, bool mayBeUnused = true);
  void leave(std::size_t mark);
  void unknown(const ast::Name& name);
  void unbound(const ast::Name& name);
  void noteUse(const Resolved& found, SrcRange range);

  // Uses (RecordUses.cpp)
  void record(SrcRange range, SrcRange declaration, NameKind kind);
  void record(SrcRange range, const Name& local);
  void record(SrcRange range, const Resolved& found);
  void recordModule(const ast::Name& word, const Resolved& found);
  void recordArguments(const ast::Call& call);
  void recordHandedOn(const ast::Call& call, const ast::Decl& callee);
  void recordAttributes(const ast::Callable& decl);
  void recordFilled(const ast::Design& decl);
  void recordFactor(const ast::Name& name, const ast::Design& design);
  void recordFactors(const ast::Expr* expr, const ast::Design* design);
  const ast::Decl* recordNamed(const ast::Name& name);
  void recordImport(const ast::Import& decl);
  void recordPlaces(const ast::Expr* places);
  void recordPlaces(const ast::Clause& clause);
  void recordExamples(const ast::Measure& decl, const ast::Design* design);
  void recordTexts(const ast::Name& name, const ast::Factor& factor);
  void recordOthers(const ast::Decl& decl);
  Resolved calleeOf(const ast::Expr& expr) const;

  const Program& program;
  DiagnosticSink& sink;
  const Module& module;
  std::vector<FunctionUse>& uses;
  std::vector<Name> names;
  std::set<std::string, std::less<>> toldUnknown;  ///< a name that is lost is told where the declaration first uses it
  std::set<std::pair<const ast::Decl*, std::string>> toldArguments;
  std::map<Loc, Diagnostic*> toldUncallable;  ///< by where the local is bound
  const ast::Decl* current = nullptr;
  bool inDesign = false;   ///< parameters may still come from factors
  bool inShapes = false;   ///< of a design's inputs
  bool inWords = false;    ///< levels of a design that builds no network: names are as likely words
  bool gradients = false;  ///< `dy` is a name where `y` is a result
  bool lenient = false;    ///< `step`, `random` and the words of element-wise expressions are names
};

template <class Given>
void NameChecker::once(const std::vector<Given>& list) {
  for (const Given& one : list) {
    const auto first =
        std::find_if(list.begin(), list.end(), [&](const Given& other) { return other.name.text == one.name.text; });
    if (&*first != &one)
      sink.report(diag::argument_twice, one.name.range, one.name.text).label(first->name.range, "given here first");
  }
}

}  // namespace tbem::sema
