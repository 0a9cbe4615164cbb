// The wrong programs of test/bad/syntax against their expected text, without the rest of the compiler.
#include "compiler/diagnostics/Render.h"
#include "compiler/syntax/parse/Parse.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tbem::test {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Bad, ExpectedTexts) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(inSources("test/bad/syntax"))) {
    std::filesystem::path path = entry.path();
    if (path.extension() != ".tbem") continue;
    ++count;
    SourceManager sources;
    DiagnosticSink sink;
    syntax::parse(sources.add(path.filename().string(), read(path)), sink);
    std::string shown = renderAll(sink, sources, {false, 80});
    shown += sink.hasErrors() ? "exit 1\n" : "exit 0\n";
    EXPECT_EQ(shown, read(path.replace_extension(".expected"))) << path;
  }
  EXPECT_GE(count, 40U);
}

/// A program mended by its certain fixes has fewer errors, and none of those.
TEST(Bad, CertainFixesMend) {
  for (const char* name : {"slips", "unicode_slips", "quotes", "hash_comment", "unary_plus", "argument_equals", "factor_colon"}) {
    const std::filesystem::path path = inSources(std::string("test/bad/syntax/") + name + ".tbem");
    SourceManager sources;
    DiagnosticSink sink;
    const Source& source = sources.add(name, read(path));
    syntax::parse(source, sink);
    ASSERT_TRUE(sink.hasErrors()) << name;
    DiagnosticSink again;
    const Source& mended = sources.add("mended", applyFixes(source, sink.all()));
    syntax::parse(mended, again);
    EXPECT_FALSE(again.hasErrors()) << mended.text;
  }
}

}  // namespace
}  // namespace tbem::test
