#include "runtime/data/Dataset.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace tbem::data {
namespace {

Settings classes(double noise = 1) {
  return {{{"shape", std::vector<double>{3, 4}},
           {"classes", std::int64_t{5}},
           {"outputs", std::int64_t{0}},
           {"train", std::int64_t{200}},
           {"test", std::int64_t{50}},
           {"noise", noise},
           {"seed", std::int64_t{7}}},
          {}};
}

Settings regression(double noise = 0) {
  Settings settings = classes(noise);
  settings.values["classes"] = std::int64_t{0};
  settings.values["outputs"] = std::int64_t{2};
  return settings;
}

std::unique_ptr<Dataset> open(const Settings& settings) {
  auto opened = findReader("synthetic")->open(settings);
  EXPECT_TRUE(opened) << opened.error();
  return std::move(*opened);
}

struct Examples {
  std::vector<float> x, y;
  std::vector<std::int64_t> labels;
};

Examples readAll(const Dataset& data, Split split, const std::vector<std::int64_t>& numbers) {
  const Description& about = data.description();
  Examples out;
  out.x.resize(numbers.size() * static_cast<std::size_t>(about.inputs.front().elements()));
  out.labels.resize(numbers.size());
  out.y.resize(numbers.size() * static_cast<std::size_t>(about.target.elements()));
  EXPECT_TRUE(data.read(split, numbers, {{out.x.data()}, out.labels.data(), out.y.data()}));
  return out;
}

std::vector<std::int64_t> firstNumbers(std::int64_t count) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(Synthetic, DescribesWhatWasAskedFor) {
  const auto data = open(classes());
  const Description& about = data->description();
  EXPECT_EQ(about.inputs.front().shape, (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(about.inputs.front().elements(), 12);
  EXPECT_EQ(about.classes, 5);
  EXPECT_EQ(about.count(Split::Train), 200);
  EXPECT_EQ(about.count(Split::Test), 50);
}

TEST(Synthetic, AnExampleDoesNotDependOnItsNeighbours) {
  const auto data = open(classes());
  const Examples all = readAll(*data, Split::Train, firstNumbers(200));
  const Examples some = readAll(*data, Split::Train, {17, 3, 17});
  for (std::size_t e = 0; e < 12; ++e) {
    EXPECT_EQ(some.x[e], all.x[17 * 12 + e]);
    EXPECT_EQ(some.x[12 + e], all.x[3 * 12 + e]);
    EXPECT_EQ(some.x[24 + e], all.x[17 * 12 + e]);
  }
  EXPECT_EQ(some.labels, (std::vector<std::int64_t>{all.labels[17], all.labels[3], all.labels[17]}));
}

TEST(Synthetic, SplitsDiffer) {
  const auto data = open(classes());
  EXPECT_NE(readAll(*data, Split::Train, firstNumbers(50)).x, readAll(*data, Split::Test, firstNumbers(50)).x);
}

TEST(Synthetic, WithoutNoiseAClassIsItsCentre) {
  const auto data = open(classes(0));
  const Examples all = readAll(*data, Split::Train, firstNumbers(200));
  std::map<std::int64_t, std::vector<float>> centres;
  for (std::size_t i = 0; i < 200; ++i) {
    const std::vector<float> x(all.x.begin() + static_cast<std::ptrdiff_t>(i * 12),
                               all.x.begin() + static_cast<std::ptrdiff_t>(i * 12 + 12));
    EXPECT_EQ(centres.try_emplace(all.labels[i], x).first->second, x);
  }
  EXPECT_EQ(centres.size(), 5U);
}

/// With no noise a target is linear: that of the sum of two examples is the sum of their targets. Two examples' difference is
/// orthogonal to what the map forgets, so the map is solved for from 12 examples and predicts the others.
TEST(Synthetic, TargetsAreLinearWithoutNoise) {
  const auto data = open(regression());
  const Examples all = readAll(*data, Split::Train, firstNumbers(40));
  // Least squares by normal equations and Gauss elimination, in double.
  std::vector<std::vector<double>> system(12, std::vector<double>(13));
  for (std::size_t i = 0; i < 30; ++i) {
    for (std::size_t r = 0; r < 12; ++r) {
      for (std::size_t c = 0; c < 12; ++c) system[r][c] += double{all.x[i * 12 + r]} * double{all.x[i * 12 + c]};
      system[r][12] += double{all.x[i * 12 + r]} * double{all.y[i * 2]};
    }
  }
  for (std::size_t p = 0; p < 12; ++p) {
    for (std::size_t r = 0; r < 12; ++r) {
      if (r == p) continue;
      const double factor = system[r][p] / system[p][p];
      for (std::size_t c = p; c < 13; ++c) system[r][c] -= factor * system[p][c];
    }
  }
  for (std::size_t i = 30; i < 40; ++i) {
    double predicted = 0;
    for (std::size_t e = 0; e < 12; ++e) predicted += system[e][12] / system[e][e] * double{all.x[i * 12 + e]};
    EXPECT_NEAR(predicted, all.y[i * 2], 1e-4);
  }
}

TEST(Synthetic, FingerprintTellsSettingsApart) {
  EXPECT_EQ(open(classes())->fingerprint(), open(classes())->fingerprint());
  EXPECT_NE(open(classes())->fingerprint(), open(classes(2))->fingerprint());
  EXPECT_NE(open(classes())->fingerprint(), open(regression(1))->fingerprint());
}

TEST(Synthetic, WrongSettingsAreTold) {
  Settings both = classes();
  both.values["outputs"] = std::int64_t{3};
  EXPECT_NE(findReader("synthetic")->describe(both).error().find("not both"), std::string::npos);
  Settings shape = classes();
  shape.values["shape"] = std::vector<double>{3, 0};
  EXPECT_NE(findReader("synthetic")->describe(shape).error().find("the dimension 0"), std::string::npos);
  Settings huge = classes();
  huge.values["shape"] = std::vector<double>{1e9, 1e9};
  EXPECT_FALSE(findReader("synthetic")->describe(huge));
}

TEST(Settings, RelativePathsBeginAtTheProgram) {
  const Settings settings{{{"file", std::string("data/x.npy")}, {"other", std::string("/a/b")}}, "/home/me"};
  EXPECT_EQ(settings.path("file"), "/home/me/data/x.npy");
  EXPECT_EQ(settings.path("other"), "/a/b");
}

TEST(Readers, NamesAreSortedAndUnknownOnesAreNotFound) {
  for (std::size_t i = 1; i < readers().size(); ++i) EXPECT_LT(std::string(readers()[i - 1].name), readers()[i].name);
  EXPECT_EQ(findReader("synthetic_"), nullptr);
}

}  // namespace
}  // namespace tbem::data
