// The formatter on every program there is, and on programs with blanks, line breaks and comments where nobody would put them.
// It checks itself that the tree and the comments stay (else E0142, which no input here may draw); here, that formatting twice is
// formatting once, and that what parses is formatted.
#include "Mutants.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/syntax/format/Format.h"
#include "compiler/syntax/parse/Parse.h"
#include "compiler/syntax/tree/Dump.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>

namespace tbem::test {
namespace {

void expectStable(const std::string& text, const std::string& what) {
  SourceManager sources;
  DiagnosticSink sink;
  const Source& source = sources.add(what, text);
  const auto once = syntax::format(source, sink);
  ASSERT_TRUE(once.has_value()) << what << "\n" << renderAll(sink, sources, {}) << text;
  const Source& formatted = sources.add(what, *once);
  const auto twice = syntax::format(formatted, sink);
  ASSERT_TRUE(twice.has_value()) << *once;
  EXPECT_EQ(*once, *twice) << what;
  EXPECT_EQ(syntax::dump(*syntax::parse(source, sink)), syntax::dump(*syntax::parse(formatted, sink)));
  std::istringstream lines(*once);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(line.empty() || (line.back() != ' ' && line.back() != '\t')) << line;
  }
  EXPECT_TRUE(once->empty() || once->back() == '\n');
  const std::size_t wide = once->find("\n\n\n");
  EXPECT_EQ(wide, std::string::npos) << once->substr(wide > 200 ? wide - 200 : 0, 300);
}

TEST(Format, EveryProgram) {
  for (const auto& [name, text] : corpus()) expectStable(text, name);
}

// The declaration would begin where a line begins, and `private` would stand alone.
TEST(Format, NothingBreaksBehindPrivate) {
  expectStable("private\n\n  block f(x: tensor[n]) -> tensor[n] { return x }\n", "a line break");
  expectStable("private  // x\n  block f(x: tensor[n]) -> tensor[n] { return x }\n", "a comment");
}

TEST(Format, IndentationHasNoMeaning) {
  for (const auto& [name, text] : corpus()) {
    std::string flat;
    bool lineBegins = true;
    for (const char c : text) {
      if (lineBegins && c == ' ') continue;
      lineBegins = c == '\n';
      flat += c;
    }
    SourceManager sources;
    DiagnosticSink sink;
    const std::string indented = syntax::dump(*syntax::parse(sources.add(name, text), sink));
    EXPECT_EQ(syntax::dump(*syntax::parse(sources.add(name, flat), sink)), indented) << name;
    EXPECT_FALSE(sink.hasErrors()) << name;
  }
}

TEST(Format, BlanksAndCommentsAnywhere) {
  const auto programs = corpus();
  Numbers numbers(seed(11));
  int formatted = 0;
  for (int round = 0; round < 600; ++round) {
    const auto& [name, text] = programs[static_cast<std::size_t>(round) % programs.size()];
    std::string changed;
    int depth = 0;
    for (const Lexeme& each : lexemes(text)) {
      changed += each.text;
      if (each.text == "(" || each.text == "[") ++depth;
      if (each.text == ")" || each.text == "]") --depth;
      const bool breaks = depth > 0 || numbers.below(30) == 0;  // elsewhere a line break mostly ends a statement
      switch (numbers.below(60)) {
        case 0:
          changed += " /* here */ ";
          break;
        case 1:
          changed += breaks ? "\n" : "";
          break;
        case 2:
          changed += breaks ? "  // end\n" : "";
          break;
        case 3:
          changed += breaks ? "\n\n\n" : "";
          break;
        case 4:
          changed += "   ";
          break;
        default:
          break;
      }
    }
    SourceManager sources;
    DiagnosticSink sink;
    syntax::parse(sources.add("t", changed), sink);
    if (sink.hasErrors()) continue;
    ++formatted;
    expectStable(changed, name);
  }
  std::printf("%d programs formatted\n", formatted);
  EXPECT_GE(formatted, 150);
}

TEST(Format, CommentsKeepTheirPlaces) {
  const std::string text =
      "// first\n"
      "network f(x: tensor[n]) -> tensor[n]  // c\n"
      "{\n"
      "  // only\n"
      "}\n"
      "\n"
      "function h(a: int) -> int {\n"
      "  if a = 1 { return 1 }  // one\n"
      "  else { return 2 }      // two\n"
      "  // last\n"
      "}\n";
  SourceManager sources;
  DiagnosticSink sink;
  EXPECT_EQ(syntax::format(sources.add("t", text), sink).value_or("refused"), text);
  // The text of a process may end in what elsewhere is a comment, with blanks behind it.
  EXPECT_EQ(syntax::format(sources.add("t", "process P(a: nat) b: nat\ncomment why /* here */ \t\nend_process"), sink)
                .value_or("refused"),
            "process P(a: nat) b: nat\ncomment why /* here */\nend_process\n");
  EXPECT_EQ(syntax::format(sources.add("t", "// a\n\n\n\n/* b\n c */"), sink).value_or("refused"), "// a\n\n/* b\n c */\n");
  EXPECT_EQ(syntax::format(sources.add("t", ""), sink).value_or("refused"), "");
  EXPECT_FALSE(syntax::format(sources.add("t", "let a = "), sink).has_value());
  EXPECT_TRUE(sink.hasErrors());
}

TEST(Format, Layout) {
  SourceManager sources;
  DiagnosticSink sink;
  const auto formatted =
      syntax::format(sources.add("t",
                                 "operator  f( x:tensor[..s];a :int=-1 )->(y:tensor[..s]){\n\n\n  let b=[1,2 , ..c]   // one\n"
                                 "  if a=1{return x}else{\n return f(x)|>g }\n\n}\n// two\nlet z=1;let w=2\n\n\n\n"
                                 "design d of n{factor a:1,2\nstrength 2}\n"
                                 "operator g(x: tensor[n]) -> tensor[n]\npre n>0\nelementwise y=x\nbackward x:dy\nlonger:dy\n"),
                     sink);
  ASSERT_TRUE(formatted.has_value());
  EXPECT_EQ(*formatted,
            "operator f(x: tensor[..s]; a: int = -1) -> (y: tensor[..s]) {\n"
            "  let b = [1, 2, ..c]  // one\n"
            "  if a = 1 { return x } else {\n"
            "    return f(x) |> g\n"
            "  }\n"
            "}\n"
            "// two\n"
            "let z = 1; let w = 2\n"
            "\n"
            "design d of n {\n"
            "  factor   a: 1, 2\n"
            "  strength 2\n"
            "}\n"
            "operator g(x: tensor[n]) -> tensor[n]\n"
            "  pre         n > 0\n"
            "  elementwise y = x\n"
            "  backward    x:      dy\n"
            "              longer: dy\n");
}

}  // namespace
}  // namespace tbem::test
