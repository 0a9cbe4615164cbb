// Images in rows and columns as SVG: what is inside, and that nothing of a program's text gets out of its place.
#include "runtime/report/Pictures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tbem::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

PictureGrid gridOf(const Picture& picture) { return {"title", "sub", {"head"}, {"row"}, {{picture}}}; }

// RFC 4648, section 10.
TEST(Pictures, HoldBytesInBase64) {
  const std::pair<const char*, const char*> all[] = {
      {"f", "Zg=="},         {"fo", "Zm8="},         {"foo", "Zm9v"},          {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}, {"\xff\xfe\xfd", "//79"}, {"\xfb\xef", "++8="}};
  for (const auto& [bytes, text] : all) {
    const std::string svg = picturesSvg(gridOf({{bytes}, {}, {}}));
    EXPECT_EQ(count(svg, std::string("href=\"data:image/png;base64,") + text + "\"/>"), 1U) << svg;
  }
}

TEST(Pictures, ShowsMarksAndLines) {
  const std::string svg = picturesSvg(gridOf({{"a", "b"}, {"3 < 4 & \"5\"", "second"}, {1, 0, 0, -1, -1, -1}}));
  EXPECT_EQ(count(svg, "<image "), 2U);
  EXPECT_EQ(count(svg, "fill=\"#0072B2\""), 1U);
  EXPECT_EQ(count(svg, "stroke=\"#0072B2\" fill=\"#fff\""), 2U);
  EXPECT_EQ(count(svg, "<circle "), 3U);
  EXPECT_EQ(count(svg, ">3 &lt; 4 &amp; &quot;5&quot;</text>"), 1U);
  EXPECT_EQ(count(svg, ">row</text>"), 1U);
}

TEST(Pictures, BreaksLongHeadsBehindCommas) {
  PictureGrid grid = gridOf({});
  grid.columns = {"generator(examples: 20000, objective: margins, epochs: 8)"};
  const std::string svg = picturesSvg(grid);
  EXPECT_EQ(count(svg, ">generator(examples: 20000,</text>"), 1U) << svg;
  EXPECT_EQ(count(svg, ">objective: margins, epochs: 8)</text>"), 1U) << svg;
}

TEST(Pictures, WrapsMarksOfManyGates) {
  Picture picture{{"a"}, {}, std::vector<std::int8_t>(54, 1)};
  const std::string one = picturesSvg(gridOf({{"a"}, {}, {1}})), many = picturesSvg(gridOf(picture));
  EXPECT_EQ(count(many, "fill=\"#0072B2\""), 54U);
  const auto heightOf = [](const std::string& svg) { return std::stod(svg.substr(svg.find("height=\"") + 8)); };
  EXPECT_GT(heightOf(many), heightOf(one) + 40) << "more than one line of them";
}

}  // namespace
}  // namespace tbem::report
