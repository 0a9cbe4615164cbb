// Conditions for all combinations of levels, against naive loops over them.
#include "compiler/spec/network/Levels.h"
#include "compiler/spec/size/Tabulate.h"
#include "test/unit/graph/Fixture.h"
#include "test/unit/spec/Support.h"

#include <gtest/gtest.h>

#include <set>

namespace tbem::test {
namespace {

using spec::Verdict;

spec::LevelProof prove(Built& built, spec::Work* work = nullptr) {
  spec::LevelQuestion question;
  question.experiment = built.experiment.get();
  question.spec = &*built.spec;
  question.work = work;
  return spec::proveLevels(question);
}

TEST(Levels, ConvolutionThatDoesNotFit) {
  Built built(R"(
network net(x: tensor[n, 3, h, w]; kernel: int, stride: int, pad: int) -> tensor[n, 8, oh, ow] {
  return conv2d(x, out: 8, kernel: kernel, stride: stride, pad: pad)
}
design d of net {
  factor kernel: 1, 3, 5, 9, 11
  factor stride: 1, 2
  factor pad: 0, 1
  factor size: 8, 10, 16
  factor batch: 1, 2, 4
  input  x: [batch, 3, size, size]
  full
}
)");
  ASSERT_TRUE(built.experiment) << built.errors();
  const spec::LevelProof proof = prove(built);
  std::uint64_t broken = 0;
  for (const int kernel : {1, 3, 5, 9, 11}) {
    for (const int pad : {0, 1}) {
      for (const int size : {8, 10, 16}) broken += size + 2 * pad < kernel ? 2 * 3 : 0;  // strides and batches
    }
  }
  EXPECT_EQ(proof.verdict, Verdict::Refuted);
  EXPECT_EQ(proof.combinations, 5U * 2 * 2 * 3 * 3);
  ASSERT_FALSE(proof.breaches.empty());
  EXPECT_EQ(proof.breaches.front().combinations, broken);
  // kernel = 9 at the first levels of all others: one change
  EXPECT_EQ(proof.breaches.front().nearest, (std::vector<std::uint32_t>{3, 0, 0, 0, 0}));
}

TEST(Levels, TheCauseIsGeneral) {
  Built built(R"(
network net(x: tensor[n, 4, h, w]; kernel: int, stride: int) -> tensor[n, 4, oh, ow] {
  let y = conv2d(x, out: 4, kernel: kernel, pad: kernel div 2, stride: stride)
  return add(y, conv2d(x, out: 4, kernel: 1, stride: stride))
}
design d of net {
  factor kernel: 1, 2, 3, 4, 5
  factor stride: 1, 2
  factor size: 8, 16
  input  x: [2, 4, size, size]
  full
}
)");
  ASSERT_TRUE(built.experiment) << built.errors();
  const spec::LevelProof proof = prove(built);
  EXPECT_EQ(proof.verdict, Verdict::Refuted);
  ASSERT_FALSE(proof.breaches.empty());
  // h + 2 (k div 2) - k is h for even k and h - 1 for odd k: (h div s) + 1 against ((h - 1) div s) + 1 differ for s = 1 and 2
  // alike
  std::uint64_t broken = 0;
  for (const int k : {1, 2, 3, 4, 5}) {
    for (const int s : {1, 2}) {
      for (const int h : {8, 16}) broken += (h + 2 * (k / 2) - k) / s != (h - 1) / s ? 1 : 0;
    }
  }
  EXPECT_EQ(proof.breaches.front().combinations, broken);
  ASSERT_EQ(proof.breaches.front().causes.size(), 1U);
  ASSERT_EQ(proof.breaches.front().causes.front().size(), 1U);
  EXPECT_EQ(proof.breaches.front().causes.front().front().text, "kernel even");
  EXPECT_TRUE(proof.breaches.front().allCauses);
}

TEST(Levels, NestedFactorsMakeOnlyTheCombinationsThatExist) {
  Built built(R"(
network plain(x: tensor[n, 3, h, w]) -> tensor[n, 3, h, w] { return relu(x) }
network conv(x: tensor[n, 3, h, w]; kernel: int, dilation: int = 1) -> tensor[n, 8, oh, ow] {
  return conv2d(x, out: 8, kernel: kernel, dilation: dilation)
}
design d of model {
  factor dilation: 1, 2 under kernel = 3
  factor model: plain, conv
  factor kernel: 3, 9 under model = conv
  factor size: 8, 10
  factor batch: 1, 2, 4
  input  x: [batch, 3, size, size]
  full
}
)");
  ASSERT_TRUE(built.experiment) << built.errors();
  const spec::LevelProof proof = prove(built);
  EXPECT_EQ(proof.verdict, Verdict::Refuted) << proof.reason;
  // plain; conv with kernel 9; conv with kernel 3 and two dilations: times size and batch.
  EXPECT_EQ(proof.combinations, (1U + 1 + 2) * 2 * 3);
  ASSERT_EQ(proof.breaches.size(), 1U);
  const spec::Breach& breach = proof.breaches.front();
  EXPECT_EQ(breach.combinations, 3U) << "size 8 with kernel 9, in every batch";
  EXPECT_EQ(breach.nearest, (std::vector<std::uint32_t>{2, 1, 1, 0, 0})) << "no dilation, conv, kernel 9";
  ASSERT_EQ(breach.causes.size(), 1U);
  ASSERT_EQ(breach.causes.front().size(), 2U);
  EXPECT_EQ(breach.causes.front()[0].text, "kernel = 9");
  EXPECT_EQ(breach.causes.front()[1].text, "size = 8");
  EXPECT_TRUE(breach.allCauses);
}

TEST(Levels, ACombinationCountsOnceHoweverOftenALoopBreaksIt) {
  Built built(R"(
network net(x: tensor[n, 3, h, w]; depth: int) -> tensor[n, 3, oh, ow] {
  var y = x
  for i in 0 .. depth { y = conv2d(y, out: 3, kernel: 3) }
  return y
}
design d of net {
  factor depth: 1, 2, 3, 4
  factor size: 16, 8, 6, 5, 3, 2
  factor batch: 1, 2
  input  x: [batch, 3, size, size]
  full
}
)");
  ASSERT_TRUE(built.experiment) << built.errors();
  const spec::LevelProof proof = prove(built);
  std::uint64_t broken = 0;
  for (const int depth : {1, 2, 3, 4}) {
    for (const int size : {16, 8, 6, 5, 3, 2}) broken += size - 2 * depth < 1 ? 2 : 0;  // each layer takes 2; two batches
  }
  EXPECT_EQ(proof.verdict, Verdict::Refuted);
  EXPECT_EQ(proof.structures, 4U);
  ASSERT_EQ(proof.breaches.size(), 1U);
  EXPECT_EQ(proof.breaches.front().combinations, broken);
  EXPECT_EQ(proof.breaches.front().nearest, (std::vector<std::uint32_t>{0, 5, 0}));
  EXPECT_TRUE(proof.breaches.front().allCauses || proof.breaches.front().causes.size() == 3U);
}

/// 150 layers in five stages; ten factors of three levels.
std::string template150(bool fits) {
  return std::string(R"(
network net(x: tensor[n, 3, h, w]; width: int, growth: int, k1: int, k2: int, k3: int, s1: int, s2: int, groups: int) -> tensor[n, c] {
  var y = conv2d(x, out: width * groups, kernel: k1, pad: k1 div 2)
  for i in 0 .. 48 { y = conv2d(y, out: width * groups, kernel: k1, pad: k1 div 2, groups: groups) }
  y = conv2d(y, out: (width + growth) * groups, kernel: k2, pad: k2 div 2, stride: s1)
  for i in 0 .. 49 { y = conv2d(y, out: (width + growth) * groups, kernel: k2, pad: k2 div 2, groups: groups) }
  y = conv2d(y, out: (width + 2 * growth) * groups, kernel: k3, pad: k3 div 2, stride: s2)
  for i in 0 .. 49 { y = conv2d(y, out: (width + 2 * growth) * groups, kernel: k3, pad: k3 div 2, groups: groups) }
  return global_avg_pool(y)
}
design d of net {
  factor width: 4, 8, 16
  factor growth: 1, 2, 4
  factor k1: 1, 3, 5
  factor k2: 1, 3, 5
  factor k3: 1, 3, )") +
         (fits ? "5" : "4") + R"(
  factor s1: 1, 2, 3
  factor s2: 1, 2, 3
  factor groups: 1, 2, 4
  factor size: 32, 48, 64
  factor batch: 1, 2, 4
  input  x: [batch, 3, size, size]
  strength 1
}
)";
}

TEST(Levels, TemplateOf150LayersUnder59049Combinations) {
  Built built(template150(true));
  ASSERT_TRUE(built.experiment) << built.errors();
  ASSERT_TRUE(built.row()) << built.errors();  // elaborated once; the proof reads what it made
  ASSERT_EQ(built.experiment->structureCount(), 1U);
  spec::Work work;
  const spec::LevelProof proof = prove(built, &work);
  EXPECT_EQ(proof.verdict, Verdict::Proved) << proof.reason;
  EXPECT_EQ(proof.combinations, 59049U);
  // What intervals do not decide depends on few factors: fewer values than 1 % of conditions times combinations.
  EXPECT_GT(proof.conditions, 150U);
  EXPECT_GT(proof.points, 0U);
  EXPECT_LT(proof.points, proof.conditions * proof.combinations / 100);
  EXPECT_LT(spec::Work::kAll - work.remaining(), spec::Work::kAll / 5000);
  Built even(template150(false));  // an even kernel grows the image by one each layer: no condition breaks
  ASSERT_TRUE(even.row()) << even.errors();
  EXPECT_EQ(prove(even).verdict, Verdict::Proved);
}

TEST(Tabulate, ColumnsAgreeWithEvaluation) {
  World w;
  const E a = w.levels("a", {-3, 0, 2, 5}), b = w.levels("b", {1, 2, 7}), c = w.levels("c", {0, 1, 4});
  const std::vector<ExprId> roots = {floorDiv(a * b - c, b).id, mod(a + c, b).id, both(a <= c, floorDiv(b, c) >= 1).id,
                                     (a / b).id, either(c == 0, mod(a, c) == 0).id};
  std::vector<std::vector<Rational>> levels;
  for (const Domain& domain : w.domains) levels.push_back(domain.levels);
  spec::Tabulation table(w.pool, levels);
  std::size_t compared = 0;
  table.run(roots, [&](ExprId root, const spec::Column* column) {
    ASSERT_NE(column, nullptr);
    for (std::size_t i = 0; i < column->size(); ++i) {
      std::vector<std::optional<Rational>> assignment = {levels[0][0], levels[1][0], levels[2][0]};
      const std::vector<std::uint32_t> at = table.levelsAt(*column, i);
      for (std::size_t k = 0; k < at.size(); ++k) assignment[column->cone[k]] = levels[column->cone[k]][at[k]];
      const sema::Values values = w.pool.evaluate(assignment);
      ASSERT_EQ(column->hasValue(i), values.errorOf(root) == sema::EvalError::None);
      if (column->hasValue(i)) {
        EXPECT_EQ(column->at(i), values[root]);
      }
      ++compared;
    }
  });
  EXPECT_EQ(compared, 36U + 36 + 36 + 12 + 12);
}

}  // namespace
}  // namespace tbem::test
