#include "compiler/repl/Entry.h"

#include "compiler/diagnostics/Session.h"
#include "compiler/support/Trim.h"
#include "compiler/syntax/parse/Parse.h"

#include <algorithm>
#include <memory>

namespace tbem::repl {

namespace {

constexpr std::string_view kBlank = " \t\r\n\f";

std::string_view lastLine(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text.substr(text.rfind('\n') + 1);
}

/// Behind the text or comment that begins at `at`; npos: a comment that is not closed.
std::size_t behindQuoted(std::string_view text, std::size_t at) {
  if (text[at] == '"') {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at) {
      if (text[at] == '\\') ++at;
    }
    return std::min(at + 1, text.size());
  }
  if (text[at + 1] == '/') return std::min(text.find('\n', at), text.size());
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? end : end + 2;
}

/// What the brackets of a text leave open.
struct Brackets {
  int open = 0;
  bool inComment = false;
};

Brackets bracketsOf(std::string_view text) {
  Brackets brackets;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool comments = c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*');
    if (c == '"' || comments) {
      at = behindQuoted(text, at);
      if (at == std::string_view::npos) return {brackets.open, true};
      continue;
    }
    if (c == '(' || c == '[' || c == '{') ++brackets.open;
    if (c == ')' || c == ']' || c == '}') --brackets.open;
    ++at;
  }
  return brackets;
}

bool beginsWithWord(std::string_view text, std::string_view word) {
  return text.starts_with(word) && text.size() > word.size() && (text[word.size()] == ' ' || text[word.size()] == '\t');
}

bool isProcess(std::string_view text) { return beginsWithWord(text, "process"); }

/// Whether clauses may follow the last declaration.
bool endsInHeader(const ast::File& file) {
  if (file.declarations.empty()) return false;
  const auto* callable = ast::dynCast<ast::Callable>(file.declarations.back());
  return callable != nullptr && !callable->hasBody;
}

/// The first mistake lies at the end of the text: more of it may mend that.
bool wantsMore(const Session& trial, std::string_view text, Loc base) {
  const Diagnostic& first = trial.sink.all().front();
  const std::size_t end = text.find_last_not_of(kBlank) + 1;
  return first.range.begin >= base + end;
}

}  // namespace

bool isWhole(std::string_view text) {
  const std::string_view typed = trimmed(text);
  if (typed.empty() || typed.front() == ':' || typed.front() == '?') return true;
  const bool blankLine = trimmed(lastLine(text)).empty() && text.find('\n') != std::string_view::npos;
  if (isProcess(typed)) return trimmed(lastLine(typed)) == "end_process" || typed.ends_with("; end_process");
  const Brackets brackets = bracketsOf(text);
  if (brackets.inComment || brackets.open > 0) return false;
  if (blankLine) return true;
  Session trial;
  const Source& source = trial.sources.add("", std::string(text));
  const std::unique_ptr<ast::File> file = syntax::parse(source, trial.sink);
  return trial.sink.hasErrors() ? !wantsMore(trial, text, source.base) : !endsInHeader(*file);
}

bool beginsAnother(std::string_view line) { return line.starts_with(':') || line.starts_with('?'); }

Entry readEntry(std::string_view text) {
  Entry entry;
  const std::string_view typed = trimmed(text);
  entry.text = typed;
  if (typed.empty()) return entry;
  if (typed.front() == ':') {
    entry.kind = EntryKind::Command;
    const std::size_t end = std::min(typed.find_first_of(kBlank), typed.size());
    entry.word = typed.substr(1, end - 1);
    entry.rest = trimmed(typed.substr(end));
    return entry;
  }
  if (typed.front() == '?') {
    entry.kind = EntryKind::Question;
    entry.rest = trimmed(typed.substr(1));
    return entry;
  }
  constexpr std::string_view kPlot = "plot";
  if (beginsWithWord(typed, kPlot)) {
    entry.kind = EntryKind::Plot;
    entry.rest = trimmed(typed.substr(kPlot.size()));
    return entry;
  }
  Session trial;
  const Source& source = trial.sources.add("", entry.text);
  const std::unique_ptr<ast::File> file = syntax::parse(source, trial.sink);
  if (trial.sink.hasErrors())
    entry.kind = EntryKind::Mistake;
  else if (file->expression != nullptr)
    entry.kind = EntryKind::Expression;
  else if (!file->declarations.empty())
    entry.kind = EntryKind::Declarations;
  return entry;
}

}  // namespace tbem::repl
