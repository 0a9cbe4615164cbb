// Entries of the language: what they make of the program, what they are worth, and what they cost.
#include "compiler/repl/Dialogue.h"

#include "compiler/diagnostics/Render.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

namespace tbem::repl {
namespace {

class Talk : public testing::Test {
protected:
  std::optional<Declared> declare(const std::string& text) {
    EXPECT_EQ(readEntry(text).kind, EntryKind::Declarations) << text;
    return dialogue.declare(readEntry(text));
  }
  std::string value(const std::string& text) {
    const std::optional<ShownValue> shown = dialogue.evaluate(text);
    return shown ? shown->text : "refused: " + said();
  }
  std::string said() const {
    if (dialogue.said() == nullptr) return {};
    return renderAll(dialogue.said()->sink, dialogue.said()->sources, {});
  }
  CallCost cost(const std::string& text) {
    const std::optional<RuntimeCall> call = dialogue.runtimeCall(text);
    EXPECT_TRUE(call) << text;
    if (!call) return {};
    const auto counted = dialogue.cost(*call, "");
    EXPECT_TRUE(counted && *counted) << text << "\n" << call->text << said();
    return counted && *counted ? **counted : CallCost();
  }
  void tensor(const std::string& name, std::vector<std::int64_t> shape, const std::vector<float>& numbers) {
    data::Array array{name, "f4", std::move(shape), {}};
    array.bytes.resize(numbers.size() * sizeof(float));
    std::memcpy(array.bytes.data(), numbers.data(), array.bytes.size());
    const auto taken = dialogue.tensors.put(name, std::move(array));
    EXPECT_TRUE(taken) << taken.error();
  }

  Events nobody;
  Dialogue dialogue{{.allStandard = true}, nobody};
};

using Shape = std::vector<std::int64_t>;

TEST_F(Talk, ValuesCanBeTypedAgain) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("[2 ** i for i in 0 .. 4]"), "[1, 2, 4, 8]");
  EXPECT_EQ(value("1 / 3"), value(value("1 / 3")));
  ASSERT_TRUE(declare("let base = 12"));
  EXPECT_EQ(value("base div 5"), "2");
  EXPECT_NE(value("bse").find("unknown name `bse`"), std::string::npos);
  EXPECT_NE(value("bse").find("<entry>:1:1"), std::string::npos);
}

TEST_F(Talk, DeclarationsTakeEachOthersPlaces) {
  ASSERT_TRUE(declare("block unit(x: tensor[n, c]) -> tensor[n, c] { return relu(x) }"));
  ASSERT_TRUE(declare("network net(x: tensor[n, c]) -> tensor[n, c] { return unit(x) }"));
  const auto again = declare("block unit(x: tensor[n, c]) -> tensor[n, 2 * c] { return concat([x, x], axis: 1) }");
  // What uses it does not fit any more; it is taken, and that is said.
  ASSERT_TRUE(again);
  EXPECT_EQ(again->replaced, std::vector<std::string>{"unit"});
  ASSERT_EQ(dialogue.program().pieces().size(), 2U);
  EXPECT_EQ(dialogue.program().pieces().front().name, "unit");
  ASSERT_TRUE(dialogue.undo());
  EXPECT_EQ(cost("net(x: [4, 3])").results.front().shape, (Shape{4, 3}));
  ASSERT_TRUE(dialogue.redo());
  EXPECT_FALSE(dialogue.redo());
  EXPECT_EQ(cost("unit([4, 3])").results.front().shape, (Shape{4, 6}));
}

TEST_F(Talk, MistakesOfItsOwnRefuseADeclaration) {
  ASSERT_TRUE(declare("let a = 1"));
  EXPECT_FALSE(declare("network net(x: tensor[n]) -> tensor[n] { return nowhere(x) }"));
  EXPECT_NE(said().find("nowhere"), std::string::npos);
  EXPECT_FALSE(dialogue.program().has("net"));
  EXPECT_TRUE(dialogue.program().has("a"));
  EXPECT_EQ(value("a"), "1");
}

