// Operators, blocks, networks, functions, processes: headers, types, clauses.
#include "compiler/diagnostics/tables/Syntax.h"
#include "compiler/syntax/layout/Words.h"
#include "compiler/syntax/parse/Build.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tbem::syntax {

namespace {
/// `tensor[..]`, `tensor` of any shape, or a list of one of them.
bool isTensor(const ast::Type* type) {
  if (const auto* list = ast::dynCast<ast::ListType>(type)) return isTensor(list->element);
  if (const auto* named = ast::dynCast<ast::NamedType>(type)) return named->name.text == "tensor";
  return type->kind == ast::NodeKind::TensorType;
}

/// A text whose layout has no meaning: its lines without the blanks around them, and of empty lines one at a time.
std::string withoutLayout(const std::string& text) {
  std::string kept;
  std::size_t empty = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::size_t first = text.find_first_not_of(" \t\r", at);
    if (first >= end) {
      ++empty;
    } else {
      if (!kept.empty()) kept += empty == 0 ? "\n" : "\n\n";
      kept += text.substr(first, text.find_last_not_of(" \t\r", end - 1) + 1 - first);
      empty = 0;
    }
    at = end + 1;
  }
  return kept;
}
}  // namespace

const ast::Type* Builder::type(P::TypeContext* ctx) {
  if (ctx->type() != nullptr) {
    const ast::Name word = name(ctx->ID());
    auto* made = make<ast::ListType>(ctx);
    if (word.text == "seq")
      made->list = ast::ListKind::Sequence;
    else if (word.text == "set")
      made->list = ast::ListKind::Set;
    else if (word.text != "list")
      sink.report(diag::syntax_type_of, word.range, word.text);
    made->element = type(ctx->type());
    return made;
  }
  if (ctx->LCURLY() != nullptr) {
    auto* made = make<ast::EnumType>(ctx);
    for (antlr4::tree::TerminalNode* each : ctx->ENUMERATOR()) made->members.push_back(member(each));
    return made;
  }
  if (ctx->LBRACK() != nullptr) {
    auto* made = make<ast::TensorType>(ctx);
    made->dtype = name(ctx->ID());
    if (made->dtype.text == "tensor") made->dtype = {};
    if (ctx->items() != nullptr) made->dims = items(ctx->items());
    return made;
  }
  auto* made = make<ast::NamedType>(ctx);
  made->name = name(ctx->ID());
  return made;
}

void Builder::parameters(P::ParametersContext* ctx, std::vector<ast::Parameter>& out) {
  if (ctx == nullptr) return;
  for (P::ParameterGroupContext* group : ctx->parameterGroup()) {
    const ast::Type* shared = type(group->type());
    const ast::Expr* domain = group->value() != nullptr ? value(group->value()) : nullptr;
    const ast::Expr* byDefault = group->expr() != nullptr ? expr(group->expr()) : nullptr;
    for (antlr4::tree::TerminalNode* each : group->ID()) {
      const ast::Name id = name(each);
      out.push_back({id, shared, domain, byDefault, cover(id.range, range(group))});
    }
  }
}

ast::Decl* Builder::callable(P::CallableContext* ctx) {
  auto* made = make<ast::Callable>(ctx);
  made->name = name(ctx->ID());
  switch (ctx->kind->getType()) {
    case P::OPERATOR:
      made->callable = ast::CallableKind::Operator;
      break;
    case P::BLOCK:
      made->callable = ast::CallableKind::Block;
      break;
    case P::DATASET:
      made->callable = ast::CallableKind::Dataset;
      break;
    default:
      made->callable = ast::CallableKind::Network;
  }
  if (ctx->SEMI() != nullptr) {
    const std::size_t mark = ctx->SEMI()->getSymbol()->getTokenIndex();
    for (P::ParametersContext* each : ctx->parameters()) {
      parameters(each, each->start->getTokenIndex() < mark ? made->tensors : made->parameters);
    }
  } else if (!ctx->parameters().empty()) {
    std::vector<ast::Parameter> all;
    parameters(ctx->parameters(0), all);
    for (ast::Parameter& each : all) (isTensor(each.type) ? made->tensors : made->parameters).push_back(each);
  }
  if (ctx->results() != nullptr) {
    for (P::ResultContext* each : ctx->results()->result())
      made->results.push_back({name(each->ID()), type(each->type()), range(each)});
  }
  for (P::ClauseContext* each : ctx->clause()) {
    if (!broken(each)) clause(each, *made);
  }
  made->hasBody = ctx->block() != nullptr;
  if (made->hasBody) made->body = block(ctx->block());
  return made;
}

