// What an editor shows: a name's meaning, what may be written, the outline, folds, colours, fixes.
#include "Program.h"
#include "compiler/serve/Completion.h"
#include "compiler/serve/Fixes.h"
#include "compiler/serve/Hover.h"
#include "compiler/serve/Outline.h"
#include "compiler/serve/Tokens.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tbem::serve {
namespace {

constexpr const char* kProgram = R"(// What it is for,
// in two lines.
import std.vision: small_vgg

/// Doubles (Doe 2020, eq. 1).
/// More of it.
block twice(x: tensor[n, c]; gain: int = 2) -> tensor[n, c] {
  let y = gain * x
  return y
}

network net(x: tensor[n, c]) -> tensor[n, 4] {
  return dense(twice(x, gain: 3), 4)
}

design sizes of net {
  factor batch: 2, 4
  input  x: [batch, 3]
}
)";

std::string declarationAt(const Program& program, Loc place) {
  const auto hover = hoverAt(program.reading, place);
  return hover ? hover->declaration : "nothing";
}

TEST(Hover, SaysWhatANameIs) {
  const Program program(kProgram);
  EXPECT_EQ(declarationAt(program, program.at("twice(x, gain")), "block twice(x: tensor[n, c]; gain: int = 2) -> tensor[n, c]");
  EXPECT_EQ(declarationAt(program, program.at("gain: 3")), "parameter gain: int = 2");
  EXPECT_EQ(declarationAt(program, program.at("return y", 7)), "let y = gain * x");
  EXPECT_EQ(declarationAt(program, program.at("of net", 3)), "network net(x: tensor[n, c]) -> tensor[n, 4]");
  EXPECT_EQ(declarationAt(program, program.at("[batch", 1)), "factor batch: 2, 4");
  EXPECT_EQ(declarationAt(program, program.at("design sizes", 7)), "design sizes of net");
  EXPECT_EQ(declarationAt(program, program.at("{\n  let y")), "nothing");
}

TEST(Hover, HasTheDocumentationAndTheModule) {
  const Program program(kProgram);
  const auto own = hoverAt(program.reading, program.at("twice(x, gain"));
  ASSERT_TRUE(own);
  EXPECT_EQ(own->documentation, "Doubles (Doe 2020, eq. 1).\nMore of it.");
  const auto library = hoverAt(program.reading, program.at("dense("));
  ASSERT_TRUE(library);
  EXPECT_NE(library->documentation.find("in `std.nn`"), std::string::npos);
  const auto parameter = hoverAt(program.reading, program.at("gain: 3"));
  ASSERT_TRUE(parameter);
  EXPECT_EQ(parameter->documentation, "of block `twice`");
}

std::string documentationAt(const Program& program, Loc place) {
  const auto hover = hoverAt(program.reading, place);
  return hover ? hover->documentation : "nothing";
}

constexpr const char* kWords = R"(/// Says what `exit` does.
operator thrice(x: tensor[..s]; step: int = 3) -> (y: tensor[..s])
  elementwise y = step * x * random()
  flops       exp: 2

block affine(x: i64[n, c]) -> tensor[n, c] {
  weight gain: tensor[c] init he_normal
  return gain * cast(x, to: f32)
}

process Halved(on: int | at: {<in>, <of>}) half: int
pre  at = <in>
comment A text for nobody,
        and not in a condition.
post half = on div 2
end_process
)";

TEST(Hover, SaysWhatAWordOfTheLanguageIsFor) {
  const Program program(kWords);
  const auto weight = hoverAt(program.reading, program.at("weight gain", 3));
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight->declaration, "weight");
  EXPECT_EQ(program.word(weight->range), "weight");
  EXPECT_TRUE(weight->documentation.starts_with("`weight` declares a tensor that is trained")) << weight->documentation;
  EXPECT_TRUE(documentationAt(program, program.at("tensor[c]")).starts_with("The type of tensors"));
  EXPECT_TRUE(documentationAt(program, program.at("he_normal")).starts_with("Initialisers of a weight"));
  EXPECT_TRUE(documentationAt(program, program.at("i64[n, c]")).starts_with("Types of elements"));
  EXPECT_TRUE(documentationAt(program, program.at("random()")).starts_with("Words of element-wise expressions"));
  EXPECT_TRUE(documentationAt(program, program.at("comment A")).starts_with("A `process` states"));
  EXPECT_TRUE(documentationAt(program, program.at("on div 2", 3)).starts_with("Division of integers"));
}

