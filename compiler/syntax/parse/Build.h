// From the generated parser's tree to ours. One class, one source file a family of constructs.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/tree/Ast.h"

#include <TbemParser.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::syntax {

class Builder {
public:
  using P = grammar::TbemParser;
  using Context = antlr4::ParserRuleContext;
  using Docs = std::map<std::size_t, std::string>;

  /// `repaired`: the parser found mistakes, so that parts of its tree may be broken.
  Builder(const Source& source, const Docs& docs, DiagnosticSink& sink, ast::File& file, bool repaired)
      : source(source), docs(docs), sink(sink), file(file), repaired(repaired) {}

  void program(P::ProgramContext* ctx);
  void expression(P::ExpressionContext* ctx);

private:
  const Source& source;
  const Docs& docs;
  DiagnosticSink& sink;
  ast::File& file;
  bool repaired;
  int depth = 0;  ///< levels of the tree that are open above the node being built
  bool toldDepth = false;
  bool elseOptional = false;                  ///< in a part of `flops`, in `workspace`: `if c then n` counts 0 otherwise
  const P::ExprContext* skipPlace = nullptr;  ///< the right-hand side that may be a `skip`

  // Build.cpp: ranges, names, parts of the tree that the parser could not read.
  SrcRange range(const antlr4::Token* token) const;
  SrcRange range(const Context* ctx) const;
  std::string text(SrcRange where) const;
  ast::Name name(antlr4::tree::TerminalNode* node) const;
  ast::Name name(const antlr4::Token* token) const;
  ast::Name member(antlr4::tree::TerminalNode* node) const;
  template <class T>
  T* make(const Context* ctx) {
    return file.make<T>(range(ctx));
  }
  bool broken(Context* ctx) const;
  void top(P::TopContext* ctx);
  ast::Decl* declaration(P::DeclarationContext* ctx);
  void unknown(P::UnknownContext* ctx, bool atTop);

  // BuildExpression.cpp, BuildOperand.cpp
  const ast::Expr* expr(P::ExprContext* ctx);
  const ast::Expr* exprLeaf(P::ExprContext* ctx);
  const ast::Expr* conditional(P::ConditionalContext* ctx);
  const ast::Expr* quantifier(P::QuantifierContext* ctx);
  const ast::Expr* skipping(P::SkippingContext* ctx);
  const ast::Expr* comparison(P::ComparisonContext* ctx);
  const ast::Expr* membership(const antlr4::Token* mark, const ast::Expr* left, const ast::Expr* right);
  const ast::Expr* value(P::ValueContext* ctx);
  const ast::Expr* pipe(P::PipeContext* ctx);
  const ast::Expr* sum(P::SumContext* ctx);
  const ast::Expr* binary(ast::BinaryOp op, const antlr4::Token* mark, const ast::Expr* left, const ast::Expr* right);
  const ast::Expr* postfix(P::PostfixContext* ctx);
  const ast::Expr* primary(P::PrimaryContext* ctx);
  const ast::Expr* bracketed(P::PrimaryContext* ctx);
  const ast::Expr* braces(P::PrimaryContext* ctx);
  const ast::Expr* item(P::ItemContext* ctx);
  std::vector<const ast::Expr*> items(P::ItemsContext* ctx);
  std::vector<const ast::Expr*> values(const std::vector<P::ValueContext*>& list, std::size_t from = 0);
  void arguments(P::ArgumentsContext* ctx, ast::Call& call);
  /// `compares`: a `=` at the outermost compares, and is no slip for `name: value`.
  ast::Argument argument(P::ArgumentContext* ctx, bool compares = false);
  std::string unescape(SrcRange where);
  bool tooDeep(SrcRange where);

  // BuildStatement.cpp
  ast::Block block(P::BlockContext* ctx);
  void statement(P::StatementContext* ctx, ast::Block& out);
  const ast::Stmt* ifStatement(P::IfStatementContext* ctx);
  ast::Pattern pattern(P::PatternContext* ctx);
  std::vector<const ast::WeightStmt*> weights(P::WeightsContext* ctx);

  // BuildCallable.cpp
  const ast::Type* type(P::TypeContext* ctx);
  void parameters(P::ParametersContext* ctx, std::vector<ast::Parameter>& out);
  ast::Decl* callable(P::CallableContext* ctx);
  void clause(P::ClauseContext* ctx, ast::Callable& out);
  void unknownClause(P::UnknownClauseContext* ctx);
  void externals(P::ExternalContext* ctx, ast::Process& out);
  ast::Decl* function(P::FunctionContext* ctx);
  ast::Decl* process(P::ProcessContext* ctx);

  // BuildExperiment.cpp, BuildDesign.cpp
  struct Entry;  ///< one clause of a `{ }` body: a word and what it is given
  ast::Decl* importing(P::ImportingContext* ctx);
  ast::Decl* mutate(P::MutateContext* ctx);
  ast::Decl* design(P::DesignContext* ctx);
  ast::Decl* measure(P::MeasureContext* ctx);
  ast::Decl* regress(P::RegressContext* ctx);
  ast::Decl* fit(P::FitContext* ctx);
  ast::Decl* train(P::TrainContext* ctx);
  ast::Decl* perturb(P::PerturbContext* ctx);
  std::vector<Entry> entries(P::ConfigContext* ctx);
  bool known(const Entry& entry, std::string_view what, const std::vector<std::string>& words);
  bool isSetting(const ast::Name& name, antlr4::tree::TerminalNode* colon, Context* value, std::string_view listed);
  void factors(P::ConfigClauseContext* ctx, ast::Design& out);
  template <class Ctx>
  ast::Factor factor(Ctx* ctx);
  ast::Input input(P::InputPartContext* ctx);
  void budget(const Entry& entry, std::vector<ast::Budget>& out);
  void designClause(const Entry& entry, ast::Design& out);
  const ast::Expr* single(const Entry& entry);
  bool fresh(const Entry& entry, std::set<std::string>& seen);
  std::vector<ast::Name> nameList(const Entry& entry);
  ast::Clause clause(Entry& entry);
  std::vector<ast::Clause> clauses(P::ConfigContext* ctx, std::string_view what, const std::vector<std::string>& words);
};

struct Builder::Entry {
  P::ConfigClauseContext* ctx = nullptr;
  ast::Name word;
  std::vector<ast::Argument> items;
};

/// Words that begin a clause of a design.
const std::vector<std::string>& designWords();

}  // namespace tbem::syntax