void Builder::clause(P::ClauseContext* ctx, ast::Callable& out) {
  if (ctx->PRE() != nullptr) {
    out.pre.push_back(expr(ctx->expr(0)));
  } else if (ctx->POST() != nullptr) {
    out.post.push_back(expr(ctx->expr(0)));
  } else if (ctx->REQUIRES() != nullptr) {
    for (P::ExprContext* each : ctx->expr()) out.requirements.push_back(expr(each));
  } else if (ctx->weights() != nullptr) {
    for (const ast::WeightStmt* each : weights(ctx->weights())) out.weights.push_back(each);
  } else if (ctx->ELEMENTWISE() != nullptr) {
    out.elementwise.push_back({name(ctx->ID()), expr(ctx->expr(0))});
  } else if (ctx->NATIVE() != nullptr) {
    if (ctx->STRING() != nullptr) {
      const SrcRange where = range(ctx->STRING()->getSymbol());
      auto* symbol = file.make<ast::String>(where);
      symbol->value = unescape(where);
      out.nativeSymbol = symbol;
    } else {  // a call of a primitive, or the word `opaque` alone
      const ast::Expr* const body = postfix(ctx->postfix());
      const auto* const word = ast::dynCast<ast::NameRef>(body);
      out.native = ast::dynCast<ast::Call>(body);
      if (word != nullptr && word->name.text == "opaque") {
        auto* const made = make<ast::Call>(ctx->postfix());
        made->callee = word;
        out.native = made;
      } else if (out.native == nullptr || out.native->callee->kind != ast::NodeKind::NameRef) {
        out.native = nullptr;
        sink.report(diag::syntax_native_call, range(ctx->postfix()));
      }
    }
  } else if (ctx->WORKSPACE() != nullptr) {
    if (out.workspace != nullptr) sink.report(diag::syntax_repeated_clause, range(ctx->start), "workspace");
    elseOptional = true;
    out.workspace = expr(ctx->expr(0));
    elseOptional = false;
  } else if (ctx->FALLBACK() != nullptr) {
    out.fallback = name(ctx->ID());
  } else if (ctx->word != nullptr) {
    const std::size_t word = ctx->word->getType();
    std::vector<ast::Part>& parts = word == P::FLOPS ? out.flops : word == P::BACKWARD ? out.backward : out.updates;
    elseOptional = word == P::FLOPS;
    for (P::PartContext* each : ctx->part()) parts.push_back({name(each->ID()), expr(each->expr())});
    elseOptional = false;
  } else {
    unknownClause(ctx->unknownClause());
  }
}

void Builder::unknownClause(P::UnknownClauseContext* ctx) {
  const ast::Name word = name(ctx->ID());
  std::vector<std::string> candidates;
  for (const SoftWord& soft : softWords()) {
    if (soft.kind == WordClass::Header || soft.kind == WordClass::Anywhere) candidates.emplace_back(soft.text);
  }
  Diagnostic& told = sink.report(diag::syntax_no_clause, word.range, word.text, "a declaration's header");
  const std::string near = nearest(word.text, candidates);
  if (!near.empty()) told.fix(word.range, near);
}

ast::Decl* Builder::function(P::FunctionContext* ctx) {
  auto* made = make<ast::Function>(ctx);
  made->name = name(ctx->ID());
  for (P::ParametersContext* each : ctx->parameters()) parameters(each, made->parameters);
  made->result = type(ctx->type());
  made->body = block(ctx->block());
  return made;
}

ast::Decl* Builder::process(P::ProcessContext* ctx) {
  auto* made = make<ast::Process>(ctx);
  made->name = name(ctx->ID());
  const std::size_t close = ctx->RPAREN()->getSymbol()->getTokenIndex();
  for (P::PortsContext* side : ctx->ports()) {
    for (P::ParametersContext* port : side->parameters()) {
      std::vector<ast::Parameter> list;
      parameters(port, list);
      (side->start->getTokenIndex() < close ? made->inputs : made->outputs).push_back(std::move(list));
    }
  }
  for (P::ProcessClauseContext* each : ctx->processClause()) {
    if (each->unknownClause() != nullptr) {
      unknownClause(each->unknownClause());
    } else if (each->EXT() != nullptr) {
      for (P::ExternalContext* external : each->external()) externals(external, *made);
    } else if (each->REMARK() != nullptr) {
      if (each->FREE_TEXT() != nullptr) made->comment = withoutLayout(text(range(each->FREE_TEXT()->getSymbol())));
    } else {
      const ast::Expr*& slot = each->PRE() != nullptr ? made->pre : made->post;
      if (slot != nullptr) {
        sink.report(diag::syntax_repeated_clause, range(each->start), each->PRE() != nullptr ? "pre" : "post");
      }
      slot = expr(each->expr());
    }
  }
  return made;
}

void Builder::externals(P::ExternalContext* ctx, ast::Process& out) {
  const ast::Name access = name(ctx->access);
  if (access.text != "rd" && access.text != "wr") sink.report(diag::syntax_external_access, access.range, access.text);
  const ast::Type* shared = type(ctx->type());
  const std::vector<antlr4::tree::TerminalNode*> ids = ctx->ID();
  for (std::size_t i = 1; i < ids.size(); ++i) out.externals.push_back({access.text == "wr", name(ids[i]), shared});
}

}  // namespace tbem::syntax
