// The pages docs/errors/E01*.md: what they call wrong draws their code, what they call right parses.
#include "compiler/syntax/parse/Parse.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tbem::test {
namespace {

std::string example(const std::string& page, const std::string& title) {
  const std::string mark = title + ":\n```\n";
  const std::size_t begin = page.find(mark);
  if (begin == std::string::npos) return {};
  const std::size_t from = begin + mark.size();
  return page.substr(from, page.find("\n```", from) - from);
}

/// Places where a fragment may stand.
const std::pair<const char*, const char*> kPlaces[] = {
    {"", "\n"},
    {"let value = ", "\n"},
    {"function f(a: int) -> int {\n", "\n}\n"},
    {"function f(a: int) -> int {\n", "{ return 1 }\n}\n"},
    {"function f(", ") -> int { return 1 }\n"},
    {"network f(", ") -> tensor[n] { return x }\n"},
    {"design d of net {\n", "\n}\n"},
    {"measure d {\n", "\n}\n"},
    {"mutate m of net {\n", "\n}\n"},
    {"operator f(x: tensor[n]) -> (y: tensor[n])\n", "\n"},
    {"process P(a: int) y: bool\n", "\npost y = true\nend_process\n"},
    {"fit d over batch into ", "\n"},
};

struct Outcome {
  bool draws = false;
  bool errors = false;
};
Outcome parsed(const std::string& text, const std::string& code) {
  SourceManager sources;
  DiagnosticSink sink;
  syntax::parse(sources.add("page", text), sink);
  const bool draws =
      std::any_of(sink.all().begin(), sink.all().end(), [&](const Diagnostic& each) { return info(each.kind).code == code; });
  return {draws, sink.hasErrors() || draws};
}

TEST(Docs, ExamplesOfErrorPages) {
  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(inSources("docs/errors"))) {
    const std::string code = entry.path().stem().string();
    if (code.substr(1, 2) != "01" || code == "E0140" || code == "E0142" || code == "E0143")
      continue;  // too long to print; cannot be shown
    std::ifstream stream(entry.path());
    const std::string page(std::istreambuf_iterator<char>(stream), {});
    const std::string wrong = example(page, "Wrong");
    const std::string right = example(page, "Right");
    ASSERT_FALSE(wrong.empty() || right.empty()) << code;
    const bool shown = std::any_of(std::begin(kPlaces), std::end(kPlaces), [&](const auto& place) {
      return parsed(place.first + wrong + place.second, code).draws && !parsed(place.first + right + place.second, code).errors;
    });
    EXPECT_TRUE(shown) << code << "\n" << wrong;
    ++pages;
  }
  EXPECT_GE(pages, 40U);
}

}  // namespace
}  // namespace tbem::test
