// Estimates by native code for many rows against the same rows one by one in exact arithmetic, to the byte of their JSON.
#include "compiler/pipeline/Stages.h"
#include "compiler/run/PlainRows.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {
namespace {

struct Found {
  bool good = false;
  std::vector<std::string> rows;  ///< JSON
  std::size_t compiled = 0;
  std::string told;
};

Found estimates(const std::string& program, std::size_t leastCompiled) {
  Request request;
  request.program.text = program;
  Events events;
  PipelineState state(request, events);
  state.plainAbove = 0;
  Found found;
  if (!runStages(state, "graph")) return found;
  DesignRun& run = *state.designs.runs.front();
  PlainRows rows(state.sink(), run, estimate::conventions().front(), leastCompiled);
  found.good = rows.check();
  if (found.good) {
    rows.each([&](std::size_t row, const graph::Graph&, const estimate::Estimate& estimate) {
      const estimate::RowLabel label{run.spec.name, row, run.levels(row).dump()};
      found.rows.push_back(estimate::toJson(estimate, label, state.workspace->session.sources));
    });
    found.compiled = rows.compiledRows();
  }
  for (const Diagnostic& one : state.sink().all()) {
    found.told += one.message + "\n";
    for (const auto& [factor, level] : one.levels) found.told += factor + "=" + level + " ";
  }
  return found;
}

constexpr std::size_t kNever = SIZE_MAX;

struct Case {
  const char* name;
  const char* program;
  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};
const Case kCases[] = {
    {"vgg",
     "import std.vision: small_vgg\n"
     "design d of small_vgg { factor batch: 1, 3, 16\n factor depth: 11, 16\n factor width: 8, 24, 64\n"
     "input image: [batch, 3, 64, 32]\n task train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))\n full }"},
    {"resnet",
     "import std.vision: resnet\n"
     "design d of resnet(depth: 50) { factor batch: 1, 2, 5, 8\n factor h: 64, 97, 224\n factor lr: 0.01, 0.25\n"
     "input image: [batch, 3, h, h]\n task train(loss: cross_entropy, optimizer: adamw(lr: lr))\n full }"},
    {"infer",
     "import std.vision: mobilenet_v2\n"
     "design d of mobilenet_v2 { factor batch: 1, 7, 64\n factor w: 33, 96, 161\n input image: [batch, 3, 96, w]\n full }"},
    {"densenet",
     "import std.vision: densenet\n"
     "design d of densenet { factor batch: 1, 4\n factor growth: 8, 12, 32\n input image: [batch, 3, 64, 64]\n"
     "task train(loss: cross_entropy, optimizer: rmsprop(lr: 0.001))\n full }"},
    {"gpt2",
     "import std.text: gpt2\n"
     "design d of gpt2(layers: 2, heads: 4) { factor batch: 1, 4\n factor width: 64, 128, 256\n factor tokens: 16, 31, 128\n"
     "input tokens: [batch, tokens]\n task train(loss: cross_entropy, optimizer: adam(lr: 0.001))\n full }"},
    {"unet",
     "import std.vision: unet\n"
     "design d of unet { factor batch: 1, 2\n factor width: 8, 16\n input image: [batch, 3, 64, 32]\n full }"},
};

class PlainRowsOf : public ::testing::TestWithParam<Case> {};

TEST_P(PlainRowsOf, CompiledAndExactRowsAreEqual) {
  const Found exact = estimates(GetParam().program, kNever), compiled = estimates(GetParam().program, 1);
  ASSERT_TRUE(exact.good) << exact.told;
  EXPECT_EQ(exact.compiled, 0U);
  EXPECT_EQ(compiled.compiled, compiled.rows.size());
  EXPECT_EQ(exact.rows, compiled.rows);
  EXPECT_EQ(exact.told, compiled.told);
}
INSTANTIATE_TEST_SUITE_P(Networks, PlainRowsOf, ::testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

TEST(PlainRows, BrokenConditionsAreToldAlike) {
  const char* program =
      "import std.vision: small_vgg\n"
      "design d of small_vgg(depth: 11, width: 8) { factor batch: 1, 2, 3\n factor size: 32, 40, 64, 48\n input image: [batch, "
      "3, size, size]\n full "
      "}";
  const Found exact = estimates(program, kNever), compiled = estimates(program, 1);
  EXPECT_FALSE(exact.good);
  EXPECT_FALSE(compiled.good);
  EXPECT_NE(exact.told.find("h mod 32 = 0"), std::string::npos) << exact.told;
  EXPECT_EQ(exact.told, compiled.told);
}

TEST(PlainRows, ConditionsOnLevelsThatNoDoubleIsEqualTo) {
  const auto with = [](const std::string& last) {
    return "import std.nn: dropout\n"
           "network n(image: tensor[b, c], p: real) -> tensor[b, c]\n  pre p < 0.5\n{ return dropout(image, p: p) }\n"
           "design d of n { factor p: 0.1, 0.3, " +
           last + "\n factor b: 1, 2, 3\n input image: [b, 3]\n full }";
  };
  const Found good = estimates(with("0.45"), 1), bad = estimates(with("0.6"), 1);
  ASSERT_TRUE(good.good) << good.told;
  EXPECT_EQ(good.compiled, 9U);
  EXPECT_EQ(good.rows, estimates(with("0.45"), kNever).rows);
  EXPECT_FALSE(bad.good);
  EXPECT_NE(bad.told.find("p=0.6"), std::string::npos) << bad.told;
  EXPECT_EQ(bad.told, estimates(with("0.6"), kNever).told);
}

TEST(PlainRows, NumbersBeyondDoublesAreExact) {
  const char* program =
      "import std.nn: mlp\n"
      "design d of mlp(widths: [width, width, 10]) { factor batch: 1, 4096, 1048576\n factor width: 16, 1048576\n"
      "input x: [batch, 1048576]\n task train(loss: cross_entropy, optimizer: sgd(lr: 0.25))\n full }";
  const Found exact = estimates(program, kNever), compiled = estimates(program, 1);
  ASSERT_TRUE(exact.good) << exact.told;
  EXPECT_EQ(exact.rows, compiled.rows);
  EXPECT_GT(compiled.compiled, 0U);
  EXPECT_LT(compiled.compiled, compiled.rows.size());  // 6 * 2^60 FLOPs are no double's
}

}  // namespace
}  // namespace tbem::driver
