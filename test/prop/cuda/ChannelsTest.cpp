// Normalisations that a launch takes channel by channel, forward and backward: three steps of training in f32 against `ref` in
// f64, as near as the processor's. What stands in one launch, test/unit/jit/ChannelRunsTest.cpp asks.
#include "test/Texts.h"
#include "test/prop/Loaded.h"
#include "test/prop/cuda/Card.h"

#include <fmt/format.h>

#include <cmath>

namespace tbem::test {
namespace {

struct Images {
  int samples, channels, height, width;
  int threads;  ///< of a block
};

std::string textOf(const Images& images) {
  return fmt::format(
      "import std.nn: batch_norm, conv2d, dense, global_avg_pool, sigmoid\n"
      "network net(x: tensor[n, c, h, w]) -> tensor[n, 3] {{\n"
      "  let a = x |> conv2d(out: c, kernel: 1, groups: c) |> batch_norm |> sigmoid\n"
      "  let b = a |> conv2d(out: c, kernel: 1, groups: c) |> batch_norm\n"
      "  return sigmoid(a + b) |> global_avg_pool |> dense(3)\n"
      "}}\n"
      "design d of net {{\n  input x: [{}, {}, {}, {}]\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.5, momentum: "
      "0.9))\n}}\n",
      images.samples, images.channels, images.height, images.width);
}

std::vector<double> weightsOf(const Loaded& l) {
  std::vector<double> values;
  for (std::uint32_t s = 0; s < l.instance->executable().storages.size(); ++s) {
    if (l.instance->executable().storages[s].kind == runtime::BufferClass::Gradient) continue;
    const std::vector<double> more = l.instance->readStorage(s)->doubles();
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

class CudaChannels : public OnCard {};

/// Three steps on the card, as near to `ref` in f64 as the processor's, and an arena as planned. `image`: the card's code.
void stepsAreAsNear(const std::string& text, std::string& image) {
  const Loaded onCard = loaded(text, TBEM_F32, *tbem_backend_cuda(), {.keepOutputs = true});
  const Loaded onProcessor = loaded(text, TBEM_F32, *tbem_backend_cpu(), {.threads = 2, .keepOutputs = true});
  const Loaded reference = loaded(text, TBEM_F64, *tbem_backend_ref(), {.keepOutputs = true});
  ASSERT_TRUE(onCard.instance && onProcessor.instance && reference.instance);
  image = onCard.compiled->executable.image;
  for (std::uint64_t step = 1; step <= 3; ++step) {
    const auto ran = onCard.instance->run(step);
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_TRUE(onProcessor.instance->run(step) && reference.instance->run(step));
    const std::vector<double> expected = weightsOf(reference);
    EXPECT_LE(relative(weightsOf(onCard), expected), 4 * relative(weightsOf(onProcessor), expected) + 1e-6) << "step " << step;
  }
  const auto arena = onCard.instance->measureArena();
  ASSERT_TRUE(arena);
  EXPECT_TRUE(arena->guardIntact);
  EXPECT_EQ(arena->reached, arena->planned);
}

/// Planes that lie at multiples of 16 bytes, of 8 and of neither, and single pixels; one sample, one channel; blocks of few
/// threads and of many; more channels than a launch has blocks.
TEST_F(CudaChannels, AreNormalisedAsOnTheProcessor) {
  for (const Images& images : {Images{4, 3, 12, 12, 128}, Images{2, 70, 7, 7, 128}, Images{3, 66, 5, 2, 128},
                               Images{64, 5, 8, 8, 256}, Images{16, 64, 32, 34, 1024}, Images{2, 5000, 1, 2, 128},
                               Images{5, 66, 1, 1, 128}, Images{1, 66, 3, 3, 128}, Images{3, 1, 4, 4, 128}}) {
    SCOPED_TRACE(fmt::format("{} x {} x {} x {}", images.samples, images.channels, images.height, images.width));
    std::string image;
    stepsAreAsNear(textOf(images), image);
    EXPECT_NE(image.find(fmt::format(".reqntid {},", images.threads)), std::string::npos);
  }
}

/// One kernel is told each size, from step to step.
TEST_F(CudaChannels, OfSeveralSizesShareAKernel) {
  const std::string text =
      "import std.nn: avg_pool2d, batch_norm, conv2d, dense, global_avg_pool, sigmoid\n"
      "block stage(x: tensor[n, c, h, w], out: int) -> tensor[n, out, h, w] {\n"
      "  return x |> conv2d(out: out, kernel: 1) |> batch_norm |> sigmoid\n"
      "}\n"
      "network net(x: tensor[n, c, h, w]) -> tensor[n, 3] {\n"
      "  let a = x |> stage(66) |> avg_pool2d(2)\n"
      "  return a |> stage(70) |> avg_pool2d(2) |> stage(130) |> global_avg_pool |> dense(3)\n"
      "}\n"
      "design d of net {\n  input x: [3, 5, 16, 24]\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.5))\n}\n";
  std::string image;
  stepsAreAsNear(text, image);
  EXPECT_EQ(timesIn(image, ".reqntid"), 3U) << "one forward, one backward, and one that spreads the gradient of the last mean";
}

/// What is no number in one channel stays in it.
TEST_F(CudaChannels, KeepWhatIsNoNumberApart) {
  const std::string text =
      "import std.nn: batch_norm, dense, global_avg_pool\n"
      "network net(x: tensor[n, c, h, w]) -> tensor[n, 3] { return x |> batch_norm |> global_avg_pool |> dense(3) }\n"
      "design d of net {\n  input x: [4, 66, 6, 6]\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.1))\n}\n";
  const auto statistics = [&](const tbem_backend& backend) {
    const Loaded l = loaded(text, TBEM_F32, backend, {.keepOutputs = true});
    const auto& storages = l.instance->executable().storages;
    std::vector<double> found;
    for (std::uint32_t s = 0; s < storages.size(); ++s) {
      if (storages[s].path != "x") continue;
      runtime::HostTensor x = l.instance->readStorage(s).value();
      auto* numbers = reinterpret_cast<float*>(x.data.data());
      for (std::size_t i = 0; i < x.data.size() / sizeof(float); ++i) numbers[i] = static_cast<float>(i % 17) + 1000;
      numbers[0] = NAN;                 // the first of channel 0
      numbers[36] = INFINITY;           // the first of channel 1
      numbers[2 * 36 + 5] = -INFINITY;  // another of channel 2
      EXPECT_TRUE(l.instance->writeStorage(s, x));
    }
    EXPECT_TRUE(l.instance->run(1));
    for (std::uint32_t s = 0; s < storages.size(); ++s) {
      if (!storages[s].path.ends_with("running_mean") && !storages[s].path.ends_with("running_variance")) continue;
      const std::vector<double> more = l.instance->readStorage(s)->doubles();
      found.insert(found.end(), more.begin(), more.end());
    }
    return found;
  };
  const std::vector<double> found = statistics(*tbem_backend_cuda()), expected = statistics(*tbem_backend_ref());
  ASSERT_EQ(found.size(), 2 * 66U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(std::isfinite(found[i]), i % 66 > 2);
    EXPECT_EQ(std::isfinite(expected[i]), i % 66 > 2);
    if (i % 66 > 2) {
      EXPECT_NEAR(found[i], expected[i], 1e-5 * std::abs(expected[i]));
    }
  }
}

}  // namespace
}  // namespace tbem::test
