// Every public operator of std.nn, as the library's own text lists them: gradients against central differences in f64 on `ref`,
// and `cpu` in f32 against `ref`, over random shapes, through the real pipeline. An operator without a generator fails.
#include "test/prop/stdlib/Trial.h"

#include "compiler/diagnostics/Session.h"
#include "compiler/sema/Modules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tbem::test {
namespace {

/// Operators that have no generator yet. The list is to shrink to nothing.
const std::vector<std::string> kNotYet = {};

std::vector<std::string> publicOperators() {
  Session session;
  const Source& empty = session.sources.add("empty.tbem", "");
  const auto program = sema::load(session.sources, session.sink, empty, sema::LoadOptions::fromEnvironment());
  std::vector<std::string> names;
  const sema::Module* library = program->find("std.nn");
  if (library == nullptr) return names;
  for (const auto& file : library->files) {
    for (const ast::Decl* decl : file->declarations) {
      const auto* callable = ast::dynCast<ast::Callable>(decl);
      if (callable != nullptr && callable->callable == ast::CallableKind::Operator && !decl->isPrivate)
        names.push_back(decl->name.text);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
double norm(const std::vector<double>& a) { return std::sqrt(dot(a, a)); }

std::vector<Case> casesOf(const std::string& name, std::uint64_t seed, int count) {
  Dice dice(seed);
  std::vector<Case> cases;
  for (int i = 0; i < count; ++i) cases.push_back(generators().at(name)(dice));
  return cases;
}

class Library : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    const bool known = generators().count(GetParam()) != 0;
    const bool later = std::find(kNotYet.begin(), kNotYet.end(), GetParam()) != kNotYet.end();
    ASSERT_NE(known, later) << (known ? "it has a generator: take it off the list"
                                      : "this operator has no generator: add one to test/prop/stdlib");
    if (!known) GTEST_SKIP() << "no generator yet";
  }
};

/// (f(x + h d) - f(x - h d)) / 2h = df . d for a random direction d of each floating tensor and weight: an error of h^2, and of
/// the loss's rounding over h.
TEST_P(Library, GradientIsThatOfDifferences) {
  constexpr double h = 1e-5;
  const std::vector<Case> cases = casesOf(GetParam(), 11, 12);
  if (!cases.front().optimizer.empty()) GTEST_SKIP() << "an optimiser has no gradient";
  Trial trial(cases, 12, {});
  double loss = 0;
  ASSERT_TRUE(trial.error.empty()) << trial.error;
  ASSERT_TRUE(trial.run(loss)) << trial.error;
  const std::vector<Leaf> leaves = trial.leaves;
  Dice dice(13);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].factor) continue;
    ASSERT_FALSE(leaves[i].gradient.empty()) << leaves[i].path << " has no gradient";
    std::vector<double> direction(leaves[i].value.size());
    for (double& one : direction) one = dice.normal();
    double ahead = 0, behind = 0;
    for (std::size_t k = 0; k < direction.size(); ++k) trial.leaves[i].value[k] = leaves[i].value[k] + h * direction[k];
    ASSERT_TRUE(trial.run(ahead)) << trial.error;
    for (std::size_t k = 0; k < direction.size(); ++k) trial.leaves[i].value[k] = leaves[i].value[k] - h * direction[k];
    ASSERT_TRUE(trial.run(behind)) << trial.error;
    trial.leaves[i].value = leaves[i].value;
    const double scale = norm(leaves[i].gradient) * norm(direction) + 1;
    EXPECT_NEAR((ahead - behind) / (2 * h), dot(leaves[i].gradient, direction), 1e-6 * scale) << leaves[i].path << " in\n"
                                                                                              << programOf(cases);
  }
}

/// Results and gradients in f32 on `cpu` are those in f64 on `ref` to 2e-5 of their norm.
TEST_P(Library, CpuAgreesWithRef) {
  const bool optimizer = !casesOf(GetParam(), 31, 1).front().optimizer.empty();
  const int programs = optimizer ? 10 : 4;
  for (int p = 0; p < programs; ++p) {
    const std::vector<Case> cases = casesOf(GetParam(), 31 + static_cast<std::uint64_t>(p), optimizer ? 1 : 50);
    const int steps = optimizer ? 5 : 1;
    Trial reference(cases, 32, {true, steps}), found(cases, 32, {false, steps});
    ASSERT_TRUE(reference.error.empty()) << reference.error;
    ASSERT_TRUE(found.error.empty()) << found.error;
    double loss = 0, other = 0;
    ASSERT_TRUE(reference.run(loss)) << reference.error;
    ASSERT_TRUE(found.run(other)) << found.error;
    const auto same = [&](const std::string& what, const std::vector<double>& a, const std::vector<double>& b) {
      ASSERT_EQ(a.size(), b.size()) << what;
      std::vector<double> distance(a.size());
      for (std::size_t k = 0; k < a.size(); ++k) distance[k] = a[k] - b[k];
      const double bound = 2e-5 * (norm(b) + 0.1);
      EXPECT_TRUE(norm(distance) <= bound) << what << ": " << norm(distance) << " of " << norm(b) << " in\n" << programOf(cases);
    };
    for (std::size_t i = 0; i < reference.leaves.size(); ++i)
      same(reference.leaves[i].path, found.leaves[i].gradient, reference.leaves[i].gradient);
    const auto expected = reference.persistent(), after = found.persistent();
    ASSERT_EQ(expected.size(), after.size());
    for (std::size_t i = 0; i < expected.size(); ++i) same(expected[i].first + " after", after[i].second, expected[i].second);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Library, testing::ValuesIn(publicOperators()), [](const auto& info) { return info.param; });

/// A generator whose operator is gone, or a library that could not be read.
TEST(Generators, AreOfOperatorsThatExist) {
  const std::vector<std::string> names = publicOperators();
  EXPECT_GT(names.size(), 100U);
  for (const auto& [name, generator] : generators())
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name)) << name << " is no public operator of std.nn";
}

}  // namespace
}  // namespace tbem::test
