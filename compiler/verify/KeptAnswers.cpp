#include "compiler/verify/KeptAnswers.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/support/Bug.h"

#include <xxhash.h>

#include <algorithm>
#include <deque>
#include <set>
#include <string_view>
#include <unordered_map>

namespace tbem::driver {

namespace {

/// Answers up to which none is forgotten, and programs since which one was not needed when it is.
constexpr std::size_t kMostAnswers = 20'000;
constexpr std::uint64_t kOldRounds = 32;

bool inName(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80U || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

template <class Visit>
void eachWord(std::string_view text, Visit&& visit) {
  for (auto at = text.begin(); at != text.end();) {
    const auto begin = std::find_if(at, text.end(), inName);
    at = std::find_if_not(begin, text.end(), inName);
    if (begin != at) visit(text.substr(static_cast<std::size_t>(begin - text.begin()), static_cast<std::size_t>(at - begin)));
  }
}

/// Texts one after the other, each with its length, so that equal results have equal parts.
void addText(std::string& to, std::string_view text) {
  to += std::to_string(text.size());
  to += ':';
  to += text;
}

/// What stands between declarations but for blank lines and comments: nothing that we know of.
std::string codeOf(std::string_view gap) {
  std::string code;
  for (std::size_t at = 0; at < gap.size();) {
    const std::size_t end = std::min(gap.find('\n', at), gap.size());
    const std::string_view line = gap.substr(at, end - at);
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && !line.substr(first).starts_with("//")) addText(code, line);
    at = end + 1;
  }
  return code;
}

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Where a string ends that begins there, behind its quote; strings end with their line.
std::size_t stringEnd(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin + 1; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\') ++at;
  }
  return begin + 1;
}

/// A piece of a file whose programs differ from those of another piece only if their results differ: without comments and blank
/// lines, runs of blanks as one, none where a line begins or ends, behind what opens or separates, or before what closes or
/// separates. Blanks before `(` and `[` stay: a call touches its parenthesis. Between these a line's end is a blank. `begin`: of
/// the piece, in the file.
std::string codeOf(const ast::File& file, std::string_view text, Loc begin) {
  std::string code, open;
  auto comment = std::ranges::lower_bound(file.comments, begin, {}, &SrcRange::begin);
  const auto blank = [&] {
    if (!code.empty() && std::string_view(" \n([{,;:").find(code.back()) == std::string_view::npos) code += ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    while (comment != file.comments.end() && comment->begin < begin + at) ++comment;
    const char c = text[at];
    if (comment != file.comments.end() && comment->begin == begin + at) {
      blank();
      at = std::min<std::size_t>(text.size(), comment->end - begin);
    } else if (c == '"') {
      const std::size_t end = stringEnd(text, at);
      code += text.substr(at, end - at);
      at = end;
    } else if (isBlank(c) || (c == '\n' && !open.empty() && open.back() != '{')) {
      blank();
      ++at;
    } else {
      if (c == '(' || c == '[' || c == '{') open += c;
      if ((c == ')' || c == ']' || c == '}') && !open.empty()) open.pop_back();
      const bool closes = std::string_view("\n)]},;:").find(c) != std::string_view::npos;
      if (closes && code.ends_with(' ')) code.pop_back();
      if (c != '\n' || !code.ends_with('\n')) code += c;
      ++at;
    }
  }
  return code;
}

bool concernsAll(const ast::Decl& decl) { return decl.kind == ast::NodeKind::Import || decl.kind == ast::NodeKind::Assume; }

/// What every part is taken to depend on, beside what stands in the program's own file.
std::string surroundings(const Workspace& workspace) {
  std::string text;
  addText(text, workspace.file().source->name);
  addText(text, workspace.load.allStandard ? "all" : "");
  for (const auto& module : workspace.program->modules()) {
    const bool isTheirs = !module->isStandard || workspace.load.stdlib;
    for (const auto& file : module->files) {
      if (!isTheirs || file.get() == &workspace.file()) continue;
      addText(text, file->source->name);
      addText(text, file->source->text);
    }
  }
  return text;
}

std::vector<const ast::File*> filesOf(const Workspace& workspace) {
  std::vector<const ast::File*> files;
  for (const auto& module : workspace.program->modules()) {
    for (const auto& file : module->files) files.push_back(file.get());
  }
  return files;
}

/// All places that it names, in an order of their own.
std::vector<SrcRange*> rangesOf(Diagnostic& diagnostic) {
  std::vector<SrcRange*> ranges{&diagnostic.range};
  for (Label& label : diagnostic.labels) ranges.push_back(&label.range);
  for (Fix& fix : diagnostic.fixes) ranges.push_back(&fix.range);
  return ranges;
}

/// Whether two reports of one range are among these and those that the sink has.
template <class Diagnostics>
bool meet(const Diagnostics& told, const DiagnosticSink& sink) {
  return std::ranges::any_of(told, [&](const Diagnostic& one) {
    return std::ranges::any_of(sink.all(), [&](const Diagnostic& other) { return one.range == other.range; });
  });
}

}  // namespace

