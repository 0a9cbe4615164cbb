// Numbers of samples that calls are prepared for, operators that work sample by sample, copies that need not be made,
// probabilities.
#include "Build.h"

#include "compiler/estimate/Coalesce.h"
#include "compiler/estimate/GateFlops.h"
#include "compiler/estimate/Samples.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tbem::test {
namespace {

TEST(SampleSizes, WasteAtMostOne32nd) {
  for (const std::int64_t samples : {1, 2, 31, 32, 33, 64, 100, 256, 1000, 4096}) {
    const std::vector<std::int64_t> sizes = estimate::sampleSizes(samples);
    EXPECT_EQ(sizes.back(), samples);
    EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
    EXPECT_EQ(std::adjacent_find(sizes.begin(), sizes.end()), sizes.end());
    for (std::int64_t k = 1; k <= samples; ++k) {
      const std::int64_t taken = *std::lower_bound(sizes.begin(), sizes.end(), k);
      EXPECT_LE((taken - k) * 32, k) << k << " of " << samples;
    }
    EXPECT_LE(sizes.size(), 200U) << samples;
  }
}

// The branches of one skip: 1 where it is false, 2 where it is true.
graph::Branches oneGate() {
  graph::Branches branches;
  branches.list = {{}, {0, static_cast<graph::OpId>(0), false}, {0, static_cast<graph::OpId>(0), true}};
  return branches;
}

using estimate::CopyStep;
using estimate::MemoryUse;

/// x is made in step 0, read in the computed arm by the loop of step 2 that makes c, and copied to the result in step 3 where the
/// block is left out; c is copied in step 4; step 5 reads the result.
TEST(Coalesce, AnIdentityArmSharesWithTheResultOfTheOther) {
  const std::vector<MemoryUse> x{{0, 0}, {2, 1, true}, {3, 2}};
  const std::vector<MemoryUse> result{{3, 2}, {4, 1}, {5, 0}};
  const std::vector<MemoryUse> c{{2, 1, true}, {4, 1}};
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {4, 1, 0, 0}, c, result, true));
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, x, result, true));
  // c's place is the result's now: x may still be it, since the loop that makes c reads it at the same element.
  const std::vector<MemoryUse> both{{2, 1, true}, {3, 2}, {4, 1}, {5, 0}};
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, x, both, true));
  const std::vector<MemoryUse> elsewhere{{0, 0}, {2, 1, false}, {3, 2}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, elsewhere, both, true)) << "c would overwrite what is still read";
  const std::vector<MemoryUse> later{{0, 0}, {2, 1, true}, {3, 2}, {6, 0}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, later, both, true)) << "x is read after the join";
}

TEST(Coalesce, OfSeveralSamplesOnlyRowsAreApart) {
  // Step 1 gathers x for the computed arm, step 2 scatters its result, step 3 keeps the others.
  const std::vector<MemoryUse> x{{0, 0}, {1, 1, false, true}, {3, 2, false, true}};
  const std::vector<MemoryUse> result{{2, 1, false, true}, {3, 2, false, true}, {5, 0}};
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, x, result, false));
  const std::vector<MemoryUse> whole{{0, 0}, {1, 1, false, true}, {2, 0}, {3, 2, false, true}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, whole, result, false)) << "the whole of x is read beside it";
  const std::vector<MemoryUse> compact{{1, 1}, {2, 1}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {2, 1, 0, 0}, compact, {{1, 0}, {2, 1, false, true}}, false));
}

TEST(Probabilities, AreReadAndRefused) {
  const auto mixed = estimate::parseProbabilities("unit[1].skip=0.25,0.5");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->of.at("unit[1].skip"), 0.25);
  EXPECT_EQ(mixed->others, 0.5);
  for (const char* wrong : {"1.01", "-0.1", "nan", "x", "a=", "0.5x", ","})
    EXPECT_FALSE(estimate::parseProbabilities(wrong)) << wrong;
}

}  // namespace
}  // namespace tbem::test