TEST(Hover, SaysNothingOfAWordThatIsNone) {
  const Program program(kWords);
  EXPECT_EQ(documentationAt(program, program.at("`exit`", 1)), "nothing") << "a comment";
  EXPECT_EQ(declarationAt(program, program.at("step * x")), "parameter step: int = 3");
  EXPECT_EQ(documentationAt(program, program.at("exp: 2")), "of the language itself") << "a part of the cost";
  EXPECT_EQ(documentationAt(program, program.at("<in>\n", 1)), "nothing") << "a member of an enumeration";
  EXPECT_EQ(documentationAt(program, program.at("for nobody")), "nothing") << "a text";
  EXPECT_EQ(documentationAt(program, program.at("not in a")), "nothing") << "its second line";
  EXPECT_EQ(declarationAt(program, program.at("(on: int", 1)), "parameter on: int");
}

/// Labels in order, up to `most`; of a text in which `|` marks the place.
std::vector<std::string> offered(std::string text, std::size_t most) {
  const std::size_t place = text.find('|');
  text.erase(place, 1);
  const Program program(text);
  std::vector<std::string> labels;
  for (const Completion& one : completionsAt(program.reading, place).list) {
    if (labels.size() < most) labels.push_back(one.label);
  }
  return labels;
}

bool offers(const std::string& text, const std::string& label) {
  const std::vector<std::string> all = offered(text, 10'000);
  return std::ranges::find(all, label) != all.end();
}

using Labels = std::vector<std::string>;

TEST(Completion, ArgumentsOfTheCallComeFirst) {
  const std::string head = "block b(x: tensor[n, c]; gain: int = 2, shift: int = 0) -> tensor[n, c] { return x }\n";
  EXPECT_EQ(offered(head + "network net(x: tensor[n, c]) -> tensor[n, c] {\n  return b(x, |)\n}\n", 2),
            (Labels{"gain", "shift"}));
  EXPECT_EQ(offered(head + "network net(x: tensor[n, c]) -> tensor[n, c] {\n  return b(x, gain: 3, s|)\n}\n", 1),
            (Labels{"shift"}));
  // In the middle of an edit there may be no end.
  EXPECT_EQ(offered(head + "network net(x: tensor[n, c]) -> tensor[n, c] {\n  return b(b(x, gain: 1), |", 2),
            (Labels{"gain", "shift"}));
}

TEST(Completion, NamesInSightAndNoOthers) {
  const std::string text =
      "network net(x: tensor[n, c]) -> tensor[n, 4] {\n  let mine = relu(x)\n  return dense(|, 4)\n}\nnetwork other(z: tensor[n, "
      "c]) -> "
      "tensor[n, c] { return z }\n";
  EXPECT_TRUE(offers(text, "mine"));
  EXPECT_TRUE(offers(text, "x"));
  EXPECT_TRUE(offers(text, "conv2d"));
  EXPECT_TRUE(offers(text, "other"));
  EXPECT_FALSE(offers(text, "z"));
  EXPECT_FALSE(offers(text, "small_vgg")) << "it is not imported";
}

TEST(Completion, ImportsAndModules) {
  EXPECT_TRUE(offers("import |\n", "std.vision"));
  EXPECT_TRUE(offers("import std.vi|\n", "std.vision"));
  EXPECT_TRUE(offers("import std.vision: |\n", "small_vgg"));
  EXPECT_FALSE(offers("import std.vision: |\n", "conv2d"));
  EXPECT_TRUE(offers("import std.vision as v\ndesign d of v.|\n", "resnet"));
}

TEST(Completion, FactorsOfADesign) {
  const std::string head = "network net(x: tensor[n, c]; width: int = 2) -> tensor[n, width] { return dense(x, width) }\n";
  EXPECT_EQ(offered(head + "design d of net {\n  factor |\n}\n", 1), (Labels{"width"}));
}

TEST(Completion, QuantitiesOfABudget) {
  const std::string head = "network net(x: tensor[n, c]) -> tensor[n, 4] { return dense(x, 4) }\n";
  const std::string begun = head + "design d of net {\n  input x: [2, 3]\n  budget |\n}\n";
  EXPECT_EQ(offered(begun, 3), (Labels{"parameters", "flops", "flops_forward"}));
  EXPECT_TRUE(offers(begun, "activation_gradients")) << "of PyTorch";
  EXPECT_FALSE(offers(head + "design d of net {\n  input x: [2, |\n}\n", "flops_forward"));
}

TEST(Completion, WordsWhereAClauseBegins) {
  EXPECT_TRUE(offers("|", "network"));
  EXPECT_FALSE(offers("let a = |\n", "network"));
  EXPECT_TRUE(offers("network net(x: tensor[n, c]) -> tensor[n, c] {\n  |\n}\n", "return"));
  EXPECT_FALSE(offers("network net(x: tensor[n, c]) -> tensor[n, c] {\n  |\n}\n", "network"));
}

TEST(Completion, NothingInCommentsAndStrings) {
  EXPECT_EQ(offered("// con|\n", 1), Labels{});
  EXPECT_EQ(offered("let a = \"con|\"\n", 1), Labels{});
}

TEST(Completion, ReplacesTheWordThatIsBegun) {
  const Program program("let number = 1\nlet b = num\n");
  EXPECT_EQ(completionsAt(program.reading, program.byteAt("= num", 5)).begin, program.byteAt("= num", 2));
}

TEST(Outline, HasAllDeclarationsWithTheirParts) {
  const Program program(kProgram);
  const std::vector<Outlined> outline = outlineOf(program.reading);
  ASSERT_EQ(outline.size(), 3u);
  EXPECT_EQ(outline[0].name, "twice");
  EXPECT_EQ(outline[0].detail, "block");
  ASSERT_EQ(outline[0].parts.size(), 2u);
  EXPECT_EQ(outline[0].parts[1].name, "gain");
  EXPECT_EQ(outline[2].detail, "design");
  EXPECT_EQ(outline[2].parts.size(), 2u);
}

TEST(Outline, FoldsBodiesAndComments) {
  const Program program(kProgram);
  std::vector<std::pair<std::string, Fold::What>> folds;
  for (const Fold& fold : foldsOf(program.reading)) {
    const std::string text = program.reading.source.text.substr(fold.begin, fold.end - fold.begin);
    folds.emplace_back(text.substr(0, text.find('\n')), fold.what);
  }
  using What = Fold::What;
  const std::vector<std::pair<std::string, What>> expected = {{"// What it is for,", What::Comment},
                                                              {"/// Doubles (Doe 2020, eq. 1).", What::Comment},
                                                              {"{", What::Code},
                                                              {"{", What::Code},
                                                              {"{", What::Code}};
  EXPECT_EQ(folds, expected);
}

TEST(Outline, BracketsInStringsAndCommentsFoldNothing) {
  const Program program("let a = \"{\" // {\nlet b = 1\nlet c = 2 // }\n");
  EXPECT_TRUE(foldsOf(program.reading).empty());
}

TEST(Tokens, AreInOrderAndDoNotMeet) {
  const Program program(kProgram);
  const std::vector<Token> tokens = tokensOf(program.reading);
  ASSERT_GT(tokens.size(), 20u);
  for (std::size_t i = 1; i < tokens.size(); ++i) EXPECT_LE(tokens[i - 1].range.end, tokens[i].range.begin);
  const auto of = [&](Loc place) {
    return *std::ranges::find_if(tokens, [&](const Token& one) { return one.range.begin == place; });
  };
  EXPECT_EQ(of(program.at("dense(")).type, TokenType::Function);
  EXPECT_EQ(of(program.at("dense(")).modifiers, kOfLibrary);
  EXPECT_EQ(of(program.at("y = gain")).modifiers, kDeclares | kReadOnly);
  EXPECT_EQ(of(program.at("batch: 2")).type, TokenType::Property);
}

TEST(Fixes, OfWhatIsWrongThere) {
  Program program("network net(x: tensor[n, c]) -> tensor[n, 4] { return dens(x, 4) }\nlet a = reluu\n");
  program.session.check();
  const auto fixes = fixesAt(program.reading, {program.at("dens("), program.at("dens(", 1)});
  ASSERT_FALSE(fixes.empty());
  EXPECT_EQ(fixes.front().title, "replace `dens` by `dense`");
  EXPECT_TRUE(fixesAt(program.reading, {program.at("network"), program.at("network", 3)}).empty());
}

}  // namespace
}  // namespace tbem::serve
