// Gradients of inputs that a caller wants: FLOPs and static memory against closed forms, eager PyTorch's against PyTorch.
#include "compiler/count/Static.h"
#include "compiler/pytorch/eager/EagerStep.h"
#include "test/unit/graph/Fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::test {
namespace {

constexpr std::int64_t kSamples = 32, kFeatures = 1000, kOut = 3;

std::string oneLayer() {
  return "network net(x: tensor[n, features]) -> tensor[n, 3] { return x |> dense(3, use_bias: false) }\n"
         "design d of net {\n input x: [32, 1000]\n task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n";
}

// dX = dY W^T has n * features * out multiply-adds, and so has dW = X^T dY, which is there without it.
TEST(WantedGradients, OfADenseLayerCostAsMuchAsThoseOfItsWeights) {
  Built with(oneLayer(), {.wanted = {"x"}}), without(oneLayer());
  const std::optional<graph::Row> row = with.row(), plain = without.row();
  ASSERT_TRUE(row && plain) << with.errors() << without.errors();
  const auto flops = estimate::countFlops(row->graph(), row->values),
             before = estimate::countFlops(plain->graph(), plain->values);
  ASSERT_TRUE(flops && before);
  constexpr estimate::Count kProduct = 2 * kSamples * kFeatures * kOut;
  EXPECT_EQ(flops->most.backward - before->most.backward, kProduct);
  EXPECT_EQ(flops->most.forward, before->most.forward);
  EXPECT_EQ(flops->byOperator.at("dense").macBackward, 2 * kProduct);
  EXPECT_EQ(before->byOperator.at("dense").macBackward, kProduct);
}

// Nothing else is as large as x and dX, so that the worst moment is among the layer's gradients: x, the target, W and the loss
// are there throughout, dY and dW at that time, and with it dX.
TEST(WantedGradients, AreInStaticMemoryToTheEndOfTheStep) {
  constexpr std::uint64_t kElement = 4;
  constexpr std::uint64_t kBefore = kElement * (kSamples * kFeatures + 2 * kSamples * kOut + 2 * kFeatures * kOut + 1);
  Built with(oneLayer(), {.wanted = {"x"}}), without(oneLayer());
  const std::optional<graph::Row> row = with.row(), plain = without.row();
  ASSERT_TRUE(row && plain) << with.errors() << without.errors();
  const auto before = estimate::staticMemory(plain->graph(), plain->values);
  const auto memory = estimate::staticMemory(row->graph(), row->values);
  ASSERT_TRUE(before && memory);
  EXPECT_EQ(before->bytes, kBefore);
  EXPECT_EQ(memory->bytes, kBefore + kElement * kSamples * kFeatures);
  const graph::TensorId gradient = row->graph().wanted.front().gradient;
  const estimate::StaticOrder order = estimate::staticOrder(row->graph());
  const estimate::Lifespan& life = order.lives[graph::index(row->graph()[gradient].storage)];
  EXPECT_EQ(life.last + 1, order.ops.size());
  EXPECT_LT(life.first, life.last);
}

// ---- Eager PyTorch ----------------------------------------------------------------------------------------------------

/// Peaks with the gradient of the first input, of the first two, ...: PyTorch's (test/pytorch/input_peaks.py,
/// 2.15.0).
struct Network {
  const char* name;
  std::string text;
  std::vector<std::uint64_t> peaks;
  /// Bytes of a gradient that autograd adds into the one that came first (x.grad lies where that lay), but makes anew while
  /// MemTracker looks on: the peak is at most so much lower.
  std::uint64_t added = 0;
};

std::string training(const std::string& network, const std::string& inputs) {
  return "network net" + network + "\ndesign d of net {\n " + inputs +
         "\n task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))\n}\n";
}

const std::vector<Network>& networks() {
  static const std::string kPair = "(x: tensor[n, f], y: tensor[n, f]) -> tensor[n, 10]";
  static const std::vector<Network> kNetworks = {
      {"dense",
       training("(x: tensor[n, f]) -> tensor[n, 10] { return x |> dense(128) |> relu |> dense(10) }", "input x: [32, 64]"),
       {109912}},
      {"wide",
       training("(x: tensor[n, f]) -> tensor[n, 10] { return x |> dense(16) |> relu |> dense(10) }", "input x: [512, 4096]"),
       {17339864}},
      {"conv",
       training("(x: tensor[n, c, h, w]) -> tensor[n, 10] {\n return x |> conv2d(out: 2, kernel: 3, pad: 1) |> batch_norm |> "
                "relu |> max_pool2d(kernel: 2) |> flatten |> dense(10)\n}",
                "input x: [8, 16, 32, 32]"),
       {1157600}},
      {"residual",
       training("(x: tensor[n, 64]) -> tensor[n, 10] {\n let y = x + dense(x, 64)\n return y |> dense(10)\n}",
                "input x: [2048, 64]"),
       {2152024},
       std::uint64_t{4} * 2048 * 64},
      {"twice",
       training("(x: tensor[n, f]) -> tensor[n, 10] {\n let y = relu(dense(x, 16)) + relu(dense(x, 16))\n"
                " return y |> dense(10)\n}",
                "input x: [2048, 256]"),
       {8472152},
       std::uint64_t{4} * 2048 * 256},
      {"product",
       training(kPair + " {\n let z = x * y\n return z |> dense(10)\n}", "input x: [2048, 64]\n input y: [2048, 64]"),
       {2200664, 2643032}},
      {"sum",
       training("(x: tensor[n, f], y: tensor[n, f], z: tensor[n, f]) -> tensor[n, 10] {\n let s = x + y + z\n"
                " return s |> dense(10)\n}",
                "input x: [2048, 64]\n input y: [2048, 64]\n input z: [2048, 64]"),
       {2724952, 2724952, 3167320}},
  };
  return kNetworks;
}

TEST(WantedGradients, AreHeldAsByPyTorch) {
  for (const Network& network : networks()) {
    const std::vector<std::string> inputs = {"x", "y", "z"};
    for (std::size_t wanted = 1; wanted <= network.peaks.size(); ++wanted) {
      Built built(network.text, {.wanted = {inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(wanted)}});
      const std::optional<graph::Row> row = built.row();
      ASSERT_TRUE(row) << network.name << built.errors();
      estimate::EagerReader reader(row->graph(), estimate::EagerDevice::Cpu);
      const auto step = estimate::eagerStep(
          reader, row->values, {.device = estimate::EagerDevice::Cpu, .update = estimate::EagerUpdate::Loop, .convolutions = {}});
      ASSERT_TRUE(step) << network.name << step.error().what;
      const std::uint64_t peak = estimate::eagerPeak(*step, 1).bytes;
      EXPECT_LE(peak, network.peaks[wanted - 1]) << network.name << ", " << wanted << " wanted";
      EXPECT_GE(peak + network.added, network.peaks[wanted - 1]) << network.name << ", " << wanted << " wanted";
    }
  }
}

TEST(WantedGradients, AreThereUntilTheNextStepBegins) {
  Built built(training("(x: tensor[n, f]) -> tensor[n, 10] { return x |> dense(16) |> dense(10) }", "input x: [8, 4096]"),
              {.wanted = {"x"}});
  const std::optional<graph::Row> row = built.row();
  ASSERT_TRUE(row) << built.errors();
  estimate::EagerReader reader(row->graph(), estimate::EagerDevice::Cpu);
  const auto step = estimate::eagerStep(reader, row->values, {.device = estimate::EagerDevice::Cpu});
  ASSERT_TRUE(step) << step.error().what;
  constexpr std::uint64_t kBytes = 4 * 8 * 4096;
  const auto isGradient = [&](const estimate::EagerEvent& event) {
    const estimate::EagerTensor& tensor = step->tensors[event.tensor];
    return tensor.kind == estimate::EagerKind::Gradients && tensor.bytes() == kBytes;
  };
  std::vector<bool> frees;
  for (const estimate::EagerEvent& event : step->events) {
    if (isGradient(event)) frees.push_back(event.frees);
  }
  EXPECT_EQ(frees, (std::vector<bool>{false, true, false}));  // of the first step, until the second; of the second
}

}  // namespace
}  // namespace tbem::test
