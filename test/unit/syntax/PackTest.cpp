// Trees survive packing: every program that the tests, the examples and the library have.
#include "compiler/support/Bug.h"
#include "compiler/syntax/parse/Parse.h"
#include "compiler/syntax/tree/Dump.h"
#include "compiler/syntax/tree/Pack.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tbem::syntax {
namespace {

std::vector<std::filesystem::path> programs() {
  std::vector<std::filesystem::path> found;
  for (const char* folder : {"stdlib", "examples", "test/prop", "test/lit", "test/bad"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(test::inSources(folder))) {
      if (entry.path().extension() == ".tbem") found.push_back(entry.path());
    }
  }
  return found;
}

std::string textOf(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(Pack, TreesComeBack) {
  std::size_t bytes = 0;
  for (const std::filesystem::path& path : programs()) {
    const std::string text = textOf(path);
    SourceManager sources, later;
    DiagnosticSink sink;
    const Source& source = sources.add(path.string(), text);
    const auto parsed = parse(source, sink);
    const std::string packed = pack(*parsed);
    bytes += packed.size();
    // Read back behind another source: places move with it.
    later.add("before", "some text");
    const Source& moved = later.add(path.string(), text);
    const auto back = unpack(moved, packed);
    EXPECT_EQ(back->source, &moved);
    EXPECT_EQ(dump(*back), dump(*parsed)) << path;
    EXPECT_EQ(pack(*back), packed) << path;
    ASSERT_EQ(back->declarations.size(), parsed->declarations.size());
    for (std::size_t i = 0; i < back->declarations.size(); ++i) {
      EXPECT_EQ(later.text(back->declarations[i]->range), sources.text(parsed->declarations[i]->range));
      EXPECT_EQ(later.text(back->declarations[i]->name.range), sources.text(parsed->declarations[i]->name.range));
      EXPECT_EQ(back->declarations[i]->documentation, parsed->declarations[i]->documentation);
    }
  }
  EXPECT_GT(bytes, 200'000U);
}

TEST(Pack, TypesThatParametersShareStayShared) {
  SourceManager sources;
  DiagnosticSink sink;
  const auto parsed = parse(sources.add("a", "function f(a, b: int) -> int { return a + b }\n"), sink);
  const auto back = unpack(*parsed->source, pack(*parsed));
  const auto* function = ast::dynCast<ast::Function>(back->declarations.front());
  ASSERT_NE(function, nullptr);
  ASSERT_EQ(function->parameters.size(), 2U);
  EXPECT_EQ(function->parameters[0].type, function->parameters[1].type);
}

TEST(Pack, OtherBytesAreABug) {
  SourceManager sources;
  DiagnosticSink sink;
  const auto parsed = parse(sources.add("a", "let a = 1\n"), sink);
  const std::string packed = pack(*parsed);
  EXPECT_THROW(unpack(*parsed->source, packed.substr(0, packed.size() - 1)), Bug);
  EXPECT_THROW(unpack(*parsed->source, packed + "x"), Bug);
}

}  // namespace
}  // namespace tbem::syntax