TEST_F(Talk, OnlyWhatUsesABlockIsCheckedAgain) {
  std::string program = "block unit(x: tensor[n, c]) -> tensor[n, c] { return relu(x) }\n";
  for (int i = 0; i < 6; ++i)
    program += "network net" + std::to_string(i) + "(x: tensor[n, c]) -> tensor[n, c] { return " +
               (i < 2 ? "unit(x)" : "gelu(x)") + " }\n";
  ASSERT_TRUE(dialogue.load(program));
  const auto again = declare("block unit(x: tensor[n, c]) -> tensor[n, c] { return gelu(x) }");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->parts.all, 6U) << "the networks";
  EXPECT_EQ(again->parts.again, 2U) << "those that use the block";
}

TEST_F(Talk, CallsOfShapes) {
  // floor((n + 2 p - k) / s) + 1 a side; k k in out weights and out of the bias; two FLOPs a multiply-add and one an addition.
  const CallCost convolution = cost("conv2d([8, 3, 32, 30], out: 16, kernel: 5, stride: 2, pad: 1)");
  EXPECT_EQ(convolution.results.front().shape, (Shape{8, 16, 15, 14}));
  EXPECT_EQ(convolution.parameters, 5 * 5 * 3 * 16 + 16);
  const double outputs = 8.0 * 16 * 15 * 14;
  EXPECT_EQ(convolution.flops, outputs * (2 * 5 * 5 * 3 + 1));
  EXPECT_EQ(cost("[8, 64] |> dense(10)").results.front().shape, (Shape{8, 10}));
  EXPECT_EQ(cost("softmax([8, 64] |> dense(10) |> relu)").results.front().shape, (Shape{8, 10}));
  EXPECT_EQ(cost("concat([[4, 2], [4, 5]], axis: 1)").results.front().shape, (Shape{4, 7}));
  EXPECT_EQ(cost("mlp(x: [4, 8], widths: [16, 3])").results.front().shape, (Shape{4, 3}));
  EXPECT_EQ(cost("mlp(widths: [16, 3])([4, 8])").results.front().shape, (Shape{4, 3}));
  EXPECT_EQ(cost("resnet(depth: 18)(image: [2, 3, 64, 64])").parameters, 11'689'512) << "torchvision's resnet18";
}

TEST_F(Talk, NamesOfShapesAndInstances) {
  ASSERT_TRUE(declare("let s = [8, 64]"));
  ASSERT_TRUE(declare("let head = dense(out: 10)"));
  EXPECT_EQ(cost("head(s)").results.front().shape, (Shape{8, 10}));
  EXPECT_EQ(cost("s |> head").results.front().shape, (Shape{8, 10}));
  ASSERT_TRUE(declare("let same = dense(out: 64)"));
  EXPECT_EQ(cost("same(same(s))").parameters, 64 * 64 + 64) << "one instance, whose weights both uses share";
}

TEST_F(Talk, NoTensorFlowsInOtherExpressions) {
  for (const char* text : {"1 + 2", "sum([1, 2])", "[1, 2] |> len", "mlp([64, 10])", "conv2d(64, 3)", "len([1, 2])"})
    EXPECT_FALSE(dialogue.runtimeCall(text)) << text;
}

TEST_F(Talk, MistakesOfACallAreSaidOfIt) {
  const auto call = dialogue.runtimeCall("[8, 3, 4, 4] |> conv2d(8, kernel: 7)");
  ASSERT_TRUE(call);
  const auto counted = dialogue.cost(*call, "");
  ASSERT_TRUE(counted);
  EXPECT_FALSE(*counted);
  EXPECT_NE(said().find("error"), std::string::npos);
}

