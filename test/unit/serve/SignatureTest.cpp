// The parameters of a call while its arguments are written.
#include "Program.h"
#include "compiler/serve/Signature.h"

#include <gtest/gtest.h>

#include <string>

namespace tbem::serve {
namespace {

constexpr const char* kHead =
    "/// Doubles.\nblock b(x: tensor[n, c]; gain: int = 2, shift: int = 0) -> tensor[n, c] { return gain * x }\n"
    "function f(a: int, z: int) -> int { return a + z }\n";

/// "b(x: ..) | gain: int = 2": the head and the active parameter, of the place `|` in the body of a network.
std::string help(const std::string& body) {
  std::string text = std::string(kHead) + "network net(x: tensor[n, c]) -> tensor[n, c] {\n  return " + body;
  const std::size_t place = text.rfind('|');
  text.erase(place, 1);
  const Program program(text);
  const auto found = signatureAt(program.reading, place);
  if (!found) return "nothing";
  if (!found->active) return found->text;
  const Piece active = found->parameters[*found->active];
  return found->text.substr(0, found->text.find('(')) + " | " + found->text.substr(active.begin, active.end - active.begin);
}

TEST(Signature, FollowsTheArguments) {
  EXPECT_EQ(help("b(|)\n}\n"), "b | x: tensor[n, c]");
  EXPECT_EQ(help("b(x, |)\n}\n"), "b | gain: int = 2");
  EXPECT_EQ(help("b(x; 3, |)\n}\n"), "b | shift: int = 0");
  EXPECT_EQ(help("b(x, shift: |)\n}\n"), "b | shift: int = 0");
  EXPECT_EQ(help("b(x, shift: 1, g|"), "b | gain: int = 2");
  EXPECT_EQ(help("b(x, 1, 2, |)\n}\n"), "b(x: tensor[n, c]; gain: int = 2, shift: int = 0) -> tensor[n, c]");
}

TEST(Signature, WhatIsPipedIsTheFirstTensor) {
  EXPECT_EQ(help("x |> b(|"), "b | gain: int = 2");
  EXPECT_EQ(help("x |> b(1, |"), "b | shift: int = 0");
  // A number is no tensor: an instance is made.
  EXPECT_EQ(help("b(1, |"), "b | shift: int = 0");
}

TEST(Signature, OfTheInnermostCall) {
  EXPECT_EQ(help("b(b(x, 1), |)\n}\n"), "b | gain: int = 2");
  EXPECT_EQ(help("b(x, f(1, |"), "f | z: int");
  EXPECT_EQ(help("f(1, 2, |"), "f(a: int, z: int) -> int");
  EXPECT_EQ(help("b(x, [1, 2, |"), "nothing");
  EXPECT_EQ(help("(x |"), "nothing");
}

TEST(Signature, NotWhereNothingIsCalled) {
  EXPECT_EQ(help("x // b(|"), "nothing");
  EXPECT_EQ(help("nobody(|"), "nothing");
  const Program program(kHead);
  EXPECT_FALSE(signatureAt(program.reading, program.byteAt("x: tensor"))) << "the head of the declaration";
}

TEST(Signature, HasTheDocumentation) {
  const Program program(std::string(kHead) + "network net(x: tensor[n, c]) -> tensor[n, c] { return b(x) }\n");
  const auto found = signatureAt(program.reading, program.byteAt("b(x) }", 2));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->documentation, "Doubles.");
  EXPECT_EQ(found->parameters.size(), 3u);
}

}  // namespace
}  // namespace tbem::serve
