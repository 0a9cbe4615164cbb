#include "compiler/serve/Tokens.h"

#include <optional>

namespace tbem::serve {

namespace {

std::optional<TokenType> typeOf(sema::NameKind kind) {
  using sema::NameKind;
  switch (kind) {
    case NameKind::Let:
    case NameKind::Var:
    case NameKind::Loop:
    case NameKind::Label:
    case NameKind::Weight:
    case NameKind::Buffer:
    case NameKind::Result:
    case NameKind::Constant:
      return TokenType::Variable;
    case NameKind::Parameter:
    case NameKind::Tensor:
    case NameKind::Dimension:
      return TokenType::Parameter;
    case NameKind::Factor:
      return TokenType::Property;
    case NameKind::Function:
    case NameKind::Callable:
    case NameKind::Process:
    case NameKind::Builtin:
      return TokenType::Function;
    case NameKind::Design:
    case NameKind::Regression:
    case NameKind::Training:
    case NameKind::Dataset:
    case NameKind::Declared:
      return TokenType::Class;
    case NameKind::Module:
      return TokenType::Namespace;
    case NameKind::Elaborated:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Token> tokensOf(const Reading& reading) {
  std::vector<Token> tokens;
  for (const sema::Use& use : reading.uses().all()) {
    const std::optional<TokenType> type = typeOf(use.kind);
    const bool empty = use.range.begin == use.range.end;
    if (!type || empty || !reading.isOwn(use.range)) continue;
    if (!tokens.empty() && tokens.back().range.end > use.range.begin) continue;
    std::uint8_t modifiers = use.isDeclaration() ? kDeclares : 0;
    if (use.kind == sema::NameKind::Let || use.kind == sema::NameKind::Constant) modifiers |= kReadOnly;
    const bool elsewhere = use.declaration.valid() && !reading.isOwn(use.declaration);
    if (use.kind == sema::NameKind::Builtin || elsewhere) modifiers |= kOfLibrary;
    tokens.push_back({use.range, *type, modifiers});
  }
  return tokens;
}

}  // namespace tbem::serve
