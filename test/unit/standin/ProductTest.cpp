// Products as cuBLASLt is asked for them, computed by a stand-in (test/standin/CublasLt.cpp), against ref.
#include "runtime/backends/cuda/device/Op.h"
#include "runtime/backends/cuda/libraries/Blas.h"
#include "runtime/core/Layout.h"
#include "test/unit/standin/Reference.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>

extern "C" int standin_multiplied();

namespace tbem::cuda {
namespace {

using Dims = std::vector<std::int64_t>;

/// A description whose operands lie in row-major order; an operand without dims is absent.
struct Description {
  Description(tbem_primitive primitive, const std::vector<std::optional<Dims>>& dims, Dims given = {}) : attributes(given) {
    for (const auto& one : dims) operands.push_back(one ? runtime::plainOperand(TBEM_F32, *one) : tbem_operand{});
    op = {sizeof(tbem_op_desc),
          primitive,
          static_cast<int>(dims.size()) - 1,
          1,
          operands.data(),
          attributes.data(),
          static_cast<int>(attributes.size()),
          1,
          0};
  }
  std::vector<tbem_operand> operands;
  Dims attributes;
  tbem_op_desc op{};
};

/// Memory that begins at a multiple of 64 bytes, or so many elements behind one.
class Memory {
public:
  Memory(std::size_t elements, std::size_t behind) : all(elements + 32 + behind) {
    const auto address = reinterpret_cast<std::uintptr_t>(all.data());
    begin = reinterpret_cast<float*>((address + 63) / 64 * 64) + behind;
  }
  float* data() const { return begin; }

private:
  std::vector<float> all;
  float* begin;
};

/// Both results of a description whose inputs hold small whole numbers, so that every sum is exact.
void expectEqual(const Description& description, std::size_t behind) {
  const tbem_op_desc& op = description.op;
  ASSERT_EQ(runtime::checkDescription(op), "");
  std::minstd_rand random(7);
  std::vector<Memory> blocks;
  std::vector<void*> memory;
  for (const tbem_operand& operand : description.operands) {
    const auto count = operand.present != 0 ? static_cast<std::size_t>(runtime::elementCount(operand)) : 0;
    blocks.emplace_back(count, behind);
    for (std::size_t i = 0; i < count; ++i) blocks.back().data()[i] = static_cast<float>(random() % 9) - 4;
    memory.push_back(operand.present != 0 ? blocks.back().data() : nullptr);
  }
  const auto results = static_cast<std::size_t>(runtime::elementCount(description.operands.back()));
  ASSERT_NO_FATAL_FAILURE(test::runReference(op, memory.data()));
  const auto* const y = static_cast<const float*>(memory.back());
  const std::vector<float> expected(y, y + results);
  std::fill_n(static_cast<float*>(memory.back()), results, NAN);

  const ProductShape shape = productShape(op);
  ASSERT_EQ(shape.results(), static_cast<std::int64_t>(results));
  const std::uint64_t workspace = productWorkspace(shape);
  const auto product = PreparedProduct::prepare(shape, workspace);
  ASSERT_TRUE(product.has_value()) << product.error();
  EXPECT_EQ(product->addsBias(), shape.bias >= 0);
  std::vector<std::byte> work(workspace + 256);
  const auto place = (reinterpret_cast<std::uintptr_t>(work.data()) + 255) / 256 * 256;
  const int before = standin_multiplied();
  const auto matrix = [&](int k) { return static_cast<float*>(memory[static_cast<std::size_t>(k)]); };
  for (const auto& [a, b, c] : callsOf(shape)) {
    ASSERT_EQ(product->run(Device{}, {matrix(shape.a) + a, matrix(shape.b) + b, shape.bias >= 0 ? matrix(shape.bias) : nullptr,
                                      matrix(shape.y) + c, reinterpret_cast<void*>(place)}),
              "");
  }
  EXPECT_EQ(static_cast<std::size_t>(standin_multiplied() - before), callsOf(shape).size());
  EXPECT_EQ(std::vector<float>(y, y + results), expected);
}

TEST(CudaProduct, DenseLayersAreProducts) {
  for (const std::size_t behind : {0, 1}) {
    for (const Dims& lead : {Dims{}, Dims{1}, Dims{7}, Dims{2, 3, 2}}) {
      Dims x = lead, y = lead;
      x.push_back(5), y.push_back(3);
      Description forward(TBEM_PRIMITIVE_dense, {x, Dims{3, 5}, std::nullopt, y});
      Description biased(TBEM_PRIMITIVE_dense, {x, Dims{3, 5}, Dims{3}, y});
      Description input(TBEM_PRIMITIVE_dense_input_gradient, {y, Dims{3, 5}, x});
      Description weight(TBEM_PRIMITIVE_dense_weight_gradient, {x, y, Dims{3, 5}});
      expectEqual(forward, behind);
      expectEqual(biased, behind);
      expectEqual(input, behind);
      expectEqual(weight, behind);
    }
  }
}

TEST(CudaProduct, LongSumsHaveAWorkspace) {
  Description weight(TBEM_PRIMITIVE_dense_weight_gradient, {Dims{600, 5}, Dims{600, 3}, Dims{3, 5}});
  EXPECT_EQ(productWorkspace(productShape(weight.op)), 15U * 4 * 32);
  expectEqual(weight, 0);
}

struct Batches {
  Dims a, b, y;  // leading dimensions
  std::size_t calls;
};

class CudaMatmul : public testing::TestWithParam<std::tuple<Batches, int>> {};

TEST_P(CudaMatmul, BroadcastsByNumpysRule) {
  auto [leads, transposed] = GetParam();
  const std::int64_t ta = transposed & 1, tb = transposed >> 1;
  const auto with = [](Dims lead, std::int64_t rows, std::int64_t columns, std::int64_t swapped) {
    lead.push_back(swapped != 0 ? columns : rows);
    lead.push_back(swapped != 0 ? rows : columns);
    return lead;
  };
  Description matmul(TBEM_PRIMITIVE_matmul, {with(leads.a, 2, 4, ta), with(leads.b, 4, 3, tb), with(leads.y, 2, 3, 0)}, {ta, tb});
  expectEqual(matmul, 0);
  expectEqual(matmul, 1);
  EXPECT_LE(callsOf(productShape(matmul.op)).size(), leads.calls);
}

INSTANTIATE_TEST_SUITE_P(
    Leads, CudaMatmul,
    testing::Combine(testing::Values(Batches{{}, {}, {}, 1}, Batches{{5}, {5}, {5}, 1}, Batches{{2, 3}, {2, 3}, {2, 3}, 1},
                                     Batches{{5}, {}, {5}, 1}, Batches{{}, {5}, {5}, 1}, Batches{{2, 3}, {1, 3}, {2, 3}, 2},
                                     Batches{{2, 1}, {2, 3}, {2, 3}, 2}, Batches{{2, 3}, {3}, {2, 3}, 2},
                                     Batches{{2, 1}, {3}, {2, 3}, 2}, Batches{{1, 1}, {1}, {1, 1}, 1},
                                     Batches{{2, 3, 2}, {2, 1, 2}, {2, 3, 2}, 4}, Batches{{2, 1, 2}, {1, 3, 1}, {2, 3, 2}, 4}),
                     testing::Range(0, 4)));

TEST(CudaProduct, RowsOfAllMatricesAreOneProductWhereTheSecondFactorIsOne) {
  Description matmul(TBEM_PRIMITIVE_matmul, {Dims{6, 2, 4}, Dims{4, 3}, Dims{6, 2, 3}}, {0, 0});
  const ProductShape shape = productShape(matmul.op);
  EXPECT_EQ(shape.m, 12);
  EXPECT_EQ(shape.batch, Lead{});
}

TEST(CudaProduct, TheLongestLeadingDimensionIsTheBatch) {
  Description matmul(TBEM_PRIMITIVE_matmul, {Dims{7, 1, 2, 4}, Dims{1, 3, 4, 3}, Dims{7, 3, 2, 3}}, {1, 0});
  matmul = Description(TBEM_PRIMITIVE_matmul, {Dims{7, 1, 4, 2}, Dims{1, 3, 4, 3}, Dims{7, 3, 2, 3}}, {1, 0});
  const ProductShape shape = productShape(matmul.op);
  EXPECT_EQ(shape.batch, (Lead{7, 8, 0, 18}));
  EXPECT_EQ(callsOf(shape).size(), 3U);
}

/// State the rule of workspaces: 32 parts of 4 bytes a result, at most 8 MiB, from sums of 512 on.
TEST(CudaProduct, WorkspacesFollowTheirRule) {
  const auto workspace = [](std::int64_t m, std::int64_t k, std::int64_t n) {
    ProductShape shape;
    shape.m = m, shape.k = k, shape.n = n;
    return productWorkspace(shape);
  };
  EXPECT_EQ(workspace(64, 511, 64), 0U);
  EXPECT_EQ(workspace(64, 512, 64), 524288U);
  EXPECT_EQ(workspace(256, 4096, 256), 8388608U);
  EXPECT_EQ(workspace(1 << 20, 1 << 20, 1 << 20), 8388608U);
}

TEST(CudaProduct, AQueryAnswersLayoutsAndWorkspace) {
  Description forward(TBEM_PRIMITIVE_dense, {Dims{32, 1024}, Dims{10, 1024}, Dims{10}, Dims{32, 10}});
  for (tbem_operand& operand : forward.operands) operand.layout = {.any = 1};
  tbem_op_info info{};
  ASSERT_EQ(productFamily().query(forward.op, info), TBEM_OK) << lastErrorText();
  for (const tbem_operand& operand : forward.operands) EXPECT_TRUE(runtime::isPlain(operand) && operand.layout.any == 0);
  EXPECT_EQ(info.workspace, 4U * 320 * 4);  // parts of at least 256 elements of the sums
  EXPECT_STREQ(info.implementation, "cuBLASLt, 4 parts");
}

TEST(CudaProduct, BatchesHaveAWorkspaceOfTheLibrarys) {
  Description matmul(TBEM_PRIMITIVE_matmul, {Dims{2, 4, 600}, Dims{2, 600, 5}, Dims{2, 4, 5}}, {0, 0});
  tbem_op_info info{};
  ASSERT_EQ(productFamily().query(matmul.op, info), TBEM_OK) << lastErrorText();
  EXPECT_EQ(info.workspace, 40U * 4 * 32 + 192);  // the library's begins at a multiple of 256, ours at one of 64
  EXPECT_STREQ(info.implementation, "cuBLASLt");
}

TEST(CudaProduct, AnotherOrderOfDimensionsIsRefused) {
  Description forward(TBEM_PRIMITIVE_dense, {Dims{32, 8}, Dims{10, 8}, std::nullopt, Dims{32, 10}});
  constexpr int kColumns[2] = {1, 0};
  runtime::setBlocked(forward.operands[1], kColumns, {});
  tbem_op_info info{};
  EXPECT_EQ(productFamily().query(forward.op, info), TBEM_UNSUPPORTED);
  EXPECT_NE(std::string(lastErrorText()).find("operand 1 does not lie in row-major order"), std::string::npos);
}

}  // namespace
}  // namespace tbem::cuda
