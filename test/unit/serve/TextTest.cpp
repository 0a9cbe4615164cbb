// Places as an editor counts them, against what the protocol says of UTF-16 (LSP 3.17, "Text Documents": `a𐐀b`).
#include "compiler/serve/Text.h"

#include <gtest/gtest.h>

namespace tbem::serve {
namespace {

constexpr const char* kDeseret =
    "a\xF0\x90\x90\x80"
    "b";  // of the protocol's own example: the letter has two units of UTF-16

TEST(Text, CountsAsAgreed) {
  const struct {
    Encoding encoding;
    std::uint32_t ofB;
  } kinds[] = {{Encoding::Utf8, 5}, {Encoding::Utf16, 3}, {Encoding::Utf32, 2}};
  for (const auto& [encoding, ofB] : kinds) {
    const Text text(kDeseret, encoding);
    EXPECT_EQ(text.offset({0, ofB}), 5u);
    EXPECT_EQ(text.position(5), (Position{0, ofB}));
    EXPECT_EQ(text.offset({0, ofB + 1}), 6u);
  }
}

TEST(Text, APlaceInsideACharacterIsItsBeginning) {
  const Text text(kDeseret, Encoding::Utf16);
  EXPECT_EQ(text.offset({0, 2}), 1u);
  const Text bytes(kDeseret, Encoding::Utf8);
  EXPECT_EQ(bytes.offset({0, 3}), 1u);
}

TEST(Text, LinesEndInThreeWays) {
  const Text text("one\ntwo\r\nthree\rfour");
  EXPECT_EQ(text.offset({1, 0}), 4u);
  EXPECT_EQ(text.offset({2, 0}), 9u);
  EXPECT_EQ(text.offset({3, 0}), 15u);
  EXPECT_EQ(text.offset({1, 99}), 7u) << "the end of a line is before its mark";
  EXPECT_EQ(text.offset({99, 0}), 19u);
  EXPECT_EQ(text.position(17), (Position{3, 2}));
  EXPECT_EQ(text.position(99), (Position{3, 4}));
}

TEST(Text, AnEmptyTextHasOneLine) {
  const Text text("");
  EXPECT_EQ(text.offset({0, 5}), 0u);
  EXPECT_EQ(text.position(0), (Position{0, 0}));
}

TEST(Text, EditsMoveTheLinesBehindThem) {
  Text text("one\ntwo\nthree\n");
  text.replace({{0, 3}, {1, 1}}, " and\nmore and ");
  EXPECT_EQ(text.all(), "one and\nmore and wo\nthree\n");
  EXPECT_EQ(text.offset({2, 0}), 20u);
  text.replace({{2, 0}, {9, 9}}, "");
  EXPECT_EQ(text.all(), "one and\nmore and wo\n");
  text.replace({{1, 4}, {0, 2}}, "|");
  EXPECT_EQ(text.all(), "one and\nmore| and wo\n") << "ends that stand the wrong way round insert";
}

TEST(Text, BytesThatAreNoUtf8AreOneCharacterEach) {
  const Text text(
      "\x80\xFF"
      "a");
  for (std::size_t at = 0; at <= 3; ++at) EXPECT_LE(text.offset(text.position(at)), at);
  EXPECT_EQ(text.offset({0, 99}), 3u);
}

}  // namespace
}  // namespace tbem::serve