void KeptAnswers::begin(const Workspace& program) {
  workspace = &program;
  ++round;
  counted = {};
  if (answers.size() > kMostAnswers)
    std::erase_if(answers, [&](const auto& one) { return one.second.round + kOldRounds < round; });
  declarations.clear();
  common = surroundings(program);
  const Source& source = *program.file().source;
  const std::string_view all = source.text;
  std::unordered_multimap<std::string_view, std::size_t> named;
  std::size_t done = 0;
  for (const ast::Decl* decl : program.file().declarations) {
    const std::size_t begin = decl->range.begin - source.base;
    const std::size_t end = decl->range.end - source.base;
    if (begin > done) common += codeOf(all.substr(done, begin - done));
    done = std::max(done, end);
    const std::string_view text = all.substr(begin, end - begin);
    if (!decl->name.empty() && sema::isNamed(*decl)) named.emplace(decl->name.text, declarations.size());
    declarations.push_back({decl, std::string(text), codeOf(program.file(), text, decl->range.begin), {}});
    if (concernsAll(*decl)) addText(common, declarations.back().code);
  }
  common += codeOf(all.substr(std::min(done, all.size())));
  for (Declaration& one : declarations) {
    std::set<std::size_t> names;
    eachWord(one.code, [&](std::string_view word) {
      const auto [first, last] = named.equal_range(word);
      for (auto it = first; it != last; ++it) names.insert(it->second);
    });
    one.names.assign(names.begin(), names.end());
  }
}

std::vector<std::size_t> KeptAnswers::reachedFrom(std::size_t declaration) const {
  std::vector<bool> seen(declarations.size(), false);
  std::vector<std::size_t> open{declaration}, reached;
  // What assumptions name, all parts may depend on.
  for (std::size_t i = 0; i < declarations.size(); ++i) {
    if (concernsAll(*declarations[i].decl)) open.push_back(i);
  }
  while (!open.empty()) {
    const std::size_t at = open.back();
    open.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    reached.push_back(at);
    open.insert(open.end(), declarations[at].names.begin(), declarations[at].names.end());
  }
  std::sort(reached.begin(), reached.end());
  return reached;
}

KeptAnswers::Part KeptAnswers::partOf(const PartQuestion& question) const {
  const auto asked = std::ranges::find(declarations, question.decl, &Declaration::decl);
  TBEM_CHECK(asked != declarations.end());
  const auto root = static_cast<std::size_t>(asked - declarations.begin());
  Part part;
  part.reached = reachedFrom(root);
  const auto keyOf = [&](std::string_view kind, const std::string Declaration::*form) -> Key {
    std::string text = common;
    addText(text, kind);
    addText(text, std::to_string(static_cast<int>(question.part)));
    addText(text, question.beside);
    for (const std::size_t reached : part.reached) {
      addText(text, reached == root ? "here" : "");
      addText(text, declarations[reached].*form);
    }
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return {hash.low64, hash.high64};
  };
  part.key = keyOf("text", &Declaration::text);
  part.code = keyOf("code", &Declaration::code);
  return part;
}