TEST_F(Talk, TensorsAreRecordsInExpressions) {
  tensor("y", {2, 2}, {1, 2, 3, 6});
  EXPECT_EQ(value("y.mean"), "3");
  EXPECT_EQ(value("y.max - y.min"), "5");
  EXPECT_EQ(value("y.shape"), "[2, 2]");
  EXPECT_EQ(value("y.size + y.sum"), "16");
  // The variance is (4 + 1 + 0 + 9) / 4.
  EXPECT_NEAR(dialogue.evaluate("y.deviation")->numbers.front(), std::sqrt(3.5), 1e-12);
  const auto call = dialogue.runtimeCall("relu(y) + y.mean");
  ASSERT_TRUE(call);
  ASSERT_EQ(call->inputs.size(), 1U);
  EXPECT_EQ(call->inputs.front().tensor, "y");
  EXPECT_FALSE(dialogue.runtimeCall("y.mean"));
}

TEST_F(Talk, StatisticsLeaveOutWhatIsNotFinite) {
  tensor("y", {4}, {1, INFINITY, 3, NAN});
  const Statistics& all = dialogue.tensors.find("y")->statistics;
  EXPECT_EQ(all.notFinite, 2U);
  EXPECT_EQ(all.mean, 2);
  EXPECT_EQ(all.deviation, 1);
}

TEST_F(Talk, StandaloneProgramsImportWhatTheyUse) {
  ASSERT_TRUE(declare("network net(image: tensor[n, 3, h, w]) -> tensor[n, 1000] { return resnet(image, depth: 18) }"));
  const std::string text = dialogue.standalone();
  EXPECT_NE(text.find("import std.vision: resnet\n"), std::string::npos) << text;
  session::CompileSession plain;
  EXPECT_FALSE(plain.check("net.tbem", text).sink.hasErrors());
}

TEST_F(Talk, ATensorGivesWayToADeclaration) {
  tensor("y", {1}, {1});
  ASSERT_TRUE(declare("let y = 3"));
  EXPECT_EQ(dialogue.tensors.find("y"), nullptr);
  EXPECT_EQ(value("y"), "3");
  EXPECT_TRUE(dialogue.forget("y"));
  EXPECT_FALSE(dialogue.forget("y"));
}

TEST_F(Talk, WhatUsesAForgottenDeclarationIsNamed) {
  ASSERT_TRUE(declare("let width = 4"));
  ASSERT_TRUE(declare("let height = 2"));
  ASSERT_TRUE(declare("network net(x: tensor[n, c]) -> tensor[n, k] { return dense(x, width) }"));
  ASSERT_TRUE(declare("let area = width * height"));
  ASSERT_TRUE(declare("design d of net { input x: [1, 2] }"));
  const std::optional<Forgotten> forgotten = dialogue.forget("width");
  ASSERT_TRUE(forgotten);
  EXPECT_EQ(forgotten->users, (std::vector<std::string>{"net", "area"}));
  EXPECT_EQ(forgotten->instead, "");
  EXPECT_NE(value("area").find("unknown name `width`"), std::string::npos);
  // The next declaration tells what no longer holds, and is taken all the same.
  ASSERT_TRUE(declare("let other = 1"));
  EXPECT_NE(said().find("unknown name `width`"), std::string::npos) << said();
  ASSERT_TRUE(dialogue.undo() && dialogue.undo());
  EXPECT_EQ(value("area"), "8");
  EXPECT_EQ(dialogue.forget("area")->users, std::vector<std::string>());
}

TEST_F(Talk, AForgottenNameOfTheLibraryMeansTheLibrarysAgain) {
  ASSERT_TRUE(declare("operator relu(x: tensor[..s]) -> (y: tensor[..s]) { return x * 2 }"));
  ASSERT_TRUE(declare("network net(x: tensor[n]) -> tensor[n] { return relu(x) }"));
  const std::optional<Forgotten> forgotten = dialogue.forget("relu");
  ASSERT_TRUE(forgotten);
  EXPECT_EQ(forgotten->users, std::vector<std::string>{"net"});
  EXPECT_EQ(forgotten->instead, "std.nn");
}

}  // namespace
}  // namespace tbem::repl
