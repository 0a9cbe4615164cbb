// Operands: names, numbers, texts, calls, indices, lists, records.
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/parse/Build.h"

#include <algorithm>

namespace tbem::syntax {

const ast::Expr* Builder::postfix(P::PostfixContext* ctx) {
  const std::vector<P::SuffixContext*> suffixes = ctx->suffix();
  const int levels = static_cast<int>(suffixes.size());
  depth += levels;
  const ast::Expr* left = tooDeep(range(ctx)) ? file.make<ast::Error>(range(ctx)) : primary(ctx->primary());
  depth -= levels;
  if (toldDepth) return left;
  for (P::SuffixContext* each : suffixes) {
    const SrcRange where = cover(left->range, range(each));
    if (each->ID() != nullptr) {
      auto* made = file.make<ast::Member>(where);
      made->object = left;
      made->member = name(each->ID());
      left = made;
    } else if (each->LPAREN() != nullptr) {
      auto* made = file.make<ast::Call>(where);
      made->callee = left;
      if (each->arguments() != nullptr) arguments(each->arguments(), *made);
      left = made;
    } else {
      auto* made = file.make<ast::Index>(where);
      made->object = left;
      made->items = items(each->items());
      left = made;
    }
  }
  return left;
}

void Builder::arguments(P::ArgumentsContext* ctx, ast::Call& call) {
  bool separated = false;
  for (antlr4::tree::ParseTree* child : ctx->children) {
    if (auto* each = dynamic_cast<P::ArgumentContext*>(child)) {
      call.arguments.push_back(argument(each));
      continue;
    }
    auto* mark = dynamic_cast<antlr4::tree::TerminalNode*>(child);
    if (mark == nullptr || mark->getSymbol()->getType() != P::SEMI) continue;
    if (separated) {
      sink.report(diag::syntax_two_separators, range(mark->getSymbol()));
    } else {
      call.separator = static_cast<std::uint32_t>(call.arguments.size());
    }
    separated = true;
  }
}

ast::Argument Builder::argument(P::ArgumentContext* ctx, bool compares) {
  ast::Argument made;
  made.range = range(ctx);
  if (ctx->ELLIPSIS() != nullptr) {
    made.rest = true;
    return made;
  }
  made.name = name(ctx->ID());
  made.value = expr(ctx->expr());
  P::ComparisonContext* bare = ctx->expr()->comparison();
  if (!compares && made.name.empty() && bare != nullptr && bare->value().size() == 2 && bare->compare(0)->EQ() != nullptr) {
    const std::string left = text(range(bare->value(0)));
    const std::string right = text(range(bare->value(1)));
    const SrcRange mark = range(bare->compare(0)->start);
    const SrcRange gap{range(bare->value(0)).end, range(bare->value(1)).begin};
    // `out = 3` is a name and its value; `out + 1 = 3` may have been meant as a comparison.
    const auto* compared = ast::dynCast<ast::Binary>(made.value);
    const bool word = compared != nullptr && compared->left->kind == ast::NodeKind::NameRef;
    sink.report(diag::syntax_argument_equals, mark, left)
        .fix(gap, ": ", word ? Applicability::Certain : Applicability::Maybe)
        .note("a comparison as an argument stands in parentheses: `(" + left + " = " + right + ")`");
  }
  return made;
}

const ast::Expr* Builder::item(P::ItemContext* ctx) {
  if (ctx->expr() != nullptr) return expr(ctx->expr());
  auto* made = make<ast::Splice>(ctx);
  made->value = sum(ctx->sum());
  return made;
}

std::vector<const ast::Expr*> Builder::items(P::ItemsContext* ctx) {
  std::vector<const ast::Expr*> made;
  for (P::ItemContext* each : ctx->item()) made.push_back(item(each));
  return made;
}

std::vector<const ast::Expr*> Builder::values(const std::vector<P::ValueContext*>& list, std::size_t from) {
  std::vector<const ast::Expr*> made;
  for (std::size_t i = from; i < list.size(); ++i) made.push_back(value(list[i]));
  return made;
}

const ast::Expr* Builder::primary(P::PrimaryContext* ctx) {
  if (ctx->NUMBER() != nullptr && ctx->UNIT() != nullptr) {
    auto* made = make<ast::Unit>(ctx);
    made->number = text(range(ctx->NUMBER()->getSymbol()));
    made->unit = name(ctx->UNIT());
    return made;
  }
  if (ctx->NUMBER() != nullptr) {
    auto* made = make<ast::Number>(ctx);
    made->text = text(range(ctx));
    return made;
  }
  if (ctx->STRING() != nullptr) {
    auto* made = make<ast::String>(ctx);
    made->value = unescape(range(ctx));
    return made;
  }
  if (ctx->ENUMERATOR() != nullptr) {
    auto* made = make<ast::Enumerator>(ctx);
    made->name = member(ctx->ENUMERATOR()).text;
    return made;
  }
  if (ctx->TRUE_() != nullptr || ctx->FALSE_() != nullptr) {
    auto* made = make<ast::Bool>(ctx);
    made->value = ctx->TRUE_() != nullptr;
    return made;
  }
  if (ctx->TILDE() != nullptr) {
    auto* made = make<ast::Old>(ctx);
    made->name = name(ctx->ID());
    return made;
  }
  if (ctx->ID() != nullptr) {
    auto* made = make<ast::NameRef>(ctx);
    made->name = name(ctx->ID());
    return made;
  }
  if (ctx->LBRACK() != nullptr) return bracketed(ctx);
  if (ctx->LCURLY() != nullptr) return braces(ctx);
  if (ctx->expr().size() == 1) return expr(ctx->expr(0));
  auto* made = make<ast::Tuple>(ctx);
  for (P::ExprContext* each : ctx->expr()) made->items.push_back(expr(each));
  return made;
}

const ast::Expr* Builder::bracketed(P::PrimaryContext* ctx) {
  if (ctx->forIn().empty()) {
    auto* made = make<ast::List>(ctx);
    for (P::ItemContext* each : ctx->item()) made->items.push_back(item(each));
    return made;
  }
  auto* made = make<ast::Comprehension>(ctx);
  made->element = item(ctx->item(0));
  for (P::ForInContext* each : ctx->forIn()) made->generators.push_back({name(each->ID()), value(each->value())});
  return made;
}

const ast::Expr* Builder::braces(P::PrimaryContext* ctx) {
  const std::vector<P::EntryContext*> entries = ctx->entry();
  const bool named = !entries.empty() && entries[0]->ID() != nullptr;
  const auto other =
      std::find_if(entries.begin(), entries.end(), [&](P::EntryContext* each) { return (each->ID() != nullptr) != named; });
  if (other != entries.end()) sink.report(diag::syntax_mixed_braces, range(*other));
  if (named) {
    auto* made = make<ast::Record>(ctx);
    for (P::EntryContext* each : entries) made->fields.push_back({name(each->ID()), expr(each->expr())});
    return made;
  }
  auto* made = make<ast::Set>(ctx);
  for (P::EntryContext* each : entries) made->items.push_back(expr(each->expr()));
  return made;
}

std::string Builder::unescape(SrcRange where) {
  const std::string quoted = text(where);
  std::string made;
  for (std::size_t i = 1; i + 1 < quoted.size(); ++i) {
    if (quoted[i] != '\\') {
      made += quoted[i];
      continue;
    }
    const char letter = quoted[++i];
    switch (letter) {
      case 'n':
        made += '\n';
        break;
      case 't':
        made += '\t';
        break;
      case '"':
        made += '"';
        break;
      case '\\':
        made += '\\';
        break;
      default: {
        const Loc begin = where.begin + static_cast<Loc>(i - 1);
        sink.report(diag::syntax_bad_escape, {begin, begin + 2}, std::string(1, letter)).fix({begin, begin + 1}, "\\\\");
      }
    }
  }
  return made;
}

}  // namespace tbem::syntax
