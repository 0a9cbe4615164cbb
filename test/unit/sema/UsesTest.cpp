// What names mean, by place: in a body, through modules, in a gradient, in a design.
#include "compiler/sema/check/Uses.h"

#include "compiler/diagnostics/Session.h"

#include <gtest/gtest.h>

namespace tbem::sema {
namespace {

struct Text {
  Session session;
  const Source* source = nullptr;
  std::unique_ptr<Program> program;
  Uses uses;

  explicit Text(const std::string& text) {
    source = &session.sources.add("test.tbem", text);
    program = load(session.sources, session.sink, *source, {});
    uses = findUses(*program);
  }
  /// What the word means that begins where `context` does, moved on by `offset`; there must be one such place.
  std::vector<Use> at(const std::string& context, std::size_t offset = 0) const {
    const std::size_t place = source->text.find(context);
    EXPECT_NE(place, std::string::npos) << context;
    EXPECT_EQ(source->text.find(context, place + 1), std::string::npos) << context << " stands twice";
    const auto found = uses.at(source->base + static_cast<Loc>(place + offset));
    return {found.begin(), found.end()};
  }
  Use only(const std::string& context, std::size_t offset = 0) const {
    const std::vector<Use> found = at(context, offset);
    EXPECT_EQ(found.size(), 1u) << context;
    return found.empty() ? Use{} : found.front();
  }
  std::string word(SrcRange range) const { return std::string(session.sources.text(range)); }
  std::vector<std::string> words(const std::vector<SrcRange>& places) const {
    std::vector<std::string> all;
    for (const SrcRange place : places) all.push_back(session.sources.describe(place.begin));
    return all;
  }
};

TEST(Uses, GoToADeclarationAndBack) {
  const Text text("function twice(a: int) -> int {\n  let b = a * 2\n  return b\n}\nlet four = twice(a: 2)\n");
  const Use use = text.only("a * 2");
  EXPECT_EQ(use.kind, NameKind::Parameter);
  EXPECT_FALSE(use.isDeclaration());
  EXPECT_EQ(text.words(text.uses.usesOf(use.declaration)),
            (std::vector<std::string>{"test.tbem:1:16", "test.tbem:2:11", "test.tbem:5:18"}));
  EXPECT_TRUE(text.only("a: int").isDeclaration());
  EXPECT_EQ(text.only("b\n").kind, NameKind::Let);
  EXPECT_EQ(text.only("twice(a: 2").kind, NameKind::Function);
  EXPECT_EQ(text.only("twice(a: 2", 4).kind, NameKind::Function) << "in the middle of the word";
  EXPECT_TRUE(text.at("(a: int)").empty()) << "a mark is no name";
}

TEST(Uses, OfAnotherModuleAreInItsText) {
  const Text text(
      "import std.vision as sight\nimport std.vision: vgg\ndesign d of sight.resnet(depth: 18) {\n  input image: [1, 3, 32, "
      "32]\n}\n");
  const Use network = text.only("resnet(");
  EXPECT_EQ(network.kind, NameKind::Callable);
  EXPECT_EQ(text.word(network.declaration), "resnet");
  EXPECT_NE(text.session.sources.find(network.declaration.begin), text.source);
  const Use depth = text.only("depth: 18");
  EXPECT_EQ(depth.kind, NameKind::Parameter);
  EXPECT_EQ(text.word(depth.declaration), "depth");
  EXPECT_EQ(text.only("sight.").declaration, text.only("sight\n").range);
  EXPECT_EQ(text.word(text.only("vgg\n").declaration), "vgg");
  EXPECT_EQ(text.only("vision:").kind, NameKind::Module);
}

TEST(Uses, AGradientNamesItsResult) {
  const Text text("operator twice(x: tensor[..s]) -> (y: tensor[..s])\n  elementwise y = x + x\n  backward x: 2 * dy\n");
  const Use use = text.only("dy", 1);
  EXPECT_EQ(use.kind, NameKind::Result);
  EXPECT_EQ(text.word(use.range), "y");
  EXPECT_EQ(text.words(text.uses.usesOf(use.declaration)).size(), 3u);
}

TEST(Uses, AFactorIsDeclaredAndFillsAParameter) {
  const Text text(
      "network net(x: tensor[n, c]; width: int = 4) -> tensor[n, width] { return dense(x, width) }\n"
      "design d of net {\n  factor width: 8, 16\n  factor batch: 1, 2\n  input x: [batch, width]\n}\n"
      "regress r from d {\n  response memory_peak\n  terms batch + width\n}\npredict r at {width: 12, batch: 3}\n");
  const std::vector<Use> factor = text.at("width: 8");
  ASSERT_EQ(factor.size(), 2u);
  EXPECT_NE(factor[0].isDeclaration(), factor[1].isDeclaration());
  EXPECT_EQ(text.words(text.uses.sameName(text.only("width: int").range)),
            (std::vector<std::string>{"test.tbem:1:30", "test.tbem:1:59", "test.tbem:1:84", "test.tbem:3:10", "test.tbem:5:20",
                                      "test.tbem:9:17", "test.tbem:11:15"}));
  EXPECT_EQ(text.only("r at").kind, NameKind::Regression);
  EXPECT_EQ(text.only("d {\n  response").kind, NameKind::Design);
  EXPECT_EQ(text.only("batch: 3").declaration, text.only("batch: 1").range);
}

TEST(Uses, WordsOfTheLanguageHaveNoDeclaration) {
  const Text text("let a = str(len([1, 2]))\n");
  for (const char* word : {"str(", "len("}) {
    EXPECT_EQ(text.only(word).kind, NameKind::Builtin);
    EXPECT_TRUE(text.uses.usesOf(text.only(word).declaration).empty());
  }
}

}  // namespace
}  // namespace tbem::sema
