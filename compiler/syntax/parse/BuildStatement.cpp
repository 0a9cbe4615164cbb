// Statements of bodies.
#include "compiler/syntax/parse/Build.h"

namespace tbem::syntax {

ast::Block Builder::block(P::BlockContext* ctx) {
  ast::Block made;
  for (P::StatementContext* each : ctx->statement()) {
    if (!broken(each)) statement(each, made);
  }
  return made;
}

ast::Pattern Builder::pattern(P::PatternContext* ctx) {
  ast::Pattern made;
  made.range = range(ctx);
  made.isTuple = ctx->LPAREN() != nullptr;
  for (antlr4::tree::TerminalNode* each : ctx->ID()) made.names.push_back(name(each));
  return made;
}

void Builder::statement(P::StatementContext* ctx, ast::Block& out) {
  if (ctx->unknown() != nullptr) return unknown(ctx->unknown(), false);
  skipPlace = ctx->pattern() != nullptr ? ctx->expr(0) : nullptr;
  if (ctx->weights() != nullptr) {
    for (const ast::WeightStmt* each : weights(ctx->weights())) out.push_back(each);
    return;
  }
  if (ctx->ifStatement() != nullptr) {
    out.push_back(ifStatement(ctx->ifStatement()));
  } else if (ctx->word != nullptr) {
    auto* made = make<ast::Let>(ctx);
    made->isVar = ctx->word->getType() == P::VAR;
    made->pattern = pattern(ctx->pattern());
    made->value = expr(ctx->expr(0));
    out.push_back(made);
  } else if (ctx->pattern() != nullptr) {
    auto* made = make<ast::Assign>(ctx);
    made->pattern = pattern(ctx->pattern());
    made->value = expr(ctx->expr(0));
    out.push_back(made);
  } else if (ctx->FOR() != nullptr) {
    auto* made = make<ast::For>(ctx);
    made->variable = name(ctx->ID(0));
    made->label = name(ctx->ID(1));
    made->domain = value(ctx->value());
    made->body = block(ctx->block());
    out.push_back(made);
  } else if (ctx->RETURN() != nullptr) {
    auto* made = make<ast::Return>(ctx);
    made->value = expr(ctx->expr(0));
    out.push_back(made);
  } else if (ctx->EXIT() != nullptr) {
    auto* made = make<ast::Exit>(ctx);
    made->value = expr(ctx->expr(0));
    made->condition = expr(ctx->expr(1));
    out.push_back(made);
  } else {
    auto* made = make<ast::Assert>(ctx);
    made->condition = expr(ctx->expr(0));
    if (ctx->expr().size() > 1) made->message = expr(ctx->expr(1));
    out.push_back(made);
  }
}

const ast::Stmt* Builder::ifStatement(P::IfStatementContext* ctx) {
  auto* first = make<ast::IfStmt>(ctx);
  ast::IfStmt* made = first;
  for (;;) {  // a chain of `else if` may be long
    made->condition = expr(ctx->expr());
    made->then = block(ctx->block(0));
    made->hasElse = ctx->ELSE() != nullptr;
    if (ctx->ifStatement() == nullptr) break;
    auto* next = make<ast::IfStmt>(ctx->ifStatement());
    made->otherwise.push_back(next);
    made = next;
    ctx = ctx->ifStatement();
  }
  if (made->hasElse) made->otherwise = block(ctx->block(1));
  return first;
}

std::vector<const ast::WeightStmt*> Builder::weights(P::WeightsContext* ctx) {
  std::vector<const ast::WeightStmt*> list;
  for (P::WeightPartContext* each : ctx->weightPart()) {
    auto* made = make<ast::WeightStmt>(each);
    made->isBuffer = ctx->word->getType() == P::BUFFER;
    made->name = name(each->ID());
    made->type = type(each->type());
    if (each->value() != nullptr) made->init = value(each->value());
    if (each->expr() != nullptr) made->condition = expr(each->expr());
    list.push_back(made);
  }
  return list;
}

}  // namespace tbem::syntax
