// Convolutions of cpu in f32 against ref in f64: each algorithm, layouts that serve a whole training step, and the code for older
// processors.
#include "test/problems/Random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

namespace tbem::test {
namespace {

/// A training step uses one weight layout: the one that forward chose, for the weight gradient too; the data gradient asks for
/// its own. Activations keep forward's layouts. Where the library has no generated code for that (strided and dilated at once,
/// ..) the query refuses, and a free one must succeed.
TEST(CpuConvolutions, OneWeightLayoutServesForwardAndItsGradient) {
  int padded = 0, refused = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(77000 + seed);
    const Problem forward = randomProblem(TBEM_PRIMITIVE_conv2d, random);
    const Outcome y = runOn(*tbem_backend_cpu(), forward, {TBEM_F32, 2, {}});
    ASSERT_EQ(y.status, TBEM_OK) << forward.text() << ": " << y.error;
    const Array dy = random.array(forward.outputs[0].dims);
    const auto orFree = [&](const Problem& problem, const std::function<void(std::vector<tbem_operand>&)>& fixed) {
      Outcome outcome = runOn(*tbem_backend_cpu(), problem, {TBEM_F32, 2, fixed});
      if (outcome.status != TBEM_UNSUPPORTED) return outcome;
      ++refused;
      return runOn(*tbem_backend_cpu(), problem, {TBEM_F32, 2, {}});
    };
    const Problem weights{TBEM_PRIMITIVE_conv2d_weight_gradient,
                          forward.attributes,
                          {},
                          {forward.inputs[0], dy},
                          {Array{forward.inputs[1]->dims, {}, false}}};
    const Outcome dw = orFree(weights, [&](std::vector<tbem_operand>& o) {
      o[0].layout = y.operands[0].layout, o[1].layout = y.operands[3].layout, o[2].layout = y.operands[1].layout;
    });
    ASSERT_EQ(dw.status, TBEM_OK) << weights.text() << ": " << dw.error;
    EXPECT_LE(distance(dw.outputs[0], runOn(*tbem_backend_ref(), weights, {TBEM_F64, 1, {}}).outputs[0]), 5e-6) << weights.text();
    const Problem data{TBEM_PRIMITIVE_conv2d_input_gradient,
                       forward.attributes,
                       {},
                       {dy, forward.inputs[1]},
                       {Array{forward.inputs[0]->dims, {}, false}}};
    const Outcome dx = orFree(data, [&](std::vector<tbem_operand>& o) { o[0].layout = y.operands[3].layout; });
    ASSERT_EQ(dx.status, TBEM_OK) << data.text() << ": " << dx.error;
    EXPECT_LE(distance(dx.outputs[0], runOn(*tbem_backend_ref(), data, {TBEM_F64, 1, {}}).outputs[0]), 5e-6) << data.text();
    padded += y.operands[3].layout.blocks > 0 && y.operands[3].dims[1] % 16 != 0 ? 1 : 0;
    if (HasFailure()) break;
  }
  RecordProperty("results_with_padding", padded);
  RecordProperty("gradients_in_another_layout", refused);
  tbem_device_info device;
  ASSERT_EQ(tbem_backend_cpu()->probe(&device), TBEM_OK);
  EXPECT_LE(refused, std::string(device.isa).starts_with("avx") ? 80 : 400)
      << "of 400 gradients asked for other layouts than forward's";
}

/// With AVX2 the library has no generated weight gradient for these; the image is then padded first.
TEST(CpuConvolutions, KernelsLargerThanTheImageAgreeWithRef) {
  int padded = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(97000 + seed);
    const std::int64_t n = random.integer(1, 5), h = random.integer(1, 4), w = random.integer(1, 4);
    const std::int64_t c = 8 * random.integer(1, 6), o = 8 * random.integer(1, 6), kernel = random.integer(3, 5);
    const std::int64_t stride = random.integer(1, 2), before = random.integer(kernel / 2, kernel - 1), behind = kernel / 2;
    const auto extent = [&](std::int64_t of) { return (of + before + behind - kernel) / stride + 1; };
    if (h + before + behind < kernel || w + before + behind < kernel) continue;
    const Array x = random.array({n, c, h, w}), dy = random.array({n, o, extent(h), extent(w)});
    const Problem problem{TBEM_PRIMITIVE_conv2d_weight_gradient,
                          {stride, stride, before, before, behind, behind, 1, 1, 1},
                          {},
                          {x, dy},
                          {Array{{o, c, kernel, kernel}, {}, false}}};
    const Outcome found = runOn(*tbem_backend_cpu(), problem, {TBEM_F32, 2, {}});
    ASSERT_EQ(found.status, TBEM_OK) << problem.text() << ": " << found.error;
    EXPECT_LE(distance(found.outputs[0], runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}}).outputs[0]), 5e-6)
        << problem.text() << " by " << found.implementation;
    padded += found.implementation.starts_with("padded") ? 1 : 0;
  }
  tbem_device_info device;
  ASSERT_EQ(tbem_backend_cpu()->probe(&device), TBEM_OK);
  const bool avx2 = std::string(device.isa).starts_with("avx2");
  EXPECT_TRUE(avx2 ? padded >= 20 : padded == 0) << padded;
}

