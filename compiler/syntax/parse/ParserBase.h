// The superclass of the generated parser: it counts the rules that are open, so that no input can overflow the stack.
#pragma once

#include <antlr4-runtime.h>

namespace tbem::grammar {

/// Thrown out of the generated parser, caught in Parse.cpp.
struct TooDeep {
  antlr4::Token* where;
};

class ParserBase : public antlr4::Parser {
public:
  using antlr4::Parser::Parser;

  static constexpr int kMaxOpenRules = 1000;

  void enterRule(antlr4::ParserRuleContext* context, size_t state, size_t rule) override {
    enter();
    Parser::enterRule(context, state, rule);
  }
  void enterRecursionRule(antlr4::ParserRuleContext* context, size_t state, size_t rule, int precedence) override {
    enter();
    Parser::enterRecursionRule(context, state, rule, precedence);
  }
  void unrollRecursionContexts(antlr4::ParserRuleContext* parent) override {
    --open;
    Parser::unrollRecursionContexts(parent);
  }
  /// Hides Parser::exitRule, which is not virtual; generated code calls it unqualified.
  void exitRule() {
    --open;
    Parser::exitRule();
  }
  void forgetOpenRules() { open = 0; }

private:
  void enter() {
    if (++open > kMaxOpenRules) throw TooDeep{getCurrentToken()};
  }
  int open = 0;
};

}  // namespace tbem::grammar
