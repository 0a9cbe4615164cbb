// Images with their channels last on a card: every primitive that takes them so, against ref on the same numbers in row-major
// order, and which order convolutions ask for.
#include "runtime/backends/cuda/device/Images.h"
#include "runtime/backends/cuda/ops/Shapes.h"
#include "test/problems/Narrow.h"
#include "test/problems/Random.h"
#include "test/prop/cuda/Card.h"

#include <map>
#include <numeric>
#include <utility>

namespace tbem::test {
namespace {

constexpr tbem_primitive kPrimitives[] = {TBEM_PRIMITIVE_conv2d,
                                          TBEM_PRIMITIVE_conv2d_input_gradient,
                                          TBEM_PRIMITIVE_conv2d_weight_gradient,
                                          TBEM_PRIMITIVE_channel_moments,
                                          TBEM_PRIMITIVE_channel_gradient_sums,
                                          TBEM_PRIMITIVE_max_pool2d,
                                          TBEM_PRIMITIVE_max_pool2d_gradient,
                                          TBEM_PRIMITIVE_avg_pool2d,
                                          TBEM_PRIMITIVE_avg_pool2d_gradient,
                                          TBEM_PRIMITIVE_adaptive_avg_pool2d,
                                          TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient,
                                          TBEM_PRIMITIVE_concat,
                                          TBEM_PRIMITIVE_slice,
                                          TBEM_PRIMITIVE_reduce_sum,
                                          TBEM_PRIMITIVE_reduce_max,
                                          TBEM_PRIMITIVE_sum_squares};

/// Operands of rank 4 lie with their channels last; of how many that is seen.
int turn(std::vector<tbem_operand>& operands) {
  int seen = 0;
  for (tbem_operand& operand : operands) {
    if (operand.present == 0 || operand.rank != 4) continue;
    runtime::setChannelsLast(operand);
    seen += runtime::isPlain(operand) ? 0 : 1;
  }
  return seen;
}

class CudaImages : public OnCard, public testing::WithParamInterface<tbem_primitive> {
protected:
  void TearDown() override { cuda::wideFrom() = cuda::kWide; }

  /// Whether it was run with images whose order is seen.
  bool agreesTurned(const Problem& problem, tbem_dtype dtype, double bound) const {
    const Outcome exact = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    EXPECT_EQ(exact.status, TBEM_OK) << problem.text() << ": " << exact.error;
    int seen = 0;
    const Settings turned{dtype, 1, [&](std::vector<tbem_operand>& operands) {
                            for (std::size_t k = 0; k < operands.size(); ++k) {
                              if (operands[k].present != 0 && operands[k].dtype == dtype && staysF32(problem.primitive, k))
                                operands[k].dtype = TBEM_F32;
                            }
                            seen = turn(operands);
                          }};
    const Outcome first = runOn(*tbem_backend_cuda(), problem, turned);
    if (first.status == TBEM_UNSUPPORTED) {
      EXPECT_TRUE(mayBeRefused(first.error)) << problem.text() << ": " << first.error;
      return false;
    }
    EXPECT_EQ(first.status, TBEM_OK) << problem.text() << ": " << first.error;
    if (first.status != TBEM_OK) return false;
    const Outcome again = runOn(*tbem_backend_cuda(), problem, turned);
    for (std::size_t k = 0; k < problem.outputs.size(); ++k) {
      EXPECT_LE(distance(first.outputs[k], exact.outputs[k]), bound) << problem.text() << ", result " << k;
      EXPECT_EQ(first.bytes[k], again.bytes[k]) << problem.text() << ": other bits";
    }
    return seen > 0;
  }

private:
  /// Uneven padding needs a copy of row-major images; what is kept of a reduction must stand in order.
  static bool mayBeRefused(const std::string& why) {
    const bool reduces = GetParam() == TBEM_PRIMITIVE_reduce_sum || GetParam() == TBEM_PRIMITIVE_reduce_max;
    return why.find(reduces ? "does not lie in row-major order" : "padding that differs") != std::string::npos;
  }
};

TEST_P(CudaImages, AgreeWithRefWhereChannelsAreLast) {
  int turned = 0;
  for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
    Random random(5000 * static_cast<std::uint64_t>(GetParam()) + seed);
    SCOPED_TRACE(seed);
    const Problem problem = randomProblem(GetParam(), random);
    turned += agreesTurned(problem, TBEM_F32, isLibrarys(GetParam()) ? 1e-5 : 5e-6) ? 1 : 0;
    if (seed % 4 == 0) {
      agreesTurned(roundedTo(TBEM_BF16, problem), TBEM_BF16, 0x1p-8);
      agreesTurned(roundedTo(TBEM_F16, problem), TBEM_F16, 0x1p-11);
    }
    if (isLibrarys(GetParam()) || seed % 4 != 0) continue;
    cuda::wideFrom() = 0;
    agreesTurned(problem, TBEM_F32, 5e-6);
    cuda::wideFrom() = cuda::kWide;
  }
  EXPECT_GE(turned, 8) << "few problems have images";
}

INSTANTIATE_TEST_SUITE_P(Primitives, CudaImages, testing::ValuesIn(kPrimitives),
                         [](const auto& info) { return std::string(runtime::signature(info.param).name); });

Array imageOf(std::vector<std::int64_t> dims) { return {std::move(dims), {}, false}; }

/// A copy from each order to the other, in squares and element by element.
TEST_F(OnCard, ImagesAreBroughtFromOneOrderToTheOther) {
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{2, 16, 9, 12}, {3, 5, 2, 2}, {1, 64, 8, 8}, {4, 3, 1, 7}}) {
    Random random(9);
    const Problem problem{TBEM_PRIMITIVE_reorder, {}, {}, {random.array(dims)}, {imageOf(dims)}};
    const Outcome exact = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    for (const std::size_t last : {std::size_t{0}, std::size_t{1}}) {
      const Outcome moved = runOn(*tbem_backend_cuda(), problem, {TBEM_F32, 1, [&](std::vector<tbem_operand>& operands) {
                                                                    runtime::setPlain(operands[1 - last]);
                                                                    runtime::setChannelsLast(operands[last]);
                                                                  }});
      ASSERT_EQ(moved.status, TBEM_OK) << moved.error;
      EXPECT_LE(distance(moved.outputs[0], exact.outputs[0]), 1e-7) << problem.text();
    }
  }
}

