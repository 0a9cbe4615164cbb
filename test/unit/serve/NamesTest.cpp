// To declarations, to uses, and other names that leave the meaning of every name as it was.
#include "Program.h"
#include "compiler/serve/Names.h"

#include <gtest/gtest.h>

namespace tbem::serve {
namespace {

constexpr const char* kProgram = R"(let base = 8

block stage(x: tensor[n, c, h, w]; width: int = base) -> tensor[n, width, h, w] {
  let y = conv2d(x, out: width, kernel: 3, pad: 1)
  return relu(y)
}

network net(image: tensor[n, 3, h, w]; width: int = 4) -> tensor[n, width, h, w] {
  return stage(image, width: width)
}

design sizes of net {
  factor width: 2, 4
  input  image: [1, 3, 8, 8]
}
)";

std::string renamedText(const Program& program, Loc place, const std::string& name) {
  const auto places = rename(program.reading, place, name);
  if (!places) return "refused: " + places.error();
  std::string text = program.reading.source.text;
  for (auto one = places->rbegin(); one != places->rend(); ++one)
    text.replace(one->begin - program.reading.source.base, one->end - one->begin, name);
  return text;
}

std::string replacedAll(std::string text, const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return text;
}

TEST(Names, LeadToTheLibrary) {
  const Program program(kProgram);
  const auto found = declarationsOf(program.reading, program.at("conv2d"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(program.reading.isOwn(found.front()));
  EXPECT_EQ(program.word(found.front()), "conv2d");
}

TEST(Names, AFactorIsItsDesignsAndTheNetworks) {
  const Program program(kProgram);
  EXPECT_EQ(declarationsOf(program.reading, program.at("factor width", 7)).size(), 2u);
}

TEST(Names, UsesOfAParameter) {
  const Program program(kProgram);
  EXPECT_EQ(placesOf(program.reading, program.at("out: width", 5)).size(), 4u)
      << "its declaration, two dimensions or values of the block, the argument's name";
}

TEST(Rename, AParameterWithItsFactorAndArguments) {
  const Program program(kProgram);
  const std::string expected =
      replacedAll(kProgram, {{"width: int = 4", "wide: int = 4"},
                             {"-> tensor[n, width, h, w] {\n  return stage", "-> tensor[n, wide, h, w] {\n  return stage"},
                             {"width: width)", "width: wide)"},
                             {"factor width", "factor wide"}});
  EXPECT_EQ(renamedText(program, program.at("factor width", 7), "wide"), expected);
  EXPECT_EQ(renamedText(program, program.at("width: int = 4"), "wide"), expected);
}

TEST(Rename, ALongerAndAShorterName) {
  const Program program(kProgram);
  EXPECT_EQ(renamedText(program, program.at("let base", 4), "a"), replacedAll(kProgram, {{"base", "a"}, {"base", "a"}}));
  EXPECT_EQ(renamedText(program, program.at("int = base", 6), "the_base_width"),
            replacedAll(kProgram, {{"let base", "let the_base_width"}, {"int = base", "int = the_base_width"}}));
}

TEST(Rename, IsRefusedWhereItWouldMeanSomethingElse) {
  const Program program(kProgram);
  const auto why = [&](Loc place, const std::string& name) { return renamedText(program, place, name); };
  EXPECT_EQ(why(program.at("conv2d"), "c"), "refused: `conv2d` is declared in another file");
  EXPECT_EQ(why(program.at("kernel"), "k"), "refused: `kernel` is declared in another file");
  EXPECT_EQ(why(program.at("let y", 4), "x"), "refused: `x` means something else where `y` stands");
  EXPECT_EQ(why(program.at("block stage", 6), "relu"), "refused: `relu` means something else where `stage` stands");
  EXPECT_EQ(why(program.at("let y", 4), "let"), "refused: `let` is a word of the language");
  EXPECT_EQ(why(program.at("let y", 4), "2y"), "refused: `2y` is no name: a letter, then letters, digits and `_`");
  EXPECT_EQ(why(program.at("let y"), "z"), "refused: no name stands here");
}

}  // namespace
}  // namespace tbem::serve