/// Winograd's F(4x4, 3x3): transformed images lose some bits, so its bound is 2e-5 where the direct algorithm's is 5e-6. Free
/// layouts, and all those that a direct forward convolution would leave behind.
TEST(CpuConvolutions, WinogradAgreesWithRef) {
  int run = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Random random(91000 + seed);
    const std::int64_t n = random.integer(1, 3), h = random.integer(3, 17), w = random.integer(3, 17);
    const std::int64_t c = 16 * random.integer(1, 3), o = 16 * random.integer(1, 3), pad = random.integer(0, 1);
    const std::int64_t oh = h + 2 * pad - 2, ow = w + 2 * pad - 2;
    const std::vector<std::int64_t> attributes = {1, 1, pad, pad, pad, pad, 1, 1, 1};
    const Array x = random.array({n, c, h, w}), weight = random.array({o, c, 3, 3}), y = random.array({n, o, oh, ow});
    const auto shape = [](const Array& of) { return Array{of.dims, {}, false}; };
    const std::optional<Array> bias = random.integer(0, 1) == 1 ? std::optional(random.array({o})) : std::nullopt;
    const Problem forward{TBEM_PRIMITIVE_conv2d, attributes, {}, {x, weight, bias}, {shape(y)}};
    const Outcome direct = runOn(*tbem_backend_cpu(), forward, {TBEM_F32, 2, {}});
    ASSERT_EQ(direct.status, TBEM_OK) << direct.error;
    const tbem_layout lx = direct.operands[0].layout, lw = direct.operands[1].layout, ly = direct.operands[3].layout;
    struct Direction {
      Problem problem;
      std::vector<tbem_layout> layouts;
    };
    const std::vector<Direction> directions = {
        {forward, {lx, lw, {}, ly}},
        {{TBEM_PRIMITIVE_conv2d_input_gradient, attributes, {}, {y, weight}, {shape(x)}}, {ly, lw, lx}},
        {{TBEM_PRIMITIVE_conv2d_weight_gradient, attributes, {}, {x, y}, {shape(weight)}}, {lx, ly, lw}}};
    for (const Direction& direction : directions) {
      const Outcome expected = runOn(*tbem_backend_ref(), direction.problem, {TBEM_F64, 1, {}});
      for (const bool fixed : {false, true}) {
        Settings settings{TBEM_F32, static_cast<int>(random.integer(1, 2)), {}, 1};
        if (fixed) {
          settings.layouts = [&](std::vector<tbem_operand>& operands) {
            for (std::size_t k = 0; k < operands.size(); ++k) {
              if (operands[k].rank == 4) operands[k].layout = direction.layouts[k];
            }
          };
        }
        const Outcome found = runOn(*tbem_backend_cpu(), direction.problem, settings);
        if (found.status == TBEM_UNSUPPORTED) continue;
        ASSERT_EQ(found.status, TBEM_OK) << direction.problem.text() << ": " << found.error;
        ++run;
        EXPECT_NE(found.implementation.find("wino"), std::string::npos) << found.implementation;
        EXPECT_LE(distance(found.outputs[0], expected.outputs[0]), 2e-5) << direction.problem.text() << " fixed " << fixed;
        EXPECT_EQ(found.bytes[0], runOn(*tbem_backend_cpu(), direction.problem, settings).bytes[0]) << "other bits";
      }
    }
    if (HasFailure()) break;
  }
  RecordProperty("run", run);
  tbem_device_info device;
  ASSERT_EQ(tbem_backend_cpu()->probe(&device), TBEM_OK);
  if (std::string(device.isa).starts_with("avx512_core")) {
    EXPECT_EQ(run, 60 * 3 * 2) << "Winograd is there on this processor";
  }
}