/// Without gaps, its dimensions in a random order.
void shuffle(tbem_operand& operand, Random& random) {
  std::vector<int> order(static_cast<std::size_t>(operand.rank));
  std::iota(order.begin(), order.end(), 0);
  for (auto last = static_cast<std::int64_t>(order.size()) - 1; last > 0; --last)
    std::swap(order[static_cast<std::size_t>(last)], order[static_cast<std::size_t>(random.integer(0, last))]);
  runtime::setBlocked(operand, order, {});
}

/// Copies from any order of dimensions to any other.
TEST_F(OnCard, ValuesAreBroughtFromEachOrderToEachOther) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    std::vector<std::int64_t> dims(static_cast<std::size_t>(random.integer(1, 5)));
    for (std::int64_t& dimension : dims) dimension = random.integer(1, 12);
    const Problem problem{TBEM_PRIMITIVE_reorder, {}, {}, {random.array(dims)}, {imageOf(dims)}};
    const auto layouts = [&](std::vector<tbem_operand>& operands) {
      for (tbem_operand& operand : operands) shuffle(operand, random);
    };
    const Outcome moved = runOn(*tbem_backend_cuda(), problem, {TBEM_F32, 1, layouts});
    ASSERT_EQ(moved.status, TBEM_OK) << problem.text() << ": " << moved.error;
    EXPECT_LE(distance(moved.outputs[0], problem.inputs[0]->values), 1e-7) << problem.text();
  }
}

/// The order in which a convolution of 3 x 3 wants its images.
cuda::ImageOrder wantedOrder(std::int32_t dtype, bool tf32, std::int64_t channels,
                             std::array<std::int64_t, 4> pad = {1, 1, 1, 1}) {
  const std::int64_t height = 8 + pad[0] + pad[2] - 2, width = 8 + pad[1] + pad[3] - 2;
  std::array<tbem_operand, 4> operands{runtime::plainOperand(dtype, {2, channels, 8, 8}),
                                       runtime::plainOperand(dtype, {16, channels, 3, 3}), tbem_operand{},
                                       runtime::plainOperand(dtype, {2, 16, height, width})};
  for (tbem_operand& operand : operands) operand.layout.any = 1;
  const std::array<std::int64_t, 9> attributes{1, 1, pad[0], pad[1], pad[2], pad[3], 1, 1, 1};
  tbem_op_desc op{sizeof(tbem_op_desc), TBEM_PRIMITIVE_conv2d, 3, 1, operands.data(), attributes.data(), 9, 1, 0, tf32 ? 1 : 0};
  tbem_op_info info{};
  EXPECT_EQ(tbem_backend_cuda()->query(&op, &info), TBEM_OK) << tbem_backend_cuda()->last_error();
  return cuda::orderOf(op);
}

/// The stand-in's engine on tensor cores needs a larger workspace for row-major images, as cuDNN's do.
TEST_F(OnCard, ConvolutionsOnTensorCoresWantChannelsLast) {
  if (!interpreted_) GTEST_SKIP() << "cuDNN's engines are those of a real card";
  using cuda::ImageOrder;
  EXPECT_EQ(wantedOrder(TBEM_BF16, false, 16), ImageOrder::ChannelsLast);
  EXPECT_EQ(wantedOrder(TBEM_F16, false, 16), ImageOrder::ChannelsLast);
  EXPECT_EQ(wantedOrder(TBEM_F32, true, 16), ImageOrder::ChannelsLast);
  EXPECT_EQ(wantedOrder(TBEM_F32, false, 16), ImageOrder::RowMajor) << "engines that keep f32 are made for that order";
  EXPECT_EQ(wantedOrder(TBEM_BF16, false, 16, {1, 1, 2, 1}), ImageOrder::RowMajor) << "the copy with even padding is row-major";
}

}  // namespace
}  // namespace tbem::test
