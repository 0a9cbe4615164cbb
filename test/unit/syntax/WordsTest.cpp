// grammar/keywords.txt, which editors read, says what the compiler's tables say; and the tables hold what the lexer knows.
#include "compiler/support/Units.h"
#include "compiler/syntax/layout/Words.h"
#include "compiler/syntax/parse/Parse.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace tbem::test {
namespace {

std::map<std::string, std::set<std::string>> keywords() {
  std::map<std::string, std::set<std::string>> classes;
  std::ifstream file(inSources("grammar/keywords.txt"));
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    for (std::string word; words >> word;) classes[kind].insert(word);
  }
  return classes;
}

TEST(Words, TheListForEditors) {
  std::map<std::string, std::set<std::string>> ours;
  static const char* names[] = {"declaration", "header", "body", "anywhere", "connector"};
  for (const syntax::SoftWord& each : syntax::softWords()) ours[names[static_cast<std::size_t>(each.kind)]].emplace(each.text);
  for (const std::string_view each : syntax::reservedWords()) ours["reserved"].emplace(each);
  for (const UnitWord& each : unitWords()) ours["unit"].emplace(each.word);
  EXPECT_EQ(keywords(), ours);
}

TEST(Words, ReservedOnesAreNoNames) {
  for (const std::string_view word : syntax::reservedWords()) {
    SourceManager sources;
    DiagnosticSink sink;
    syntax::parse(sources.add("t", "let " + std::string(word) + " = 1\n"), sink);
    EXPECT_TRUE(sink.hasErrors()) << word;
  }
}

TEST(Words, SoftOnesAreNames) {
  for (const syntax::SoftWord& each : syntax::softWords()) {
    SourceManager sources;
    DiagnosticSink sink;
    const std::string word(each.text);
    syntax::parse(sources.add("t", "function f(" + word + ": int) -> int {\n  var x = " + word + " + 1\n  " + word +
                                       " = x\n  return g(" + word + ": " + word + ")." + word + "\n}\nlet " + word + " = 2\n"),
                  sink);
    EXPECT_FALSE(sink.hasErrors()) << word << ": " << (sink.hasErrors() ? sink.all()[0].message : "");
  }
}

}  // namespace
}  // namespace tbem::test
