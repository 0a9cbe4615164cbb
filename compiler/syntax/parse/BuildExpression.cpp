// Operators of expressions, loosest first. Chains such as `a + b + c` lean left without bound in the parser's tree, so they are
// walked by loops; `depth` counts the levels of our tree and is limited.
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/parse/Build.h"

namespace tbem::syntax {

namespace {
constexpr int kMaxDepth = 2000;

ast::BinaryOp binaryOp(std::size_t token) {
  using P = grammar::TbemParser;
  using enum ast::BinaryOp;
  switch (token) {
    case P::PLUS:
      return Add;
    case P::MINUS:
      return Sub;
    case P::STAR:
    case P::TIMES:
      return Mul;
    case P::SLASH:
      return Divide;
    case P::DIV:
      return FloorDiv;
    case P::CDIV:
      return CeilDiv;
    case P::MOD:
      return Mod;
    case P::REM:
      return Rem;
    case P::POW:
      return Power;
    case P::EQ:
      return Equal;
    case P::NE:
      return NotEqual;
    case P::LT:
      return Less;
    case P::LE:
      return LessEqual;
    case P::GT:
      return Greater;
    case P::GE:
      return GreaterEqual;
    case P::AND:
      return And;
    case P::OR:
      return Or;
    case P::IMPLIES:
      return Implies;
    default:
      return Equivalent;
  }
}
}  // namespace

bool Builder::tooDeep(SrcRange where) {
  if (depth <= kMaxDepth) return false;
  if (!toldDepth) sink.report(diag::syntax_too_deep, where);
  toldDepth = true;
  return true;
}

const ast::Expr* Builder::binary(ast::BinaryOp op, const antlr4::Token* mark, const ast::Expr* left, const ast::Expr* right) {
  auto* made = file.make<ast::Binary>(cover(left->range, right->range));
  made->op = op;
  made->opRange = range(mark);
  made->left = left;
  made->right = right;
  return made;
}

const ast::Expr* Builder::expr(P::ExprContext* ctx) {
  std::vector<P::ExprContext*> chain;
  P::ExprContext* leaf = ctx;
  while (leaf->expr().size() == 2) {
    chain.push_back(leaf);
    leaf = leaf->expr(0);
  }
  depth += static_cast<int>(chain.size()) + 1;
  const ast::Expr* left = tooDeep(range(ctx)) ? file.make<ast::Error>(range(ctx)) : exprLeaf(leaf);
  --depth;
  for (; !chain.empty(); chain.pop_back()) {
    P::ExprContext* each = chain.back();
    if (!toldDepth) left = binary(binaryOp(each->op->getType()), each->op, left, expr(each->expr(1)));
    --depth;
  }
  return left;
}

const ast::Expr* Builder::exprLeaf(P::ExprContext* ctx) {
  if (ctx->comparison() != nullptr) return comparison(ctx->comparison());
  if (ctx->conditional() != nullptr) return conditional(ctx->conditional());
  if (ctx->quantifier() != nullptr) return quantifier(ctx->quantifier());
  if (ctx->skipping() != nullptr) {
    if (ctx != skipPlace) sink.report(diag::syntax_skip_place, range(ctx->skipping()->SKIP_()->getSymbol()));
    return skipping(ctx->skipping());
  }
  auto* made = make<ast::Unary>(ctx);
  made->op = ast::UnaryOp::Not;
  made->operand = expr(ctx->expr(0));
  return made;
}

const ast::Expr* Builder::conditional(P::ConditionalContext* ctx) {
  auto* made = make<ast::IfExpr>(ctx);
  made->condition = expr(ctx->expr(0));
  made->then = expr(ctx->expr(1));
  if (ctx->expr().size() > 2) {
    made->otherwise = expr(ctx->expr(2));
  } else if (!elseOptional) {
    sink.report(diag::syntax_if_without_else, range(ctx->IF()->getSymbol()));
  }
  return made;
}

const ast::Expr* Builder::quantifier(P::QuantifierContext* ctx) {
  auto* made = make<ast::Quantifier>(ctx);
  made->universal = ctx->word->getType() == P::FORALL;
  for (P::BindingContext* each : ctx->binding()) made->variables.push_back({name(each->ID()), value(each->value())});
  made->body = expr(ctx->expr());
  return made;
}

const ast::Expr* Builder::skipping(P::SkippingContext* ctx) {
  auto* made = make<ast::Skip>(ctx);
  made->computed = value(ctx->value(0));
  made->condition = expr(ctx->expr());
  made->leaving = value(ctx->value(1));
  return made;
}

const ast::Expr* Builder::comparison(P::ComparisonContext* ctx) {
  const std::vector<P::ValueContext*> operands = ctx->value();
  const ast::Expr* left = value(operands[0]);
  if (operands.size() == 1) return left;
  antlr4::Token* mark = ctx->compare(0)->start;
  const ast::Expr* right = value(operands[1]);
  if (operands.size() > 2) {
    antlr4::Token* second = ctx->compare(1)->start;
    sink.report(diag::syntax_chained_comparison, range(second))
        .label(range(mark), "the first comparison")
        .note("write `" + text(range(operands[0])) + " " + mark->getText() + " " + text(range(operands[1])) + " and " +
              text(range(operands[1])) + " " + second->getText() + " " + text(range(operands[2])) + "`");
  }
  if (mark->getType() == P::IN || mark->getType() == P::INSET || mark->getType() == P::NOTIN)
    return membership(mark, left, right);
  return binary(binaryOp(mark->getType()), mark, left, right);
}

/// `x in s`, `x inset s` as `inset(x, s)`; `x notin s` as what is not.
const ast::Expr* Builder::membership(const antlr4::Token* mark, const ast::Expr* left, const ast::Expr* right) {
  const SrcRange whole = cover(left->range, right->range);
  auto* word = file.make<ast::NameRef>(range(mark));
  word->name = {"inset", word->range};
  auto* call = file.make<ast::Call>(whole);
  call->callee = word;
  for (const ast::Expr* each : {left, right}) call->arguments.push_back({{}, each, false, each->range});
  if (mark->getType() != P::NOTIN) return call;
  auto* negated = file.make<ast::Unary>(whole);
  negated->op = ast::UnaryOp::Not;
  negated->operand = call;
  return negated;
}

const ast::Expr* Builder::value(P::ValueContext* ctx) {
  const ast::Expr* low = pipe(ctx->pipe(0));
  if (ctx->op == nullptr) return low;
  auto* made = make<ast::Range>(ctx);
  made->low = low;
  made->high = pipe(ctx->pipe(1));
  made->inclusive = ctx->op->getType() == P::RANGE_EQ;
  if (ctx->sum() != nullptr) made->step = sum(ctx->sum());
  return made;
}

const ast::Expr* Builder::pipe(P::PipeContext* ctx) {
  const std::vector<P::PostfixContext*> targets = ctx->postfix();
  const int levels = static_cast<int>(targets.size());
  depth += levels;
  const ast::Expr* left = tooDeep(range(ctx)) ? file.make<ast::Error>(range(ctx)) : sum(ctx->sum());
  depth -= levels;
  if (toldDepth) return left;
  for (P::PostfixContext* each : targets) {
    const ast::Expr* target = postfix(each);
    const bool callable = target->kind == ast::NodeKind::NameRef || target->kind == ast::NodeKind::Member ||
                          target->kind == ast::NodeKind::Call || target->kind == ast::NodeKind::Index ||
                          target->kind == ast::NodeKind::Error;
    if (!callable) sink.report(diag::syntax_pipe_target, target->range, text(target->range));
    auto* made = file.make<ast::Pipe>(cover(left->range, target->range));
    made->input = left;
    made->target = target;
    left = made;
  }
  for (P::PipeTailContext* tail : ctx->pipeTail()) {
    const SrcRange before{range(ctx).begin, range(tail).begin};
    std::string piped = text(before);
    while (!piped.empty() && (piped.back() == ' ' || piped.back() == '\n')) piped.pop_back();
    const SrcRange whole{before.begin, before.begin + static_cast<Loc>(piped.size())};
    sink.report(diag::syntax_pipe_then_arithmetic, range(tail->op), tail->op->getText())
        .fix({whole.begin, whole.begin}, "(", Applicability::Maybe)
        .fix({whole.end, whole.end}, ")", Applicability::Maybe);
  }
  return left;
}

const ast::Expr* Builder::sum(P::SumContext* ctx) {
  std::vector<P::SumContext*> chain;
  P::SumContext* leaf = ctx;
  while (leaf->sum().size() == 2) {
    chain.push_back(leaf);
    leaf = leaf->sum(0);
  }
  depth += static_cast<int>(chain.size()) + 1;
  const ast::Expr* left = nullptr;
  if (tooDeep(range(ctx))) {
    left = file.make<ast::Error>(range(ctx));
  } else if (leaf->postfix() != nullptr) {
    left = postfix(leaf->postfix());
  } else {
    auto* made = make<ast::Unary>(leaf);
    made->op = ast::UnaryOp::Negate;
    made->operand = sum(leaf->sum(0));
    left = made;
  }
  --depth;
  for (; !chain.empty(); chain.pop_back()) {
    P::SumContext* each = chain.back();
    if (!toldDepth) left = binary(binaryOp(each->op->getType()), each->op, left, sum(each->sum(1)));
    --depth;
  }
  return left;
}

}  // namespace tbem::syntax
