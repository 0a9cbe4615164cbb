// Buffers and plans as text.
#include "compiler/plan/PlanFile.h"

#include <gtest/gtest.h>

namespace tbem::estimate {
namespace {

std::string causeOf(std::string_view text) {
  const auto plan = readPlanFile(text);
  return plan ? "" : plan.error().cause;
}

TEST(PlanFile, ReadsBackWhatItWrites) {
  PlanFile plan{{"a", "layer, \"one\"", "c"}, {{7, 0, 3}, {100, 2, 2}, {0, 1, 9}}, {0, 64, 0}};
  const auto again = readPlanFile(planText(plan));
  ASSERT_TRUE(again) << again.error().cause;
  EXPECT_EQ(again->ids, plan.ids);
  EXPECT_EQ(again->offsets, plan.offsets);
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    EXPECT_EQ(again->requests[i].bytes, plan.requests[i].bytes);
    EXPECT_EQ(again->requests[i].first, plan.requests[i].first);
    EXPECT_EQ(again->requests[i].last, plan.requests[i].last);
  }
  EXPECT_TRUE(differences(plan, *again).empty());
}

TEST(PlanFile, ColumnsInAnyOrderAndWithoutOffsets) {
  const auto plan = readPlanFile("size,id,upper,lower\r\n5,x,9,2\r\n");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->requests[0].bytes, 5U);
  EXPECT_EQ(plan->requests[0].first, 2U);
  EXPECT_EQ(plan->requests[0].last, 8U);  // upper is exclusive
  EXPECT_TRUE(plan->offsets.empty());
}

TEST(PlanFile, SaysWhatIsWrong) {
  EXPECT_EQ(causeOf(""), "it is empty");
  EXPECT_EQ(causeOf("id,lower,upper\n"), "column `size` is missing");
  EXPECT_EQ(causeOf("id,lower,upper,size,height\n"), "there is no column `height`");
  EXPECT_EQ(causeOf("id,lower,upper,size,id\n"), "column `id` stands here again");
  EXPECT_EQ(causeOf("id,lower,upper,size\na,0,1\n"), "this line has 3 fields, the first has 4");
  EXPECT_EQ(causeOf("id,lower,upper,size\na,0,1,-4\n"), "`-4` is no size");
  EXPECT_EQ(causeOf("id,lower,upper,size\na,0,4294967296,4\n"), "`4294967296` is no upper");
  EXPECT_EQ(causeOf("id,lower,upper,size\na,3,3,4\n"), "the buffer ends at 3, before it has begun at 3");
  EXPECT_EQ(causeOf("id,lower,upper,size\na,0,1,4\na,0,1,4\n"), "buffer `a` stands here again");
  EXPECT_EQ(causeOf("id,lower,upper,size\na,0,1,4611686018427387904\nb,0,1,1\n"), "all sizes together pass 2^62 bytes");
  EXPECT_EQ(causeOf("id,lower,upper,size\n\"a,0,1,4\n"), "this quote has no end");
}

TEST(PlanFile, DifferencesAreNamed) {
  const PlanFile a{{"x", "y"}, {{8, 0, 1}, {4, 1, 2}}, {0, 8}};
  const PlanFile b{{"y", "z"}, {{6, 1, 3}, {1, 0, 0}}, {16, 0}};
  const std::vector<std::string> told = differences(a, b);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0], "- x: 8 B, steps 0 to 1");
  EXPECT_EQ(told[1], "~ y: 6 B instead of 4, steps 1 to 3 instead of 1 to 2, at 16 instead of 8");
  EXPECT_EQ(told[2], "+ z: 1 B, steps 0 to 0");
}

}  // namespace
}  // namespace tbem::estimate
