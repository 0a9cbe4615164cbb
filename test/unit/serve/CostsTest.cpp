// What calls and designs take, by hand: shapes and FLOPs of convolutions, pools and dense layers in closed form.
#include "Program.h"
#include "compiler/serve/costs/CallPlaces.h"
#include "compiler/serve/costs/Costs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <thread>
#include <vector>

namespace tbem::serve {
namespace {

constexpr const char* kProgram = R"(block stage(x: tensor[n, c, h, w]; out: int) -> tensor[n, out, h, w] {
  return x |> conv2d(out: out, kernel: 3, pad: 1) |> relu
}

block same(x: tensor[n, c]) -> tensor[n, c] { return x }

network net(x: tensor[n, c, h, w]; depth: int = 2) -> tensor[n, 5] {
  var y = x
  for i in 1 ..= depth {
    y = stage(y, out: 8 * i) |> max_pool2d(kernel: 2)
  }
  let head = dense(5)
  return same(head(flatten(y + y)))
}

design sizes of net {
  factor batch: 3, 4
  factor depth: 2, 3
  input x: [batch, 3, 32, 32]
  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))
}
)";

struct Shown {
  std::string text = kProgram;
  Events nobody;
  Costs costs = costsOf("test.tbem", text, {}, nobody);

  std::string at(Piece piece) const { return text.substr(piece.begin, piece.end - piece.begin); }
  const CallCosts* call(const std::string& what) const {
    if (costs.designs.empty()) return nullptr;
    const auto found =
        std::ranges::find_if(costs.designs.front().calls, [&](const CallCosts& one) { return at(one.place) == what; });
    return found == costs.designs.front().calls.end() ? nullptr : &*found;
  }
};

// Of both turns: batch * out * h * w * (2 * in * 3 * 3 + 1), h = w = 32 and then 16.
constexpr int kConvFirst = 3 * 8 * 32 * 32 * (2 * 3 * 9 + 1), kConvSecond = 3 * 16 * 16 * 16 * (2 * 8 * 9 + 1);
constexpr int kConvWeights = 4 * (8 * 3 * 9 + 8 + 16 * 8 * 9 + 16), kConvResults = 4 * (3 * 8 * 32 * 32 + 3 * 16 * 16 * 16);

TEST(CallCosts, OfAnOperatorInABlockThatALoopApplies) {
  const Shown shown;
  const CallCosts* const conv = shown.call("conv2d(out: out, kernel: 3, pad: 1)");
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(conv->name, "conv2d");
  EXPECT_EQ(shown.at(conv->callee), "conv2d");
  EXPECT_EQ(conv->times, 2u);
  EXPECT_EQ(conv->shape, "[3, 8, 32, 32]");
  EXPECT_EQ(conv->lastShape, "[3, 16, 16, 16]");
  EXPECT_EQ(conv->symbolic, "[batch, 8, 32, 32]");
  EXPECT_EQ(estimate::toString(conv->forward), std::to_string(kConvFirst + kConvSecond));
  EXPECT_EQ(conv->weights, std::uint64_t{kConvWeights});
  EXPECT_EQ(conv->results, std::uint64_t{kConvResults});
  // The input's gradient in the second turn alone, the weight's in both, each as many multiply-adds as forward; the bias's is a
  // sum of the result's.
  const int weightGradients = 2 * (3 * 8 * 32 * 32 * 27 + 3 * 16 * 16 * 16 * 72);
  const int inputGradient = 2 * 3 * 16 * 16 * 16 * 72, biasGradients = 3 * 8 * 32 * 32 + 3 * 16 * 16 * 16;
  EXPECT_EQ(estimate::toString(conv->backward), std::to_string(weightGradients + inputGradient + biasGradients));
}

TEST(CallCosts, OfABlockAreThoseOfAllThatStandsInIt) {
  const Shown shown;
  const CallCosts* const block = shown.call("stage(y, out: 8 * i)");
  const CallCosts* const conv = shown.call("conv2d(out: out, kernel: 3, pad: 1)");
  const CallCosts* const relu = shown.call("relu");
  ASSERT_TRUE(block != nullptr && conv != nullptr && relu != nullptr);
  EXPECT_EQ(block->times, 2u);
  EXPECT_EQ(block->shape, "[3, 8, 32, 32]");
  EXPECT_TRUE(block->forward == conv->forward + relu->forward);
  EXPECT_TRUE(block->backward == conv->backward + relu->backward);
  EXPECT_EQ(block->weights, conv->weights);
  EXPECT_EQ(block->results, relu->results);
}

TEST(CallCosts, OfInstancesAndViews) {
  const Shown shown;
  const CallCosts* const head = shown.call("head(flatten(y + y))");
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->name, "dense");
  EXPECT_EQ(head->shape, "[3, 5]");
  EXPECT_EQ(head->weights, std::uint64_t{4 * (1024 * 5 + 5)});  // 16 channels of 8 x 8
  const CallCosts* const flat = shown.call("flatten(y + y)");
  ASSERT_NE(flat, nullptr);
  EXPECT_EQ(flat->shape, "[3, 1024]");
  EXPECT_TRUE(flat->forward == 0);
  EXPECT_EQ(shown.call("y + y"), nullptr) << "it is no call";
  EXPECT_EQ(shown.call("dense(5)"), nullptr) << "it makes an instance and no operator";
  EXPECT_EQ(shown.call("same(head(flatten(y + y)))"), nullptr) << "it makes nothing";
}

