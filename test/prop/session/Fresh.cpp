#include "Fresh.h"

#include "compiler/diagnostics/Repeats.h"
#include "compiler/pipeline/Stages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <vector>

namespace tbem::test {

std::string allOf(const Session& checked) {
  const auto place = [&](SrcRange range) {
    const Source* source = checked.sources.find(range.begin);
    if (source == nullptr) return std::string("nowhere");
    return fmt::format("{}:{}-{}", source->name, range.begin - source->base, range.end - source->base);
  };
  std::string text;
  for (const Diagnostic& one : checked.sink.all()) {
    text += fmt::format("{} {} {}: {}\n", static_cast<int>(one.severity), info(one.kind).code, place(one.range), one.message);
    for (const Label& label : one.labels) text += fmt::format("  at {}: {}\n", place(label.range), label.text);
    for (const std::string& note : one.notes) text += fmt::format("  note {}\n", note);
    for (const Fix& fix : one.fixes)
      text += fmt::format("  fix {} {}: {}\n", place(fix.range), static_cast<int>(fix.applicability), fix.replacement);
    text += fmt::format("  levels {} also {}\n", one.levels, one.also);
  }
  return text;
}

std::string freshCheck(const std::string& path, const std::string& text) {
  driver::Request request;
  request.program.files = {path};
  Events nobody;
  driver::PipelineState state(request, nobody);
  state.tellsUnbuilt = false;
  state.workspace = std::make_unique<driver::Workspace>();
  driver::Workspace& workspace = *state.workspace;
  workspace.path = path;
  Session& session = workspace.session;
  workspace.program = sema::load(session.sources, session.sink, session.sources.add(path, text), workspace.load);
  if (!session.sink.hasErrors()) {
    state.done.insert("load");
    driver::checkAll(state);
  }
  mergeRepeats(session.sink);
  return allOf(session);
}

namespace {

bool isNumber(const Lexeme& one) {
  return std::ranges::all_of(one.text, [](char c) { return c >= '0' && c <= '9'; });
}
bool isWord(const Lexeme& one) { return !one.blank && std::isalpha(static_cast<unsigned char>(one.text.front())) != 0; }

std::string joined(const std::vector<Lexeme>& list) {
  std::string text;
  for (const Lexeme& one : list) text += one.text;
  return text;
}

template <class Is>
std::vector<Lexeme*> those(std::vector<Lexeme>& list, Is&& is) {
  std::vector<Lexeme*> chosen;
  for (Lexeme& one : list) {
    if (is(one)) chosen.push_back(&one);
  }
  return chosen;
}

}  // namespace

std::string editAlike(const std::string& text, Numbers& numbers) {
  std::vector<Lexeme> list = lexemes(text);
  constexpr std::size_t kKinds = 3;  // a third of them numbers, which most programs have fewer of
  std::vector<Lexeme*> alike = those(list, numbers.below(kKinds) == 0 ? isNumber : isWord);
  if (alike.empty()) alike = those(list, isWord);
  if (alike.empty()) return text;
  const std::string other = alike[numbers.below(alike.size())]->text;
  alike[numbers.below(alike.size())]->text = other;
  return joined(list);
}

std::string editNumber(const std::string& text, Numbers& numbers) {
  std::vector<Lexeme> list = lexemes(text);
  const std::vector<Lexeme*> whole = those(list, isNumber);
  if (whole.empty()) return text;
  Lexeme& chosen = *whole[numbers.below(whole.size())];
  chosen.text = std::to_string(std::strtoull(chosen.text.c_str(), nullptr, 10) + 1);
  return joined(list);
}

}  // namespace tbem::test
