#include "compiler/verify/CleanParts.h"

#include "compiler/diagnostics/Aside.h"
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

}  // namespace

void CleanParts::begin(const Workspace& workspace) {
  ++round;
  if (answers.size() > kMostAnswers)
    std::erase_if(answers, [&](const auto& one) { return one.second.round + kOldRounds < round; });
  declarations.clear();
  common = surroundings(workspace);
  const Source& source = *workspace.file().source;
  const std::string_view all = source.text;
  std::unordered_multimap<std::string_view, std::size_t> named;
  std::size_t done = 0;
  for (const ast::Decl* decl : workspace.file().declarations) {
    const std::size_t begin = decl->range.begin - source.base;
    const std::size_t end = decl->range.end - source.base;
    if (begin > done) common += codeOf(all.substr(done, begin - done));
    done = std::max(done, end);
    const std::string_view text = all.substr(begin, end - begin);
    if (concernsAll(*decl)) addText(common, text);
    if (!decl->name.empty() && sema::isNamed(*decl)) named.emplace(decl->name.text, declarations.size());
    declarations.push_back({decl, std::string(text), {}});
  }
  common += codeOf(all.substr(std::min(done, all.size())));
  for (Declaration& one : declarations) {
    std::set<std::size_t> names;
    eachWord(one.text, [&](std::string_view word) {
      const auto [first, last] = named.equal_range(word);
      for (auto it = first; it != last; ++it) names.insert(it->second);
    });
    one.names.assign(names.begin(), names.end());
  }
}

std::vector<std::size_t> CleanParts::reachedFrom(std::size_t declaration) const {
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

CleanParts::Key CleanParts::keyOf(const PartQuestion& question) const {
  const auto asked = std::ranges::find(declarations, question.decl, &Declaration::decl);
  TBEM_CHECK(asked != declarations.end());
  const auto root = static_cast<std::size_t>(asked - declarations.begin());
  std::string text = common;
  addText(text, std::to_string(static_cast<int>(question.part)));
  addText(text, question.beside);
  for (const std::size_t reached : reachedFrom(root)) {
    addText(text, reached == root ? "here" : "");
    addText(text, declarations[reached].text);
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return {hash.low64, hash.high64};
}

void CleanParts::look(const PartQuestion& question, DiagnosticSink& sink, const std::function<bool()>& work,
                      const std::function<void()>& undo, spec::Work* proofs) {
  const Key key = keyOf(question);
  if (const auto known = answers.find(key); known != answers.end()) {
    known->second.round = round;
    if (!known->second.clean) return static_cast<void>(work());
    // With less work left, the proofs might end before they are through.
    if (proofs == nullptr) return;
    if (proofs->remaining() > known->second.spent) return proofs->spend(known->second.spent);
  }
  const spec::Work before = proofs != nullptr ? *proofs : spec::Work();
  bool isAnswer = false;
  const std::deque<Diagnostic> told = reportsOf(sink, [&] { isAnswer = work(); });
  if (told.empty()) {
    const std::uint64_t spent = proofs != nullptr ? before.remaining() - proofs->remaining() : 0;
    if (isAnswer && (proofs == nullptr || !proofs->isSpent())) answers[key] = {true, spent, round};
    return;
  }
  answers[key] = {false, 0, round};
  if (sink.all().empty()) {
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
