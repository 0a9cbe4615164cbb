#include "compiler/serve/Hover.h"

#include "compiler/serve/CallText.h"
#include "compiler/show/reference/DocText.h"
#include "compiler/show/reference/WordPages.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

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

/// Whether the word there is none of the language's, whatever it is called: a name before a colon (`mac: 2 * n`), a member behind
/// a dot, a member of an enumeration (`<on>`), or the primitive behind `native`.
bool isOtherwiseNamed(const Reading& reading, SrcRange word) {
  const std::string_view text = reading.source.text;
  const std::size_t begin = word.begin - reading.source.base, end = word.end - reading.source.base;
  const std::size_t next = text.find_first_not_of(" \t", end);
  if (next != std::string_view::npos && text[next] == ':') return true;
  const bool behindDot = begin > 0 && text[begin - 1] == '.', behindRange = begin > 1 && text[begin - 2] == '.';
  if (behindDot && !behindRange) return true;
  if (begin > 0 && text[begin - 1] == '<' && end < text.size() && text[end] == '>') return true;
  return wordBefore(text, begin) == "native";
}

/// Whether it is a word of the text behind a `comment` of a process, which ends before a line with another clause.
bool isRemark(const Reading& reading, SrcRange word) {
  if (ast::dynCast<ast::Process>(reading.holding(word).decl) == nullptr) return false;
  const std::string_view text = reading.source.text;
  const std::size_t begin = word.begin - reading.source.base;
  for (std::size_t margin = lineBegin(text, begin);; margin = lineBegin(text, margin - 1)) {
    const std::size_t first = std::min(text.find_first_not_of(" \t", margin), text.size());
    const std::string_view line = text.substr(first, text.find_first_of(" \t\n;", first) - first);
    if (line == "comment") return first != begin;
    const bool another = line == "ext" || line == "pre" || line == "post" || line == "process" || line == "end_process";
    if (another || margin == 0) return false;
  }
}

/// What the language calls so where no name of the program stands: a word that begins a clause, a type, a clause of a design.
std::optional<Hover> wordAt(const Reading& reading, Loc place) {
  const std::string_view text = reading.source.text;
  if (place < reading.source.base || place - reading.source.base >= text.size()) return std::nullopt;
  const std::size_t offset = place - reading.source.base;
  constexpr std::string_view kInWords = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  const std::size_t end = std::min(text.find_first_not_of(kInWords, offset), text.size());
  const std::size_t begin = wordBegin(text, offset);
  const SrcRange range{static_cast<Loc>(reading.source.base + begin), static_cast<Loc>(reading.source.base + end)};
  if (offset == end || isWritten(reading, end) || isOtherwiseNamed(reading, range) || isRemark(reading, range))
    return std::nullopt;
  const std::string word(text.substr(begin, end - begin));
  std::string meaning = show::meaningOf(word);
  if (meaning.empty()) return std::nullopt;
  return Hover{range, word, std::move(meaning)};
}

/// A function, type or initialiser of the language.
Hover builtinHover(const Reading& reading, SrcRange range, const std::string& word) {
  std::string meaning = isOtherwiseNamed(reading, range) ? "" : show::meaningOf(word);
  return {range, word, meaning.empty() ? std::string(kBuiltin) : std::move(meaning)};
}

Hover hoverOf(const Reading& reading, const sema::Use& use) {
  const std::string word(reading.sources().text(use.range));
  if (use.kind == NameKind::Builtin) return builtinHover(reading, use.range, word);
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
  if (found.empty()) return wordAt(reading, place);
  // A factor stands where the parameter that it fills is used too: what is declared elsewhere says more.
  const auto other = std::ranges::find_if(found, [](const sema::Use& use) { return !use.isDeclaration(); });
  return hoverOf(reading, other == found.end() ? found.front() : *other);
}

}  // namespace tbem::serve
