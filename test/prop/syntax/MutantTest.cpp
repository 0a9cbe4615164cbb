// Messages over broken programs: how many, how near the fault, in whose words; and that nothing crashes or hangs.
#include "Mutants.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/syntax/parse/Parse.h"

#include <gtest/gtest.h>

#include <pthread.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <set>

namespace tbem::test {
namespace {

/// Names of grammar rules and token types: none may come out in a message.
bool namesARule(const std::string& message) {
  static const std::set<std::string> words{"parameterGroup", "configClause", "afterUnknown", "inlineJunk", "LPAREN", "RBRACE",
                                           "LCURLY",         "postfix",      "weightPart",   "pipeTail",   "EOF",    "ID"};
  for (const Lexeme& each : lexemes(message)) {
    if (words.count(each.text) != 0) return true;
  }
  return false;
}

TEST(Mutants, FewMessagesNearTheFault) {
  const auto programs = corpus();
  ASSERT_GE(programs.size(), 8U);
  Numbers numbers(seed(20240917));
  std::vector<std::size_t> count(30);
  std::size_t rejected = 0;
  std::size_t near = 0;
  const char* show = std::getenv("TBEM_SHOW_MUTANTS");  // a number of messages: print the mutants that draw as many or more
  const int rounds = 2500;
  for (int round = 0; round < rounds; ++round) {
    const std::string& text = programs[static_cast<std::size_t>(round) % programs.size()].second;
    const std::string mutant = mutate(text, numbers);
    if (mutant == text) continue;
    SourceManager sources;
    const Source& source = sources.add("mutant", mutant);
    DiagnosticSink sink;
    const auto file = syntax::parse(source, sink);
    ASSERT_NE(file, nullptr);
    if (!sink.hasErrors()) continue;
    ++rejected;
    ++count[std::min<std::size_t>(sink.errorCount(), 29)];
    const auto changed =
        static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), mutant.begin(), mutant.end()).first - text.begin());
    const auto faultLine = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(changed), '\n');
    bool close = false;
    for (const Diagnostic& each : sink.all()) {
      EXPECT_FALSE(namesARule(each.message)) << each.message;
      EXPECT_TRUE(each.range.begin >= source.base && each.range.end <= source.base + mutant.size()) << each.message;
      const auto line = static_cast<std::ptrdiff_t>(sources.lineColumn(each.range.begin).line);
      if (std::abs(line - faultLine) <= 1) close = true;
      for (const Label& label : each.labels) {
        if (std::abs(static_cast<std::ptrdiff_t>(sources.lineColumn(label.range.begin).line) - faultLine) <= 1) close = true;
      }
    }
    if (close) ++near;
    if (show != nullptr && sink.errorCount() >= static_cast<std::size_t>(std::atoi(show))) {
      std::printf("---- line %td, %zu messages%s\n%s", faultLine, sink.errorCount(), close ? "" : ", far",
                  renderAll(sink, sources, {false, 120}).c_str());
    }
  }
  const double one = static_cast<double>(count[1]) / static_cast<double>(rejected);
  const double two = static_cast<double>(count[1] + count[2]) / static_cast<double>(rejected);
  const double nearby = static_cast<double>(near) / static_cast<double>(rejected);
  std::size_t worst = 29;
  while (worst > 1 && count[worst] == 0) --worst;
  std::printf("%zu of %d mutants rejected; one message %.1f %%, at most two %.1f %%, worst %zu; near the fault %.1f %%\n",
              rejected, rounds, 100 * one, 100 * two, worst, 100 * nearby);
  EXPECT_GE(one, 0.85);
  EXPECT_GE(two, 0.97);
  EXPECT_GE(nearby, 0.95);
  EXPECT_LE(worst, 5U);
}

TEST(Mutants, AnyBytesAreRead) {
  const auto programs = corpus();
  Numbers numbers(seed(7));
  for (int round = 0; round < 400; ++round) {
    std::string text = programs[numbers.below(programs.size())].second;
    for (std::size_t change = 0; change < 1 + numbers.below(20); ++change) {
      const std::size_t at = numbers.below(text.size());
      if (numbers.below(2) == 0)
        text[at] = static_cast<char>(numbers.below(256));
      else
        text.erase(at, numbers.below(40));
      if (text.empty()) text = "x";
    }
    SourceManager sources;
    const Source& source = sources.add("bytes", text);
    DiagnosticSink sink;
    syntax::parse(source, sink);
    EXPECT_LE(sink.errorCount(), 20U);
    for (const Diagnostic& each : sink.all()) renderText(each, sources, {});
  }
}

std::string repeated(const std::string& part, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

/// One mebibyte; a sanitizer's frames are larger.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kSmallStack = std::size_t{8} << 20U;
#else
constexpr std::size_t kSmallStack = std::size_t{1} << 20U;
#endif

/// Runs `work` on a thread with a small stack.
void onSmallStack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kSmallStack);
  pthread_t thread{};
  const auto run = [](void* context) -> void* {
    (*static_cast<const std::function<void()>*>(context))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Mutants, DeepNestingIsRefusedNotCrashed) {
  const std::vector<std::string> texts{
      repeated("(", 20000) + "1" + repeated(")", 20000),
      repeated("[", 20000),
      repeated("-", 20000) + "1",
      repeated("not ", 20000) + "a",
      repeated("if a then ", 20000) + "b",
      repeated("forall[i: {1}] | ", 5000) + "true",
      "function f(a: int) -> int {\n" + repeated("if a = 1 {\n", 20000) + repeated("}\n", 20000) + "}\n",
      "function f(a: int) -> int {\n if a = 1 { }" + repeated(" else if a = 2 { }", 20000) + "\n}\n",
      "let a = " + repeated("1 + ", 100000) + "1\n",
      "let a = x" + repeated(" |> f", 100000) + "\n",
      "let a = x" + repeated("(1)", 100000) + "\n",
      "let a = 2" + repeated(" ** 2", 20000) + "\n",
      repeated("{", 20000),
      repeated("}", 20000),
      repeated(")", 20000),
  };
  for (const std::string& text : texts) {
    SourceManager sources;
    const Source& source = sources.add("deep", text);
    DiagnosticSink sink;
    onSmallStack([&] { EXPECT_NO_THROW(syntax::parse(source, sink)) << text.substr(0, 40); });
    EXPECT_TRUE(sink.hasErrors()) << text.substr(0, 40);
    EXPECT_LE(sink.errorCount(), 20U);
  }
}

TEST(Mutants, WhatIsDeepButReasonableIsRead) {
  for (const std::string& text :
       {repeated("(", 100) + "1" + repeated(")", 100), "1" + repeated(" + 1", 1500), "x" + repeated(" |> f", 1500)}) {
    SourceManager sources;
    DiagnosticSink sink;
    const auto file = syntax::parse(sources.add("<-e>", text), sink);
    EXPECT_FALSE(sink.hasErrors()) << text.substr(0, 40);
    EXPECT_NE(file->expression, nullptr);
  }
}

}  // namespace
}  // namespace tbem::test