/// Small images under large kernels: the taps that never meet the image are cut off.
TEST(CpuConvolutions, CroppedAgreesWithRef) {
  std::array<int, 3> run = {};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(93000 + seed);
    const std::int64_t h = random.integer(1, 3), w = random.integer(1, 3), stride = random.integer(1, 2),
                       k = random.integer(2, 5);
    const std::int64_t c = random.integer(1, 40), o = random.integer(1, 40), dilation = random.integer(1, 2);
    const std::int64_t low = random.integer(0, 3), high = random.integer(0, 3), extent = dilation * (k - 1) + 1;
    if (std::min(h, w) + low + high < extent) continue;
    const std::int64_t oh = (h + low + high - extent) / stride + 1, ow = (w + low + high - extent) / stride + 1;
    const std::vector<std::int64_t> attributes = {stride, stride, low, low, high, high, dilation, dilation, 1};
    const Array x = random.array({2, c, h, w}), weight = random.array({o, c, k, k}), dy = random.array({2, o, oh, ow});
    std::optional<Array> bias;
    if (seed % 2 == 0) bias = random.array({o});
    const std::array<Problem, 3> problems = {
        Problem{TBEM_PRIMITIVE_conv2d, attributes, {}, {x, weight, bias}, {Array{{2, o, oh, ow}, {}, false}}},
        Problem{TBEM_PRIMITIVE_conv2d_input_gradient, attributes, {}, {dy, weight}, {Array{{2, c, h, w}, {}, false}}},
        Problem{TBEM_PRIMITIVE_conv2d_weight_gradient, attributes, {}, {x, dy}, {Array{{o, c, k, k}, {}, false}}}};
    const Settings settings{TBEM_F32, static_cast<int>(random.integer(1, 2)), {}, 2};
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Problem& problem = problems[i];
      const Outcome found = runOn(*tbem_backend_cpu(), problem, settings);
      if (found.status == TBEM_UNSUPPORTED) continue;
      ASSERT_EQ(found.status, TBEM_OK) << problem.text() << ": " << found.error;
      ++run[i];
      EXPECT_EQ(found.implementation.substr(0, 7), "cropped");
      EXPECT_LE(distance(found.outputs[0], runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}}).outputs[0]), 5e-6)
          << problem.text();
      EXPECT_EQ(found.bytes[0], runOn(*tbem_backend_cpu(), problem, settings).bytes[0]) << "other bits";
    }
    if (HasFailure()) break;
  }
  for (const int count : run) EXPECT_GE(count, 10);  // with AVX2 fewer of them have generated code
}