/// Nothing where the next program may have something else there.
std::optional<RelativeRange> KeptAnswers::relative(const Part& part, SrcRange range) const {
  using enum RelativeRange::In;
  if (!range.valid()) return RelativeRange{};
  for (std::size_t i = 0; i < part.reached.size(); ++i) {
    const SrcRange around = declarations[part.reached[i]].decl->range;
    if (range.begin >= around.begin && range.end <= around.end)
      return RelativeRange{Declaration, i, {}, range.begin - around.begin, range.end - around.begin};
  }
  for (const ast::File* file : filesOf(*workspace)) {
    const Source& source = *file->source;
    if (file != &workspace->file() && range.begin >= source.base && range.end <= source.base + source.text.size())
      return RelativeRange{File, 0, source.name, range.begin - source.base, range.end - source.base};
  }
  return std::nullopt;
}

SrcRange KeptAnswers::absolute(const Part& part, const RelativeRange& range) const {
  using enum RelativeRange::In;
  Loc base = 0;
  if (range.in == Nothing) return {};
  if (range.in == Declaration) {
    base = declarations[part.reached[range.declaration]].decl->range.begin;
  } else {
    const std::vector<const ast::File*> files = filesOf(*workspace);
    const auto file = std::ranges::find(files, range.file, [](const ast::File* each) { return each->source->name; });
    TBEM_CHECK(file != files.end());  // the part depends on what is imported
    base = (*file)->source->base;
  }
  return {base + range.begin, base + range.end};
}

/// What was told, as an answer for the next program; not to be kept where something in it need not be right there.
KeptAnswers::Answer KeptAnswers::answerOf(const Part& part, const std::deque<Diagnostic>& told) const {
  Answer answer{.kept = true, .told = {told.begin(), told.end()}};
  for (Diagnostic& one : answer.told) {
    // Beside an unknown name stands the nearest of all names of the file.
    answer.kept = answer.kept && one.kind != diag::unknown_name;
    for (SrcRange* range : rangesOf(one)) {
      std::optional<RelativeRange> at = relative(part, *range);
      if (!at) return {};
      answer.at.push_back(std::move(*at));
    }
  }
  return answer;
}

/// False, and nothing is said, where it may meet what was said before.
bool KeptAnswers::sayAgain(const Part& part, const Answer& answer, DiagnosticSink& sink) const {
  std::vector<Diagnostic> told = answer.told;
  std::size_t next = 0;
  for (Diagnostic& one : told) {
    for (SrcRange* range : rangesOf(one)) *range = absolute(part, answer.at[next++]);
  }
  if (meet(told, sink)) return false;
  for (Diagnostic& one : told) sink.append(std::move(one));
  return true;
}

void KeptAnswers::look(const PartQuestion& question, DiagnosticSink& sink, const std::function<bool()>& work,
                       const std::function<void()>& undo, spec::Work* proofs) {
  const Part part = partOf(question);
  ++counted.questions;
  ++counted.worked;
  auto known = answers.find(part.key);
  if (known == answers.end()) known = answers.find(part.code);
  if (known != answers.end()) {
    Answer& answer = known->second;
    answer.round = round;
    if (!answer.kept) return static_cast<void>(work());
    // With less work left, the proofs might end before they are through.
    if (proofs == nullptr || proofs->remaining() > answer.spent) {
      if (!sayAgain(part, answer, sink)) return static_cast<void>(work());
      if (proofs != nullptr) proofs->spend(answer.spent);
      --counted.worked;
      return;
    }
  }
  const spec::Work before = proofs != nullptr ? *proofs : spec::Work();
  bool isAnswer = false;
  const std::deque<Diagnostic> told = reportsOf(sink, [&] { isAnswer = work(); });
  const bool keeps = isAnswer && (proofs == nullptr || !proofs->isSpent());
  if (told.empty() && !keeps) return;
  Answer answer = keeps ? answerOf(part, told) : Answer();
  answer.spent = proofs != nullptr ? before.remaining() - proofs->remaining() : 0;
  answer.round = round;
  if (answer.kept && answer.told.empty()) answers[part.code] = answer;
  answers[part.key] = std::move(answer);
  if (!meet(told, sink)) {
    for (const Diagnostic& one : told) sink.append(one);
    return;
  }
  if (undo) undo();
  if (proofs != nullptr) *proofs = before;
  work();
}

std::string rowsText(const DesignRun& run) {
  std::string text;
  for (const std::size_t row : run.chosen) {
    for (const std::uint32_t level : run.rows[row]) text += std::to_string(level) + ",";
    text += ';';
  }
  return text;
}

}  // namespace tbem::driver
