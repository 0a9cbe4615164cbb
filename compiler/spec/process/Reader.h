// Evaluates the conditions of a process over unknowns. Internal to compiler/spec.
#pragma once

#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/spec/process/Process.h"
#include "compiler/spec/process/SizeBounds.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::spec {

class Reader : public sema::Evaluator {
public:
  Reader(Session& session, const sema::Program& program, const sema::Module& module, ProcessModel& model);
  /// False after a report.
  bool read();

protected:
  sema::Value oldValue(const ast::Old& expr) override;
  std::optional<sema::Value> specialCall(std::string_view name, const ast::Call& call) override;
  sema::Value enumerator(const ast::Enumerator& expr) override;
  ExprId equalWords(const sema::Value& a, const sema::Value& b) override;
  std::optional<sema::Value> elementAt(const sema::Value& list, ExprId position) override;
  bool keepsArms() const override { return true; }
  void madeArms(ExprId made) override { arms.insert(static_cast<std::uint32_t>(made)); }

  /// The values that a type and an `in` allow. Nothing after a report.
  std::optional<Domain> domainOf(const std::string& name, const ast::Type& type, const ast::Expr* domain);
  /// One unknown, a variable of its own.
  SymbolId unknown(std::string name, SrcRange range, bool isOutput, bool isTruth, Domain domain);
  sema::Value valueOf(SymbolId symbol) const;
  std::optional<Condition> condition(const ast::Expr& expr, bool negated);
  Condition join(Condition::Kind kind, std::vector<Condition> parts, SrcRange range);

  ProcessModel& model;
  Session& session;

private:
  // ReadVariables.cpp
  /// What a name in the text stands for.
  struct Wanted {
    const ast::Name& name;
    std::string text;  ///< "x", "~x"
    const ast::Type& type;
    const ast::Expr* values = nullptr;
    bool isOutput = false;
    SizeBounds::Most most;
    int depth = 0;  ///< of an element of an element: 2
  };
  std::optional<sema::Value> variable(const Wanted& wanted);
  /// The unknowns of a value whose numbers, truth values or words are in `leaf`; `made` says which of these they are.
  sema::Value build(const Wanted& wanted, const Domain& leaf, spec::Variable& made);
  sema::Value element(const Wanted& wanted, const Domain& leaf, spec::Variable& made, std::size_t i);
  sema::Value sequence(const Wanted& wanted, const Domain& leaf, spec::Variable& made);
  sema::Value set(const Wanted& wanted, const Domain& leaf, spec::Variable& made);
  SymbolId part(std::string name, SrcRange range, bool isOutput, const spec::Variable& of, Domain domain);
  sema::Value wordValue(ExprId expr) const;
  sema::Value itemValue(const spec::Variable& variable, ExprId expr, bool isReal) const;
  bool refuseType(const Wanted& wanted, const ast::Type& type, const std::string& hint);
  std::optional<Domain> wordDomain(const std::string& name, const ast::Type& type, const ast::Expr* values);
  std::int64_t codeOf(const std::string& word);
  std::optional<std::int64_t> highest(const std::string& name);
  SizeBounds::Most mostElements(const std::string& name, bool isOutput);

  bool declare();
  bool port(const std::vector<ast::Parameter>& list, bool isOutput, std::optional<SymbolId> presence);
  bool external(const ast::Process::External& external);
  void exactlyOne(const std::vector<SymbolId>& presences);

  std::optional<Condition> logic(const ast::Binary& expr, bool negated);
  std::optional<Condition> choice(const ast::IfExpr& expr, bool negated);
  std::optional<Condition> quantifier(const ast::Quantifier& expr, bool negated);
  bool member(const ast::Quantifier& expr, std::size_t variable, ExprId inside, sema::Value value, bool negated,
              std::vector<Condition>& out);
  bool instances(const ast::Quantifier& expr, std::size_t variable, bool negated, std::vector<Condition>& out);
  bool openRange(const ast::Quantifier& expr, std::size_t variable, const sema::Value& range, bool negated,
                 std::vector<Condition>& out);
  std::optional<Condition> leaf(const ast::Expr& expr, bool negated);
  Condition lift(Condition leaf);
  ExprId isNot(ExprId expr) { return pool.make(sema::ExprOp::Not, expr); }
  void findQuotients(const ast::Expr& root);

  sema::Frame names;
  std::map<std::string, sema::Value, std::less<>> before;  ///< of `~x`
  std::map<std::string, SymbolId, std::less<>> presences;  ///< of `bound(x)`
  std::set<std::uint32_t> arms;                            ///< expressions that an `if` of the text made
  std::optional<SizeBounds> bounds;
  bool hasMembers = false;  ///< the quantifier in hand ranges over a set whose members are not known
  int instanceDepth = 0;    ///< inside quantifiers
  int nesting = 0;
};

}  // namespace tbem::spec
