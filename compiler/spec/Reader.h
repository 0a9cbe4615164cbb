// Evaluates the conditions of a process over unknowns. Internal to this folder.
#pragma once

#include "compiler/sema/Evaluator.h"
#include "compiler/spec/Process.h"

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
  bool keepsArms() const override { return true; }
  void madeArms(ExprId made) override { arms.insert(static_cast<std::uint32_t>(made)); }

  /// The values that a type and an `in` allow. Nothing after a report.
  std::optional<Domain> domainOf(const std::string& name, const ast::Type& type, const ast::Expr* domain);
  SymbolId unknown(std::string name, SrcRange range, bool isOutput, bool isTruth, Domain domain);
  sema::Value valueOf(SymbolId symbol) const;
  std::optional<Condition> condition(const ast::Expr& expr, bool negated);
  Condition join(Condition::Kind kind, std::vector<Condition> parts, SrcRange range);

  ProcessModel& model;

private:
  bool declare();
  bool port(const std::vector<ast::Parameter>& list, bool isOutput, std::optional<SymbolId> presence);
  bool external(const ast::Process::External& external);
  void exactlyOne(const std::vector<SymbolId>& presences);

  std::optional<Condition> logic(const ast::Binary& expr, bool negated);
  std::optional<Condition> choice(const ast::IfExpr& expr, bool negated);
  std::optional<Condition> quantifier(const ast::Quantifier& expr, bool negated);
  bool instances(const ast::Quantifier& expr, std::size_t variable, bool negated, std::vector<Condition>& out);
  bool openRange(const ast::Quantifier& expr, std::size_t variable, const sema::Value& range, bool negated,
                 std::vector<Condition>& out);
  std::optional<Condition> leaf(const ast::Expr& expr, bool negated);
  Condition lift(Condition leaf);
  ExprId isNot(ExprId expr) { return pool.make(sema::ExprOp::Not, expr); }
  void findQuotients(const ast::Expr& root);

  Session& session;
  sema::Frame names;
  std::map<std::string, SymbolId, std::less<>> before;     ///< of `~x`
  std::map<std::string, SymbolId, std::less<>> presences;  ///< of `bound(x)`
  std::set<std::uint32_t> arms;                            ///< expressions that an `if` of the text made
  int instanceDepth = 0;                                   ///< inside quantifiers
  int nesting = 0;
};

}  // namespace tbem::spec
