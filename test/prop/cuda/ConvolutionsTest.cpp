// Convolutions at the sizes of networks, by the engines that steps take: larger than the random problems, so that cuDNN chooses
// others than for those.
#include "runtime/backends/cuda/libraries/Cudnn.h"
#include "runtime/core/Layout.h"
#include "test/problems/Random.h"
#include "test/prop/cuda/Card.h"

#include <dlfcn.h>

namespace tbem::test {
namespace {

struct Sizes {
  std::int64_t n, in, image, out, kernel, stride, pad, groups;
};
const Sizes kSizes[] = {
    {4, 3, 32, 64, 3, 1, 1, 1},   {4, 64, 16, 128, 3, 1, 1, 1}, {4, 256, 8, 256, 3, 1, 1, 1}, {4, 512, 4, 512, 3, 1, 1, 1},
    {4, 512, 2, 512, 3, 1, 1, 1}, {2, 64, 16, 64, 3, 2, 1, 1},  {2, 256, 14, 64, 1, 1, 0, 1}, {2, 64, 14, 256, 1, 2, 0, 1},
    {2, 3, 64, 64, 7, 2, 3, 1},   {2, 32, 56, 32, 3, 1, 1, 32}, {4, 64, 14, 64, 5, 1, 2, 1},  {2, 64, 14, 64, 3, 1, 1, 4},
};

Array shape(std::vector<std::int64_t> dims) { return {std::move(dims), {}, false}; }

/// Windows that fit only because of a padding that is on one side, which steps pass over elsewhere.
TEST_F(OnCard, ConvolutionsOfImagesSmallerThanTheirKernels) {
  Random random(23);
  agreesWithRef({TBEM_PRIMITIVE_conv2d,
                 {3, 2, 1, 0, 1, 2, 1, 1, 1},
                 {},
                 {random.array({4, 3, 2, 2}), random.array({64, 3, 1, 3}), random.array({64})},
                 {shape({4, 64, 2, 1})}},
                1e-5);
  agreesWithRef({TBEM_PRIMITIVE_conv2d_input_gradient,
                 {3, 3, 0, 1, 1, 1, 1, 2, 1},
                 {},
                 {random.array({2, 8, 1, 1}), random.array({8, 32, 2, 2})},
                 {shape({2, 32, 1, 1})}},
                1e-5);
  agreesWithRef({TBEM_PRIMITIVE_conv2d_weight_gradient,
                 {3, 2, 2, 0, 2, 2, 1, 1, 1},
                 {},
                 {random.array({1, 40, 8, 4}), random.array({1, 32, 4, 1})},
                 {shape({32, 40, 3, 5})}},
                1e-5);
}

/// What cuDNN prepared serves all operators of one problem and engine, as long as one of them is there.
TEST_F(OnCard, EqualConvolutionsShareAPlan) {
  if (!interpreted_) GTEST_SKIP() << "a stand-in for cuDNN counts its plans";
  void* const library = ::dlopen(cuda::cudnnPath().c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << cuda::cudnnPath();
  const auto plans = reinterpret_cast<int (*)()>(::dlsym(library, "standin_plans"));
  ASSERT_NE(plans, nullptr);
  const tbem_backend& backend = *tbem_backend_cuda();
  const std::vector<std::int64_t> attributes{1, 1, 1, 1, 1, 1, 1, 1, 1};
  const auto create = [&](std::int64_t channels) {
    std::vector<tbem_operand> operands{runtime::plainOperand(TBEM_F32, {2, channels, 6, 6}),
                                       runtime::plainOperand(TBEM_F32, {4, channels, 3, 3}), tbem_operand{},
                                       runtime::plainOperand(TBEM_F32, {2, 4, 6, 6})};
    tbem_op_desc description{sizeof(tbem_op_desc), TBEM_PRIMITIVE_conv2d, 3, 1, operands.data(), attributes.data(), 9, 1, 0};
    tbem_op_info info{};
    tbem_op* op = nullptr;
    EXPECT_EQ(backend.query(&description, &info), TBEM_OK) << backend.last_error();
    EXPECT_EQ(backend.create(&description, &op), TBEM_OK) << backend.last_error();
    return op;
  };
  const int before = plans();
  tbem_op *first = create(3), *second = create(3), *other = create(5);
  EXPECT_EQ(plans() - before, 2);
  backend.destroy(first);
  tbem_op* const third = create(3);
  EXPECT_EQ(plans() - before, 2) << "the second uses it";
  for (tbem_op* op : {second, other, third}) backend.destroy(op);
  backend.destroy(create(3));
  EXPECT_EQ(plans() - before, 3) << "nobody used it any more";
}

class CudaConvolutions : public OnCard, public testing::WithParamInterface<Sizes> {};

TEST_P(CudaConvolutions, AgreeWithRef) {
  if (interpreted_) GTEST_SKIP() << "cuDNN's engines are those of a real card";
  const Sizes s = GetParam();
  Random random(4711);
  const std::int64_t result = (s.image + 2 * s.pad - s.kernel) / s.stride + 1;
  const Array x = random.array({s.n, s.in, s.image, s.image}), dy = random.array({s.n, s.out, result, result}),
              weight = random.array({s.out, s.in / s.groups, s.kernel, s.kernel});
  const std::vector<std::int64_t> attributes{s.stride, s.stride, s.pad, s.pad, s.pad, s.pad, 1, 1, s.groups};
  const Problem problems[] = {
      {TBEM_PRIMITIVE_conv2d, attributes, {}, {x, weight, std::nullopt}, {shape(dy.dims)}},
      {TBEM_PRIMITIVE_conv2d_input_gradient, attributes, {}, {dy, weight}, {shape(x.dims)}},
      {TBEM_PRIMITIVE_conv2d_weight_gradient, attributes, {}, {x, dy}, {shape(weight.dims)}},
  };
  for (const Problem& problem : problems) agreesWithRef(problem, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaConvolutions, testing::ValuesIn(kSizes));

}  // namespace
}  // namespace tbem::test
