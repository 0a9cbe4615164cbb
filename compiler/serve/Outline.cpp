#include "compiler/serve/Outline.h"

#include "compiler/show/reference/DocText.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tbem::serve {

namespace {

/// The word by which a declaration begins: "design", "fit", "network".
std::string wordOf(const Reading& reading, const ast::Decl& decl) {
  std::string_view text = reading.sources().text(decl.range);
  if (text.starts_with("private ")) text.remove_prefix(std::string_view("private ").size());
  return std::string(text.substr(0, text.find_first_of(" \n\t(")));
}

Outlined part(const ast::Decl& decl, const ast::Name& name, const char* detail) {
  return {name.text, detail, &decl, name.range, {}};
}

std::vector<Outlined> partsOf(const ast::Decl& decl) {
  std::vector<Outlined> parts;
  if (const auto* callable = ast::dynCast<ast::Callable>(&decl)) {
    for (const ast::Parameter& one : callable->tensors) parts.push_back(part(decl, one.name, "tensor"));
    for (const ast::Parameter& one : callable->parameters) parts.push_back(part(decl, one.name, "parameter"));
  } else if (const auto* design = ast::dynCast<ast::Design>(&decl)) {
    for (const ast::Factor& one : design->factors) parts.push_back(part(decl, one.name, "factor"));
    for (const ast::Input& one : design->inputs) parts.push_back(part(decl, one.name, "input"));
  }
  return parts;
}

std::size_t lineEnd(std::string_view text, std::size_t at) { return std::min(text.find('\n', at), text.size()); }

bool severalLines(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin).find('\n') != std::string_view::npos;
}

/// Runs of whole lines of comments, and of imports.
template <class Ranges, class RangeOf>
void addRuns(std::vector<Fold>& folds, std::string_view text, Loc base, Fold::What what, const Ranges& ranges,
             const RangeOf& rangeOf) {
  Fold run{what, 0, 0};
  const auto close = [&] {
    if (run.end > run.begin && severalLines(text, run.begin, run.end)) folds.push_back(run);
    run = {what, 0, 0};
  };
  for (const auto& one : ranges) {
    const SrcRange range = rangeOf(one);
    const std::size_t begin = range.begin - base, end = range.end - base;
    const std::string_view gap = run.end == 0 ? "" : text.substr(run.end, begin - std::min(begin, run.end));
    const bool goesOn =
        run.end != 0 && gap.find_first_not_of(" \t\r\n") == std::string_view::npos && std::ranges::count(gap, '\n') == 1;
    if (!goesOn) {
      close();
      run.begin = begin;
    }
    run.end = end;
  }
  close();
}

/// Braces, brackets and parentheses whose ends lie in different lines. What stands in strings and comments is none.
void addBrackets(std::vector<Fold>& folds, const ast::File& file, std::string_view text, Loc base) {
  std::vector<std::size_t> open;
  auto comment = file.comments.begin();
  for (std::size_t at = 0; at < text.size(); ++at) {
    while (comment != file.comments.end() && comment->end - base <= at) ++comment;
    if (comment != file.comments.end() && comment->begin - base <= at) {
      at = comment->end - base - 1;
      continue;
    }
    const char c = text[at];
    if (c == '"') {
      const std::size_t end = lineEnd(text, at);
      for (++at; at < end && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
    } else if (c == '{' || c == '(' || c == '[') {
      open.push_back(at);
    } else if ((c == '}' || c == ')' || c == ']') && !open.empty()) {
      if (severalLines(text, open.back(), at)) folds.push_back({Fold::What::Code, open.back(), at});
      open.pop_back();
    }
  }
}

}  // namespace

std::vector<Outlined> outlineOf(const Reading& reading) {
  std::vector<Outlined> outline;
  for (const ast::Decl* decl : reading.workspace.file().declarations) {
    if (decl->kind == ast::NodeKind::Import) continue;
    Outlined one{decl->name.text, wordOf(reading, *decl), decl, decl->name.range, partsOf(*decl)};
    if (one.name.empty()) {
      one.name = sourceText(reading.sources(), decl->range);
      one.name = one.name.substr(0, one.name.find('{'));
      one.word = {decl->range.begin, decl->range.begin};
    }
    outline.push_back(std::move(one));
  }
  return outline;
}

std::vector<Fold> foldsOf(const Reading& reading) {
  const ast::File& file = reading.workspace.file();
  const std::string_view text = reading.source.text;
  const Loc base = reading.source.base;
  std::vector<Fold> folds;
  std::vector<const ast::Decl*> imports;
  for (const ast::Decl* decl : file.declarations) {
    if (decl->kind == ast::NodeKind::Import) imports.push_back(decl);
    // A process is closed by a word, not by a brace.
    if (decl->kind == ast::NodeKind::Process && severalLines(text, decl->range.begin - base, decl->range.end - base))
      folds.push_back({Fold::What::Code, decl->range.begin - base, decl->range.end - base});
  }
  addRuns(folds, text, base, Fold::What::Comment, file.comments, [](SrcRange range) { return range; });
  addRuns(folds, text, base, Fold::What::Imports, imports, [](const ast::Decl* decl) { return decl->range; });
  addBrackets(folds, file, text, base);
  return folds;
}

}  // namespace tbem::serve
