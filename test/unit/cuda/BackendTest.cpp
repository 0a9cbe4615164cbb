// The backend's table where there is no card: what it answers, and what it refuses in words.
#include "runtime/backends/cuda/device/Device.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Primitive.h"
#include "tbem/backend.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tbem::cuda {
namespace {

const tbem_backend& backend() { return *tbem_backend_cuda(); }

/// reduce_sum over the last axis of a matrix, its layouts left to the backend.
struct Sum {
  explicit Sum(std::int32_t dtype)
      : operands{runtime::plainOperand(dtype, {4, 6}), runtime::plainOperand(dtype, {4})},
        op{sizeof(tbem_op_desc), TBEM_PRIMITIVE_reduce_sum, 1, 1, operands.data(), attributes.data(), 2, 1, 0} {
    for (tbem_operand& operand : operands) operand.layout = {.any = 1};
  }
  std::vector<tbem_operand> operands;
  std::vector<std::int64_t> attributes{1, 1};
  tbem_op_desc op;
  tbem_op_info info{};
};

TEST(CudaBackend, IsATableOfADeviceWhoseMemoryTheHostCannotReach) {
  EXPECT_EQ(backend().abi, TBEM_BACKEND_ABI);
  EXPECT_EQ(backend().size, sizeof(tbem_backend));
  EXPECT_STREQ(backend().name, "cuda");
  EXPECT_EQ(backend().parallel, nullptr);
  ASSERT_NE(backend().device, nullptr);
  EXPECT_STREQ(backend().device->target, "nvptx64");
}

TEST(CudaBackend, EveryPrimitiveIsThere) {
  for (std::int32_t primitive = -1; primitive <= TBEM_PRIMITIVE_COUNT; ++primitive) {
    tbem_op_desc op{.size = sizeof(tbem_op_desc), .primitive = primitive};
    tbem_op_info info{};
    const bool is = primitive >= 0 && primitive < TBEM_PRIMITIVE_COUNT;
    EXPECT_EQ(backend().query(&op, &info), is ? TBEM_OK : TBEM_UNSUPPORTED) << primitive;
  }
}

TEST(CudaBackend, AQueryNeedsNoCard) {
  Sum sum(TBEM_F32);
  ASSERT_EQ(backend().query(&sum.op, &sum.info), TBEM_OK) << backend().last_error();
  for (const tbem_operand& operand : sum.operands) EXPECT_TRUE(runtime::isPlain(operand) && operand.layout.any == 0);
}

TEST(CudaBackend, ArithmeticIsInF32Alone) {
  for (const std::int32_t dtype : {TBEM_F64, TBEM_F16, TBEM_BF16}) {
    Sum sum(dtype);
    EXPECT_EQ(backend().query(&sum.op, &sum.info), TBEM_UNSUPPORTED);
    const std::string said = backend().last_error();
    EXPECT_NE(said.find(std::string("reduce_sum of ") + runtime::dtypeName(dtype)), std::string::npos) << said;
  }
}

TEST(CudaBackend, ThereIsOneAlgorithm) {
  Sum sum(TBEM_F32);
  sum.op.algorithm = 1;
  EXPECT_EQ(backend().query(&sum.op, &sum.info), TBEM_UNSUPPORTED);
  EXPECT_STREQ(backend().last_error(), "cuda: reduce_sum has one algorithm");
}

TEST(CudaBackend, AnAxisThatIsNoneIsAMistake) {
  Sum sum(TBEM_F32);
  sum.attributes[1] = 7;
  EXPECT_EQ(backend().query(&sum.op, &sum.info), TBEM_INVALID);
  EXPECT_NE(std::string(backend().last_error()).find("axis"), std::string::npos) << backend().last_error();
}

TEST(CudaBackend, WithoutADriverNothingRunsAndTheReasonIsTold) {
  const auto opened = openDevice();
  if (opened) GTEST_SKIP() << "there is a card";
  const std::string expected = "cuda: " + opened.error();
  const auto refuses = [&](tbem_status status) {
    EXPECT_EQ(status, TBEM_UNSUPPORTED);
    EXPECT_EQ(std::string(backend().last_error()), expected);
  };
  tbem_device_info device{};
  refuses(backend().probe(&device));
  Sum sum(TBEM_F32);
  ASSERT_EQ(backend().query(&sum.op, &sum.info), TBEM_OK);
  tbem_op* op = nullptr;
  refuses(backend().create(&sum.op, &op));
  void* memory = nullptr;
  refuses(backend().allocate(4096, &memory));
  EXPECT_EQ(memory, nullptr);
  float number = 0;
  refuses(backend().copy_in(&number, &number, sizeof number));
  refuses(backend().copy_out(&number, &number, sizeof number));
  refuses(backend().synchronize());
  tbem_module* module = nullptr;
  refuses(backend().device->load(".version 7.0", 13, &module));
  refuses(backend().device->zero(&number, sizeof number));
  refuses(backend().device->move(&number, &number, sizeof number));
  refuses(backend().device->record());
}

}  // namespace
}  // namespace tbem::cuda
