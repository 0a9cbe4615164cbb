// split_rows and move_rows of ref and cpu against their definition, with sentinels in everything that must stay as it is.
#include "runtime/core/Layout.h"
#include "runtime/include/tbem/backend.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <span>

namespace tbem::test {
namespace {

constexpr std::int64_t kSentinel = -77;

using List = std::vector<std::int64_t>;

tbem_operand plain(int dtype, const List& dims) { return runtime::plainOperand(dtype, std::span<const std::int64_t>(dims)); }
tbem_operand listOf(std::int64_t samples) { return plain(TBEM_I64, {1 + samples}); }

void runOn(const tbem_backend& backend, tbem_primitive primitive, std::vector<tbem_operand> operands, int inputs,
           const std::vector<void*>& memory) {
  tbem_op_desc desc{};
  desc.size = sizeof desc;
  desc.primitive = primitive;
  desc.inputs = inputs;
  desc.outputs = static_cast<int>(operands.size()) - inputs;
  desc.operands = operands.data();
  desc.threads = 2;
  tbem_op_info info{};
  ASSERT_EQ(backend.query(&desc, &info), TBEM_OK) << backend.last_error();
  ASSERT_EQ(info.workspace, 0U);
  tbem_op* op = nullptr;
  ASSERT_EQ(backend.create(&desc, &op), TBEM_OK) << backend.last_error();
  EXPECT_EQ(backend.run(op, memory.data(), nullptr, nullptr), TBEM_OK) << backend.last_error();
  backend.destroy(op);
}

class Rows : public testing::TestWithParam<const tbem_backend*> {};

TEST_P(Rows, AreSplitByTheCondition) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t samples = 1 + static_cast<std::int64_t>(random() % 40);
    const int share = static_cast<int>(random() % 5);  // none, some or all are true
    std::vector<std::uint8_t> condition;
    for (std::int64_t i = 0; i < samples; ++i) condition.push_back(static_cast<int>(random() % 4) < share ? 1 : 0);
    const bool nested = random() % 2 == 0;
    List origin(static_cast<std::size_t>(1 + samples), kSentinel);
    origin[0] = nested ? static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(samples + 1)) : samples;
    for (std::int64_t i = 1; i <= origin[0]; ++i) origin[static_cast<std::size_t>(i)] = 2 * i + 1;
    std::vector<List> lists(4, List(static_cast<std::size_t>(1 + samples), kSentinel));
    std::vector<List> expected = lists;
    for (const int side : {0, 1})
      expected[static_cast<std::size_t>(side)][0] = expected[static_cast<std::size_t>(2 + side)][0] = 0;
    for (std::int64_t i = 0; i < origin[0]; ++i) {
      const std::size_t side = condition[static_cast<std::size_t>(i)] != 0 ? 0 : 1;
      const auto at = static_cast<std::size_t>(++expected[side][0]);
      expected[side][at] = i;
      expected[2 + side][0] = expected[side][0];
      expected[2 + side][at] = origin[static_cast<std::size_t>(1 + i)];
    }
    const tbem_operand list = listOf(samples), none{};
    runOn(*GetParam(), TBEM_PRIMITIVE_split_rows,
          {plain(TBEM_BOOL, {samples}), nested ? list : none, list, list, nested ? list : none, nested ? list : none}, 2,
          {condition.data(), nested ? origin.data() : nullptr, lists[0].data(), lists[1].data(),
           nested ? lists[2].data() : nullptr, nested ? lists[3].data() : nullptr});
    for (std::size_t k = 0; k < (nested ? 4U : 2U); ++k)
      ASSERT_EQ(lists[k], expected[k]) << "list " << k << " of trial " << trial;
  }
}

