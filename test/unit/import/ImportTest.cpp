// Numbers, names and tables of imported programs; documents that are no exports.
#include "compiler/import/Export.h"
#include "compiler/import/Expression.h"
#include "compiler/import/Import.h"
#include "compiler/import/Units.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tbem::imports {
namespace {

TEST(Numbers, AreWrittenWithoutExponents) {
  EXPECT_EQ(numberText(1e-5), "0.00001");
  EXPECT_EQ(numberText(1e-12), "0.000000000001");
  EXPECT_EQ(numberText(0.1767766952966369), "0.1767766952966369");
  EXPECT_EQ(numberText(1.25e-6), "0.00000125");
  EXPECT_EQ(numberText(-100), "-100");
  EXPECT_EQ(numberText(3e9), "3000000000");
  EXPECT_EQ(numberText(1e-30), "1e-30");
  EXPECT_EQ(numberText(std::log(0.0)), std::nullopt);
}

TEST(Numbers, AreTheSameWhenReadAgain) {
  for (const double number : {1e-5, 1.5e-7, 123456.789, 2.5e14, 0.1, 1.0 / 3, 6.02e-10})
    EXPECT_EQ(std::stod(*numberText(number)), number) << *numberText(number);
}

TEST(Names, OfClassesAreSnakeCase) {
  EXPECT_EQ(snakeCase("torchvision.ops.misc.Conv2dNormActivation"), "conv2d_norm_activation");
  EXPECT_EQ(snakeCase("models.CNBlock"), "cn_block");
  EXPECT_EQ(snakeCase("MLP"), "mlp");
  EXPECT_EQ(snakeCase("models._DenseLayer"), "dense_layer");
}

TEST(Names, ThatAreTakenOrReservedGetAnUnderscore) {
  EXPECT_EQ(nameFor("conv1", {}), "conv1");
  EXPECT_EQ(nameFor("skip", {}), "skip_");
  EXPECT_EQ(nameFor("relu", {"relu"}), "relu_");
  EXPECT_EQ(nameFor("0", {}), "m0");
  EXPECT_EQ(nameFor("a-b", {}), "a_b");
}

std::string table(const std::vector<WeightName>& weights, const std::vector<std::string>& state) {
  Imported imported;
  imported.weights = weights;
  imported.state = state;
  return namesText(imported);
}

TEST(Tables, HaveALineForNamesThatDifferInNumbers) {
  EXPECT_EQ(table({{"layer1.0.weight", "layer1[0].weight", {}},
                   {"layer1.1.weight", "layer1[1].weight", {}},
                   {"fc.weight", "fc.weight", {}}},
                  {}),
            "layer{}.{}.weight  layer{}[{}].weight\nfc.weight  fc.weight\n");
}

TEST(Tables, NameEachWeightWhereNumbersDoNotAgree) {
  EXPECT_EQ(table({{"a.0.w", "b[1].w", {}}, {"a.1.w", "b[0].w", {}}}, {}), "a.0.w  b[1].w\na.1.w  b[0].w\n");
  // The right pattern has another name that the left one has not.
  EXPECT_EQ(table({{"a.0.w", "a[0].w", {}}, {"c.w", "a[7].w", {}}}, {}), "a.0.w  a[0].w\nc.w  a[7].w\n");
}

TEST(Tables, SayWhatAProgramHasNothingOf) {
  EXPECT_EQ(table({{"a.0.w", "a[0].w", {}}}, {"a.0.w", "a.0.steps", "a.1.steps"}), "a.{}.w  a[{}].w\na.{}.steps  -\n");
  // One name of a pattern is read, another is not.
  EXPECT_EQ(table({{"a.0.w", "a[0].w", {}}}, {"a.0.w", "a.1.w"}), "a.0.w  a[0].w\na.1.w  -\n");
}

TEST(Inputs, HaveShapesAndTypes) {
  const auto image = exportInput("image=16,3,224,224");
  ASSERT_TRUE(image);
  EXPECT_EQ(image->shape, (std::vector<std::int64_t>{16, 3, 224, 224}));
  EXPECT_EQ(image->type, "f32");
  EXPECT_EQ(exportInput("tokens=4,128:i64")->type, "i64");
  for (const char* const wrong : {"image", "=3", "x=", "x=3,", "x=0", "x=-1", "x=a", "x=3:f8"}) {
    const auto input = exportInput(wrong);
    EXPECT_TRUE(!input || input->shape.empty()) << wrong;
  }
}

/// A document whose values, nodes and outputs are these.
std::string document(const std::string& nodes, const std::string& outputs) {
  return R"({"torch": "2.15.0", "python": "python3", "kind": "m.Net", "weights": [], "constants": [],
    "inputs": [{"node": "x", "name": "x", "shape": [2, 3], "type": "float32"}], "nodes": [)" +
         nodes + R"(], "outputs": [)" + outputs + R"(], "state": []})";
}

TEST(Exports, ThatAreDamagedAreRefused) {
  const std::string relu = R"({"name": "y", "op": "aten.relu.default", "args": [{"node": "x"}], "named": {}, "modules": [],
    "shape": [2, 3], "type": "float32"})";
  EXPECT_TRUE(readExport(document(relu, R"({"node": "y"})")));
  EXPECT_FALSE(readExport(document(relu, R"({"node": "z"})")));
  EXPECT_FALSE(readExport(document(relu + "," + relu, R"({"node": "y"})")));
  EXPECT_FALSE(readExport(document("3", "")));
  EXPECT_FALSE(readExport("{"));
  EXPECT_FALSE(readExport(""));
  const auto failure = readExport(R"({"error": {"kind": "build", "message": "no", "at": "m.py:3"}})");
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().place, "m.py:3");
}

TEST(Exports, WithNodesUnlikeTheirsAreLacking) {
  const std::string wrong =
      R"({"name": "y", "op": "aten.transpose.int", "args": [{"node": "x"}, 0, 5], "named": {}, "modules": [],
    "shape": [2, 3], "type": "float32", "at": "m.py:4"})";
  auto exported = readExport(document(wrong, R"({"node": "y"})"));
  ASSERT_TRUE(exported);
  const Imported imported = programOf(std::move(*exported), "net", {}, true);
  ASSERT_EQ(imported.lacking.size(), 1U);
  EXPECT_EQ(imported.lacking[0].op, "aten.transpose.int");
  EXPECT_EQ(imported.lacking[0].place, "m.py:4");
}

}  // namespace
}  // namespace tbem::imports