TEST(CallCosts, OfMixedPrecisionAreThoseOfTheOperator) {
  Shown shown;
  shown.text.insert(shown.text.find("  task"), "  mixed bf16\n");
  const Costs mixed = costsOf("test.tbem", shown.text, {}, shown.nobody);
  ASSERT_EQ(mixed.designs.size(), 1u);
  const auto conv = std::ranges::find_if(mixed.designs.front().calls, [](const CallCosts& one) { return one.name == "conv2d"; });
  ASSERT_NE(conv, mixed.designs.front().calls.end());
  EXPECT_EQ(conv->times, 2u);
  EXPECT_EQ(conv->shape, "[3, 8, 32, 32]");
  EXPECT_EQ(conv->results, std::uint64_t{kConvResults / 2});
  EXPECT_EQ(conv->weights, std::uint64_t{kConvWeights}) << "the weights themselves stay f32";
}

TEST(Costs, OfADesign) {
  const Shown shown;
  ASSERT_EQ(shown.costs.designs.size(), 1u);
  const DesignCosts& design = shown.costs.designs.front();
  EXPECT_EQ(shown.at(design.place), "sizes");
  EXPECT_EQ(design.rows, 4u);
  EXPECT_EQ(design.levels, "batch=3 depth=2");
  EXPECT_EQ(design.parameters, kConvWeights / 4 + 1024 * 5 + 5);
  EXPECT_EQ(design.backend, "cpu");
  // The first convolution's result is kept for the gradient of what follows it.
  EXPECT_GT(design.memory, std::uint64_t{4 * 3 * 8 * 32 * 32});
  ASSERT_TRUE(design.peak.place);
  EXPECT_FALSE(shown.at(*design.peak.place).empty());
}

TEST(Costs, OfOwnCodeSayThatWorkspacesAreUnknown) {
  const auto own = [](const std::string& clause) {
    return "operator f(x: tensor[n, c]) -> (y: tensor[n, c])\n  native \"libnone.so:f\"\n" + clause +
           "network net(x: tensor[n, c]) -> tensor[n, c] { return f(x) }\n"
           "design one of net {\n  factor batch: 2, 3\n  input x: [batch, 4]\n}\n";
  };
  Events nobody;
  const Costs without = costsOf("test.tbem", own(""), {}, nobody);
  ASSERT_EQ(without.designs.size(), 1u);
  EXPECT_EQ(without.designs.front().unknownWorkspaces, 1u);
  const Costs with = costsOf("test.tbem", own("  workspace 64 * n\n"), {}, nobody);
  ASSERT_EQ(with.designs.size(), 1u);
  EXPECT_EQ(with.designs.front().unknownWorkspaces, 0u);
  EXPECT_EQ(with.designs.front().memory, without.designs.front().memory + 128);
}

TEST(Costs, AreNotOfAProgramWithMistakes) {
  Events nobody;
  EXPECT_TRUE(
      costsOf("test.tbem", "network net(x: tensor[n, c]) -> tensor[n, 4] { return dens(x, 4) }\n", {}, nobody).designs.empty());
  EXPECT_TRUE(costsOf("test.tbem", "network {\n", {}, nobody).designs.empty());
  EXPECT_TRUE(costsOf("test.tbem", "", {}, nobody).designs.empty());
}

TEST(Costs, EndWhereTheListenerDoes) {
  struct Ended {};
  struct Ending : Events {
    int left = 0;
    void progress(std::size_t, std::size_t, std::string_view) override {
      if (left-- == 0) throw Ended();
    }
  };
  for (const int after : {0, 1, 2}) {
    Ending events;
    events.left = after;
    EXPECT_THROW(costsOf("test.tbem", kProgram, {}, events), Ended) << after;
  }
}

/// All that is known of a program, as text.
std::string allOf(const Costs& costs) {
  std::string text;
  for (const DesignCosts& design : costs.designs) {
    text += design.name + " " + std::to_string(design.memory) + " " + estimate::toString(design.step) + "\n";
    for (const CallCosts& call : design.calls) text += call.name + call.shape + estimate::toString(call.forward) + "\n";
  }
  return text;
}

TEST(Costs, AreComputedInSeveralThreadsAtOnce) {
  const std::string alone = allOf(Shown().costs);
  std::array<std::string, 3> said;
  {
    std::vector<std::jthread> threads;
    for (std::string& one : said) threads.emplace_back([&one] { one = allOf(Shown().costs); });
    Program checked(kProgram);
    checked.session.check();
  }
  for (const std::string& one : said) EXPECT_EQ(one, alone);
  EXPECT_NE(alone.find("conv2d"), std::string::npos);
}

TEST(CallPlaces, AreCallsAndWhatIsPipedTo) {
  const Program program(
      "network net(x: tensor[n, c]) -> tensor[n, 4] { return x |> relu |> dense(4 + f(2)) }\nfunction f(a: int) -> int { return "
      "a }\n");
  std::vector<std::string> words;
  for (const CallPlace& one : callPlaces(program.reading.workspace.file())) words.push_back(program.word(one.callee));
  EXPECT_EQ(words, (std::vector<std::string>{"relu", "dense", "f"}));
}

}  // namespace
}  // namespace tbem::serve
