#include "runtime/cudnn/Choice.h"

#include <gtest/gtest.h>

namespace tbem::cudnn {
namespace {

constexpr std::uint32_t kTensorCore = 1U << 0, kDown = 1U << 1, kRandom = 1U << 4;

Engine engine(std::int64_t index, std::uint64_t workspace, std::uint32_t notes) { return {index, {}, workspace, notes, 0}; }

class Choices : public ::testing::Test {
protected:
  const std::vector<Engine> engines{engine(9, 300, kTensorCore | kRandom),
                                    engine(8, 200, kTensorCore),
                                    engine(7, 250, kDown),
                                    engine(6, 150, 0),
                                    engine(5, 50, kRandom),
                                    engine(4, 150, 0)};
  Convolution problem;
  Policy policy;
};

TEST_F(Choices, TheFirstIsTakenWhereAllMayBe) {
  EXPECT_EQ(first(problem, engines, policy), 0U);
  EXPECT_EQ(smallest(problem, engines, policy), 4U);
}

TEST_F(Choices, EnginesThatChangeFromRunToRunAreLeftOut) {
  policy.nondeterministic = false;
  EXPECT_EQ(first(problem, engines, policy), 1U);
  EXPECT_EQ(smallest(problem, engines, policy), 3U);  // the earlier of equals
}

TEST_F(Choices, WithoutTf32NoInputOfF32IsRounded) {
  policy.tf32 = false;
  EXPECT_EQ(first(problem, engines, policy), 3U);
  problem.dtype = TBEM_BF16;
  EXPECT_EQ(first(problem, engines, policy), 0U);
}

TEST_F(Choices, TheLimitIsInclusive) {
  policy.limit = 200;
  EXPECT_EQ(first(problem, engines, policy), 1U);
  policy.limit = 199;
  EXPECT_EQ(first(problem, engines, policy), 3U);
  policy.limit = 49;
  EXPECT_EQ(first(problem, engines, policy), std::nullopt);
  EXPECT_EQ(smallest(problem, engines, policy), 4U);
}

TEST_F(Choices, NothingOfNothing) {
  EXPECT_EQ(first(problem, {}, policy), std::nullopt);
  EXPECT_EQ(smallest(problem, {}, policy), std::nullopt);
}

}  // namespace
}  // namespace tbem::cudnn
