// Fits of models with a nested factor: y = 10 + 3 m + (1 + 2 k) m + b, where m says whether the kernel k exists and b is the
// batch.
#include "runtime/regress/Fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

using namespace tbem;
using namespace tbem::regress;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<Factor> factors() {
  return {{"model", {}, {"plain", "conv"}, {}},
          {"kernel", {3, 5, 7}, {"3", "5", "7"}, design::Nested{1, 0, {1}}},
          {"batch", {2, 4, 8}, {"2", "4", "8"}, {}}};
}

double truth(double model, double kernel, double batch) { return 10 + (model == 0 ? 0 : 3 + 1 + 2 * kernel) + batch; }

Result fitted() {
  std::vector<Point> rows;
  std::vector<double> response;
  for (const double batch : {2.0, 4.0, 8.0}) {
    rows.push_back({0, kNone, batch});
    response.push_back(truth(0, 0, batch));
    for (const double kernel : {3.0, 5.0, 7.0}) {
      rows.push_back({1, kernel, batch});
      response.push_back(truth(1, kernel, batch));
    }
  }
  auto result = fit(factors(), rows, response, design::hierarchical({{{{1, 1}}}, {{{2, 1}}}}, factors()));
  EXPECT_TRUE(result) << result.error().text;
  return *std::move(result);
}

TEST(NestedFit, RecoversWhatMadeTheResponse) {
  const Result result = fitted();
  EXPECT_EQ(result.parameters, 4U) << "1, model, kernel, batch";
  EXPECT_NEAR(*result.residualSd, 0, 1e-9);
  EXPECT_NEAR(predict(result, {0, kNone, 3})->value, truth(0, 0, 3), 1e-9);
  EXPECT_NEAR(predict(result, {1, 4, 6})->value, truth(1, 4, 6), 1e-9);
  EXPECT_TRUE(predict(result, {0, kNone, 8})->inside);
  EXPECT_FALSE(predict(result, {1, 9, 8})->inside);
}

TEST(NestedFit, RawCoefficientsAreTheSameFunction) {
  std::map<std::string, double> raw;
  for (const RawCoefficient& one : fitted().raw) raw[one.term] = one.value;
  ASSERT_EQ(raw.count("kernel^0"), 1U);
  EXPECT_NEAR(raw["kernel"], 2, 1e-9);
  EXPECT_NEAR(raw["batch"], 1, 1e-9);
  const auto value = [&](bool conv, double kernel, double batch) {
    return raw["1"] + raw[conv ? "model[conv]" : "model[plain]"] + (conv ? raw["kernel^0"] + raw["kernel"] * kernel : 0) +
           raw["batch"] * batch;
  };
  EXPECT_NEAR(value(false, 0, 5), truth(0, 0, 5), 1e-9);
  EXPECT_NEAR(value(true, 7, 5), truth(1, 7, 5), 1e-9);
}

TEST(NestedFit, AFactorThatIsNotNestedNeedsAValue) {
  EXPECT_FALSE(predict(fitted(), {0, kNone, kNone}));
  EXPECT_FALSE(predict(fitted(), {kNone, kNone, 4}));
}

}  // namespace
