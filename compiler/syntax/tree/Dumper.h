// The writer behind Dump.h, one source file for expressions and statements, one for declarations.
#pragma once

#include "compiler/syntax/tree/Ast.h"

#include <fmt/format.h>

#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tbem::syntax {

std::string quoted(const std::string& text);

/// Depth is what the parser allows (Builder: 2000 levels).
class Dumper {
public:
  std::string out;

  void expr(const ast::Expr* e);
  void type(const ast::Type* t);
  void declaration(const ast::Decl& d);
  void line() {
    out += '\n';
    out.append(static_cast<std::size_t>(indent) * 2, ' ');
  }

private:
  int indent = 0;

  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
  }
  void exprs(const std::vector<const ast::Expr*>& list, const char* between) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i != 0) out += between;
      expr(list[i]);
    }
  }
  void form(const char* head, std::initializer_list<const ast::Expr*> parts) {
    add("({}", head);
    for (const ast::Expr* part : parts) {
      out += ' ';
      expr(part);
    }
    out += ')';
  }
  void form(const char* head, const std::vector<const ast::Expr*>& parts) {
    add("({}", head);
    for (const ast::Expr* part : parts) {
      out += ' ';
      expr(part);
    }
    out += ')';
  }
  void argument(const ast::Argument& a) {
    if (a.rest) out += "...";
    if (!a.name.empty()) add("{}: ", a.name.text);
    if (a.value != nullptr) expr(a.value);
  }
  void call(const ast::Call& c);
  void compound(const ast::Expr& e);
  void binders(const ast::Expr& e);
  void pattern(const ast::Pattern& p);
  void statement(const ast::Stmt& s);
  void body(const ast::Block& b);
  void parameters(const char* head, const std::vector<ast::Parameter>& list);
  void clauseExpr(const char* word, const ast::Expr* e);
  void parts(const char* word, const std::vector<ast::Part>& list);
  void clauses(const std::vector<ast::Clause>& list);
  void callable(const ast::Callable& c);
  void process(const ast::Process& p);
  void design(const ast::Design& d);
  void mutate(const ast::Mutate& m);
  void budgets(const std::vector<ast::Budget>& list);
  void names(const char* word, const std::vector<ast::Name>& list);
  void experiment(const ast::Decl& d);
};

}  // namespace tbem::syntax
