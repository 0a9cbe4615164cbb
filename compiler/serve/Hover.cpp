#include "compiler/serve/Hover.h"

#include "compiler/show/reference/DocText.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tbem::serve {

namespace {

using sema::NameKind;

/// Up to the brace that opens its body, or its first line.
std::string headOf(const Reading& reading, const ast::Decl& decl) {
  if (const auto* callable = ast::dynCast<ast::Callable>(&decl))
    return fmt::format("{} {}", driver::kindOf(decl), driver::signature(reading.workspace.session, *callable));
  const std::string_view text = reading.sources().text(decl.range);
  std::string_view head = text.substr(0, text.find_first_of("{\n"));
  while (head.ends_with(' ')) head.remove_suffix(1);
  return std::string(head);
}

/// The word before a name inside a declaration that does not say by itself what it is.
std::string_view wordOf(NameKind kind) {
  switch (kind) {
    case NameKind::Parameter:
      return "parameter ";
    case NameKind::Tensor:
      return "tensor ";
    case NameKind::Dimension:
      return "dimension ";
    case NameKind::Result:
      return "result ";
    case NameKind::Factor:
      return "factor ";
    case NameKind::Loop:
      return "for ";
    case NameKind::Label:
      return "label ";
    default:
      return "";
  }
}

/// The parameter, result or statement of `decl` that declares the name there: the narrowest text that says it whole.
SrcRange declaringText(const ast::Decl& decl, SrcRange name) {
  SrcRange narrowest;
  const auto offer = [&](SrcRange range) {
    const bool narrower = !narrowest.valid() || range.end - range.begin < narrowest.end - narrowest.begin;
    if (range.valid() && holds(range, name) && narrower) narrowest = range;
  };
  const auto parameters = [&](const std::vector<ast::Parameter>& list) {
    for (const ast::Parameter& one : list) offer(one.range);
  };
  const auto block = [&](const ast::Block& body, const auto& self) -> void {
    for (const ast::Stmt* statement : body) {
      const auto* loop = ast::dynCast<ast::For>(statement);
      const auto* choice = ast::dynCast<ast::IfStmt>(statement);
      if (loop == nullptr && choice == nullptr) offer(statement->range);
      if (loop != nullptr) self(loop->body, self);
      if (choice != nullptr) self(choice->then, self);
      if (choice != nullptr) self(choice->otherwise, self);
    }
  };
  if (const auto* callable = ast::dynCast<ast::Callable>(&decl)) {
    parameters(callable->tensors);
    parameters(callable->parameters);
    for (const ast::Result& one : callable->results) offer(one.range);
    for (const ast::WeightStmt* weight : callable->weights) offer(weight->range);
    block(callable->body, block);
  } else if (const auto* function = ast::dynCast<ast::Function>(&decl)) {
    parameters(function->parameters);
    block(function->body, block);
  } else if (const auto* process = ast::dynCast<ast::Process>(&decl)) {
    for (const auto* side : {&process->inputs, &process->outputs})
      for (const auto& port : *side) parameters(port);
  } else if (const auto* design = ast::dynCast<ast::Design>(&decl)) {
    for (const ast::Factor& factor : design->factors) offer(factor.range);
    for (const ast::Input& input : design->inputs) offer(input.range);
  }
  return narrowest;
}

/// "of block `stage`, in std.vision"; "" where that is seen from the declaration itself.
std::string whereabouts(const Declared& holder, bool inside) {
  std::string text;
  if (inside) text = fmt::format("of {} `{}`", driver::kindOf(*holder.decl), holder.decl->name.text);
  if (!holder.module->name.empty()) text += fmt::format("{}in `{}`", text.empty() ? "" : ", ", holder.module->name);
  return text;
}

constexpr std::string_view kBuiltin = "of the language itself";

Hover hoverOf(const Reading& reading, const sema::Use& use) {
  const std::string word(reading.sources().text(use.range));
  if (use.kind == NameKind::Builtin) return {use.range, word, std::string(kBuiltin)};
  if (use.kind == NameKind::Elaborated) return {use.range, word, "known when the graph is built"};
  if (use.kind == NameKind::Module) {
    const sema::Resolved module = reading.program().resolve(reading.program().main(), word);
    return {use.range, "module " + (module ? module.module->name : word), ""};
  }
  const Declared top = reading.named(use.declaration);
  const Declared holder = top.decl != nullptr ? top : reading.holding(use.declaration);
  if (holder.decl == nullptr) return {use.range, word, ""};
  std::string documentation = top.decl != nullptr ? top.decl->documentation : "";
  const std::string where = whereabouts(holder, top.decl == nullptr);
  if (!where.empty()) documentation += fmt::format("{}{}", documentation.empty() ? "" : "\n\n", where);
  std::string text = top.decl != nullptr ? headOf(reading, *top.decl) : declarationText(reading, use.declaration);
  if (top.decl == nullptr && text.empty()) text = word;
  return {use.range, std::string(top.decl != nullptr ? "" : wordOf(use.kind)) + text, documentation};
}

}  // namespace

std::string declarationText(const Reading& reading, SrcRange declaration) {
  const Declared holder = reading.holding(declaration);
  if (holder.decl == nullptr) return "";
  if (holder.decl->name.range == declaration) return headOf(reading, *holder.decl);
  const SrcRange text = declaringText(*holder.decl, declaration);
  return sourceText(reading.sources(), text.valid() ? text : declaration);
}

std::optional<Hover> hoverAt(const Reading& reading, Loc place) {
  const std::span<const sema::Use> found = reading.uses().at(place);
  if (found.empty()) return std::nullopt;
  // A factor stands where the parameter that it fills is used too: what is declared elsewhere says more.
  const auto other = std::ranges::find_if(found, [](const sema::Use& use) { return !use.isDeclaration(); });
  return hoverOf(reading, other == found.end() ? found.front() : *other);
}

}  // namespace tbem::serve