TEST_P(Rows, AreMovedByTheirLists) {
  std::mt19937 random(4);
  const auto someOf = [&random](std::int64_t samples, std::int64_t count) {
    List all(static_cast<std::size_t>(samples));
    std::iota(all.begin(), all.end(), std::int64_t{0});
    std::shuffle(all.begin(), all.end(), random);
    std::sort(all.begin(), all.begin() + count);
    List list(static_cast<std::size_t>(1 + samples), kSentinel);
    list[0] = count;
    std::copy_n(all.begin(), count, list.begin() + 1);
    return list;
  };
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t samples = 1 + static_cast<std::int64_t>(random() % 20), rows = 1 + static_cast<std::int64_t>(random() % 3);
    const std::int64_t inner = 1 + static_cast<std::int64_t>(random() % 700);
    const std::int64_t count = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(samples + 1));
    const List from = someOf(samples, count), to = someOf(samples, count);
    const int how = static_cast<int>(random() % 3);  // gather, scatter, both
    std::vector<std::int32_t> x(static_cast<std::size_t>(samples * rows * inner)), y(x.size(), -1);
    std::iota(x.begin(), x.end(), 0);
    std::vector<std::int32_t> expected = y;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t source = how != 1 ? from[static_cast<std::size_t>(1 + i)] : i;
      const std::int64_t target = how != 0 ? to[static_cast<std::size_t>(1 + i)] : i;
      std::copy_n(x.begin() + source * rows * inner, rows * inner, expected.begin() + target * rows * inner);
    }
    const tbem_operand data = plain(TBEM_I32, {samples * rows, inner}), list = listOf(samples), none{};
    runOn(*GetParam(), TBEM_PRIMITIVE_move_rows, {data, how != 1 ? list : none, how != 0 ? list : none, data}, 3,
          {x.data(), how != 1 ? const_cast<std::int64_t*>(from.data()) : nullptr,
           how != 0 ? const_cast<std::int64_t*>(to.data()) : nullptr, y.data()});
    ASSERT_EQ(y, expected) << "trial " << trial;
  }
}

TEST_P(Rows, DescriptionsThatDoNotFitAreRefused) {
  const tbem_operand data = plain(TBEM_F32, {6, 2}), list = listOf(3), none{};
  const auto refused = [&](tbem_primitive primitive, std::vector<tbem_operand> operands, int inputs) {
    tbem_op_desc desc{};
    desc.size = sizeof desc;
    desc.primitive = primitive;
    desc.inputs = inputs;
    desc.outputs = static_cast<int>(operands.size()) - inputs;
    desc.operands = operands.data();
    tbem_op_info info{};
    return GetParam()->query(&desc, &info) == TBEM_INVALID;
  };
  EXPECT_FALSE(refused(TBEM_PRIMITIVE_move_rows, {data, list, none, data}, 3));
  EXPECT_TRUE(refused(TBEM_PRIMITIVE_move_rows, {data, none, none, data}, 3));
  EXPECT_TRUE(refused(TBEM_PRIMITIVE_move_rows, {data, listOf(4), none, data}, 3));
  EXPECT_TRUE(refused(TBEM_PRIMITIVE_move_rows, {data, list, listOf(2), data}, 3));
  EXPECT_TRUE(refused(TBEM_PRIMITIVE_move_rows, {data, list, none, plain(TBEM_F64, {6, 2})}, 3));
  const tbem_operand condition = plain(TBEM_BOOL, {3});
  EXPECT_FALSE(refused(TBEM_PRIMITIVE_split_rows, {condition, none, list, list, none, none}, 2));
  EXPECT_TRUE(refused(TBEM_PRIMITIVE_split_rows, {condition, list, list, list, none, none}, 2));
  EXPECT_TRUE(refused(TBEM_PRIMITIVE_split_rows, {plain(TBEM_F32, {3}), none, list, list, none, none}, 2));
  EXPECT_TRUE(refused(TBEM_PRIMITIVE_split_rows, {condition, none, listOf(4), list, none, none}, 2));
}

INSTANTIATE_TEST_SUITE_P(Backends, Rows, testing::Values(tbem_backend_ref(), tbem_backend_cpu()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace tbem::test
