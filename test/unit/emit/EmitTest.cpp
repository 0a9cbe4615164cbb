// The forms of a graph: JSON that reads back with the graph's numbers, DOT with one node an operator.
#include "compiler/emit/Emit.h"
#include "test/unit/estimate/SmallNets.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tbem;
using namespace tbem::test;

namespace {
std::size_t countOf(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Emit, JsonReadsBack) {
  const Net net = smallVgg({1}, 2, 16, 8, true);
  SourceManager sources;
  const auto read = nlohmann::json::parse(emit::emitJson(net.g, net.values(), sources));
  ASSERT_EQ(read["operators"].size(), net.g.ops.size());
  ASSERT_EQ(read["tensors"].size(), net.g.tensors.size());
  EXPECT_EQ(read["operators"][0]["primitive"], "conv2d");
  EXPECT_EQ(read["operators"][0]["attributes"]["pad"], nlohmann::json::parse("[1,1,1,1]"));
  EXPECT_EQ(read["operators"][0]["inputs"][2], nullptr) << "no bias";
  EXPECT_EQ(read["operators"][0]["flops"]["mac"], 2 * 16 * 64 * 27);
  EXPECT_EQ(read["tensors"][read["inputs"][0].get<std::size_t>()]["shape"], nlohmann::json::parse("[2,3,8,8]"));
  EXPECT_EQ(read["weights"].size(), 5U);
  EXPECT_EQ(read["weights"][0]["path"], "conv1.weight");
  // Each reference of the file points at what it should.
  for (const auto& op : read["operators"]) {
    for (const auto& tensor : op["outputs"]) EXPECT_LT(tensor.get<std::size_t>(), net.g.tensors.size());
  }
}

TEST(Emit, DotHasEveryOperatorOnce) {
  const Net net = smallResnet({1, 1}, 2, 16, 8, false);
  const std::string dot = emit::emitDot(net.g, net.values());
  for (std::size_t i = 0; i < net.g.ops.size(); ++i) EXPECT_EQ(countOf(dot, "  op" + std::to_string(i) + " [label="), 1U);
  std::size_t edges = 0;
  for (const graph::Op& op : net.g.ops) {
    for (const TensorId tensor : op.inputs) {
      if (tensor == graph::kNoTensor) continue;
      edges += net.g[tensor].producer != graph::kNoOp || tensor == net.g.inputs[0] ? 1 : 0;
    }
  }
  EXPECT_EQ(countOf(dot, " -> "), edges);
  EXPECT_NE(dot.find("\"image\\n2x3x8x8\""), std::string::npos) << dot.substr(0, 200);
}
}  // namespace
