// Numbers of samples that calls are prepared for, operators that work sample by sample, copies that need not be made,
// probabilities.
#include "Build.h"

#include "compiler/count/GateFlops.h"
#include "compiler/estimate/GateMemory.h"
#include "compiler/lower/Samples.h"
#include "compiler/lower/memory/Coalesce.h"

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

// By branch: how many samples could be in it.
const std::vector<std::int64_t> kOneSample{1, 1, 1}, kTwoSamples{2, 2, 2};

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
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {4, 1, 0, 0}, c, result, kOneSample));
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, x, result, kOneSample));
  // c's place is the result's now: x may still be it, since the loop that makes c reads it at the same element.
  const std::vector<MemoryUse> both{{2, 1, true}, {3, 2}, {4, 1}, {5, 0}};
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, x, both, kOneSample));
  const std::vector<MemoryUse> elsewhere{{0, 0}, {2, 1, false}, {3, 2}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, elsewhere, both, kOneSample))
      << "c would overwrite what is still read";
  const std::vector<MemoryUse> later{{0, 0}, {2, 1, true}, {3, 2}, {6, 0}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, later, both, kOneSample)) << "x is read after the join";
}

TEST(Coalesce, OfSeveralSamplesOnlyRowsAreApart) {
  // Step 1 gathers x for the computed arm, step 2 scatters its result, step 3 keeps the others.
  const std::vector<MemoryUse> x{{0, 0}, {1, 1, false, true}, {3, 2, false, true}};
  const std::vector<MemoryUse> result{{2, 1, false, true}, {3, 2, false, true}, {5, 0}};
  EXPECT_TRUE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, x, result, kTwoSamples));
  const std::vector<MemoryUse> whole{{0, 0}, {1, 1, false, true}, {2, 0}, {3, 2, false, true}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {3, 2, 0, 0}, whole, result, kTwoSamples)) << "the whole of x is read beside it";
  const std::vector<MemoryUse> compact{{1, 1}, {2, 1}};
  EXPECT_FALSE(estimate::mayCoalesce(oneGate(), {2, 1, 0, 0}, compact, {{1, 0}, {2, 1, false, true}}, kTwoSamples));
}

TEST(Probabilities, AreReadAndRefused) {
  const auto mixed = estimate::parseProbabilities("unit[1].skip=0.25,0.5");
  ASSERT_TRUE(mixed);
  EXPECT_EQ(mixed->of.at("unit[1].skip"), 0.25);
  EXPECT_EQ(mixed->others, 0.5);
  for (const char* wrong : {"1.01", "-0.1", "nan", "x", "a=", "0.5x", ","})
    EXPECT_FALSE(estimate::parseProbabilities(wrong)) << wrong;
}

/// A step of each branch that touches bytes up to 64 * (its number's place in `heights`).
estimate::Program reaching(const std::vector<std::uint64_t>& heights, std::int64_t samples) {
  estimate::Program program;
  program.samples = samples;
  const auto gate = [](std::uint32_t id) { return static_cast<graph::OpId>(id); };
  // A skip, in whose computed arm stands another, and an exit behind it.
  program.branches = {{0, graph::kNoOp, "", false, false}, {0, gate(0), "outer", false, false},
                      {0, gate(0), "outer", false, true},  {1, gate(1), "inner", false, false},
                      {1, gate(1), "inner", false, true},  {0, gate(2), "exit", true, false},
                      {0, gate(2), "exit", true, true}};
  for (estimate::Branch& branch : program.branches) branch.samples = samples;
  for (std::uint32_t b = 0; b < program.branches.size(); ++b) {
    program.allocations.push_back({.bytes = 64, .offset = 64 * heights[b]});
    program.buffers.push_back({.allocation = b});
    program.loops.push_back({.outputs = {{.buffer = static_cast<estimate::BufferId>(b)}}});
    program.steps.push_back({.kind = estimate::Step::Kind::Loop, .index = b, .branch = b});
    program.arena = std::max(program.arena, 64 * (heights[b] + 1));
  }
  return program;
}

/// Every way that each sample can go, one after the other.
TEST(GateMemory, IsThatOfEveryWay) {
  const double outer = 0.25, inner = 0.5, exits = 0.125;
  const estimate::GateProbabilities probabilities{{{"outer", outer}, {"inner", inner}}, exits};
  for (const std::vector<std::uint64_t>& heights :
       {std::vector<std::uint64_t>{0, 3, 1, 6, 4, 2, 5}, {2, 0, 9, 1, 3, 8, 7}, {9, 1, 2, 3, 4, 5, 6}, {0, 5, 6, 1, 2, 4, 3}}) {
    const estimate::Program program = reaching(heights, 3);
    double expected = 0;
    std::uint64_t least = ~std::uint64_t{0};
    for (int ways = 0; ways < 512; ++ways) {  // three decisions of three samples
      double probability = 1;
      std::uint64_t reached = heights[0];
      for (int sample = 0; sample < 3; ++sample) {
        const bool first = (ways >> (3 * sample) & 1) != 0, second = (ways >> (3 * sample) & 2) != 0,
                   third = (ways >> (3 * sample) & 4) != 0;
        probability *= (first ? outer : 1 - outer) * (second ? inner : 1 - inner) * (third ? exits : 1 - exits);
        reached = std::max(reached, first ? heights[2] : std::max(heights[1], second ? heights[4] : heights[3]));
        reached = std::max(reached, third ? heights[6] : heights[5]);
      }
      expected += probability * 64 * static_cast<double>(reached + 1);
      least = std::min(least, 64 * (reached + 1));
    }
    EXPECT_NEAR(*estimate::expectedMemory(program, probabilities), expected, 1e-9 * expected);
    EXPECT_EQ(estimate::memoryOfPaths(program).least, least);
    EXPECT_EQ(estimate::memoryOfPaths(program).most, 640U - 64 * (9 - *std::max_element(heights.begin(), heights.end())));
  }
  EXPECT_FALSE(estimate::expectedMemory(reaching({0, 1, 2, 3, 4, 5, 6}, 1), {{{"outer", 0.5}}, std::nullopt}));
}

}  // namespace
}  // namespace tbem::test