/// What an algorithm is not made for is refused, not computed by another.
TEST(CpuConvolutions, AlgorithmsThatAreNotThereAreRefused) {
  Random random(7);
  const auto attempt = [&](std::int64_t channels, std::int64_t kernel, std::int64_t stride, std::int32_t algorithm) {
    const std::int64_t to = (12 - kernel) / stride + 1;
    const Problem p{TBEM_PRIMITIVE_conv2d,
                    {stride, stride, 0, 0, 0, 0, 1, 1, 1},
                    {},
                    {random.array({1, channels, 12, 12}), random.array({16, channels, kernel, kernel}), std::nullopt},
                    {Array{{1, 16, to, to}, {}, false}}};
    return runOn(*tbem_backend_cpu(), p, {TBEM_F32, 1, {}, algorithm}).status;
  };
  EXPECT_EQ(attempt(16, 5, 1, 1), TBEM_UNSUPPORTED);
  EXPECT_EQ(attempt(16, 3, 2, 1), TBEM_UNSUPPORTED);
  EXPECT_EQ(attempt(20, 3, 1, 1), TBEM_UNSUPPORTED);
  EXPECT_EQ(attempt(16, 3, 1, 2), TBEM_UNSUPPORTED);
  EXPECT_EQ(attempt(16, 3, 1, 3), TBEM_UNSUPPORTED);
  const Problem softmax{TBEM_PRIMITIVE_softmax, {0}, {}, {random.array({4})}, {Array{{4}, {}, false}}};
  EXPECT_EQ(runOn(*tbem_backend_cpu(), softmax, {TBEM_F32, 1, {}, 1}).status, TBEM_UNSUPPORTED);
  EXPECT_EQ(runOn(*tbem_backend_ref(), softmax, {TBEM_F32, 1, {}, 1}).status, TBEM_UNSUPPORTED);
}

/// The library chooses other code on older processors: the same properties in a process that it is told to think so. (This found
/// a wrong weight gradient in it, DnnlConv.cpp.)
TEST(CpuOfAnOlderMachine, HasTheSameConvolutions) {
  if (std::getenv("DNNL_MAX_CPU_ISA") != nullptr) GTEST_SKIP() << "this is the older machine";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "DNNL_MAX_CPU_ISA=AVX2 '" + self + "' --gtest_filter='CpuConvolutions*:*conv2d*:*StridedPoint*:*dense*' --gtest_brief=1";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

/// Few channels in channels last, 1x1 and 3x3, stride 1 and 2: the corner where AVX2 code was wrong.
TEST(CpuConvolutions, StridedPointConvolutionsOfFewChannels) {
  Random random(5);
  for (const std::int64_t c : {1, 2, 3, 5, 8, 45}) {
    for (const std::int64_t o : {1, 2, 8, 13, 48}) {
      for (const std::int64_t stride : {1, 2}) {
        for (const int kind : {-1, 1}) {
          const std::int64_t to = (12 - 1) / stride + 1;
          const Problem p{TBEM_PRIMITIVE_conv2d_weight_gradient,
                          {stride, stride, 0, 0, 0, 0, 1, 1, 1},
                          {},
                          {random.array({2, c, 12, 12}), random.array({2, o, to, to})},
                          {Array{{o, c, 1, 1}, {}, false}}};
          Settings settings{TBEM_F32, 2, {}};
          if (kind >= 0)
            settings.layouts = [&](std::vector<tbem_operand>& operands) {
              setKind(operands[0], kind), setKind(operands[1], kind);
            };
          const Outcome found = runOn(*tbem_backend_cpu(), p, settings);
          if (kind >= 0 && found.status == TBEM_UNSUPPORTED) continue;
          ASSERT_EQ(found.status, TBEM_OK) << p.text() << ": " << found.error;
          EXPECT_LE(distance(found.outputs[0], runOn(*tbem_backend_ref(), p, {TBEM_F64, 1, {}}).outputs[0]), 5e-6)
              << p.text() << " by " << found.implementation;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tbem::test
