// Disjunctive normal forms against truth tables, and cases of a process against conditions written in C++.
#include "compiler/spec/tests/Vibration.h"

#include "compiler/sema/check/CheckNames.h"
#include "compiler/spec/network/Contract.h"
#include "compiler/spec/process/Predicates.h"
#include "compiler/spec/size/Points.h"
#include "test/unit/spec/Support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

namespace tbem::test {
namespace {

using spec::Point;
using spec::Points;
using spec::TestCase;

/// Whether the form and the condition agree at all points of three symbols in -3 .. 3.
void expectSame(World& world, const E& condition) {
  const auto form = spec::conjunctionsOf(world.pool, condition.id, 100);
  ASSERT_TRUE(form);
  std::vector<ExprId> roots{condition.id};
  for (const spec::Conjunction& one : *form) {
    for (const spec::Predicate& atom : one) roots.push_back(atom.expr);
  }
  Points points(world.pool, roots);
  for (int i = 0; i < 343; ++i) {
    const Point point = {Rational::of(i % 7 - 3), Rational::of(i / 7 % 7 - 3), Rational::of(i / 49 - 3)};
    points.at(point);
    bool any = false;
    std::size_t at = 1;
    for (const spec::Conjunction& one : *form) {
      bool all = true;
      for (std::size_t k = 0; k < one.size(); ++k) all = points.holds(at++) && all;
      any = any || all;
    }
    EXPECT_EQ(any, points.holds(0)) << world.pool.str(condition.id) << " at " << i;
  }
}

TEST(Predicates, FormsAgreeWithTheirConditions) {
  World world;
  const E a = world.symbol("a"), b = world.symbol("b"), c = world.symbol("c");
  const E least = a.make(ExprOp::Min, b), most = b.make(ExprOp::Max, c);
  const E zero = a.of(0);
  const E choice{&world.pool, world.pool.make(ExprOp::Select, (a < b).id, c.id, (a + 1).id)};
  expectSame(world, both(a < b, !(b == c)));
  expectSame(world, !either(both(a <= b, b == 1), !(c <= a)));
  expectSame(world, both(zero <= least, most <= E{a.of(2)}));
  expectSame(world, either(least < c, zero <= most));
  expectSame(world, choice == 1);
  expectSame(world, (choice + least) <= E{a.of(2)});
  expectSame(world, E{&world.pool, world.pool.make(ExprOp::Equal, (a < b).id, (b < c).id)});
}

TEST(Predicates, SidesOfAMinimumAreConjunctionsOfTheirOwn) {
  World world;
  const E a = world.symbol("a"), b = world.symbol("b");
  const auto form = spec::conjunctionsOf(world.pool, (a.of(1) <= a.make(ExprOp::Min, b)).id, 10);
  ASSERT_TRUE(form);
  ASSERT_EQ(form->size(), 1U);
  EXPECT_EQ(form->front().size(), 2U);
  EXPECT_FALSE(spec::conjunctionsOf(world.pool, both(either(a == 1, b == 1), either(a == 2, b == 2)).id, 3));
}

struct Loaded {
  Session session;
  std::unique_ptr<sema::Program> program;
  explicit Loaded(const std::string& text) {
    const Source& source = session.sources.add("test.tbem", text);
    program = sema::load(session.sources, session.sink, source, {});
    sema::checkNames(*program, session.sink);
  }
  template <class T>
  const T& only() const {
    for (const ast::Decl* decl : program->main().files.front()->declarations) {
      if (const T* one = ast::dynCast<T>(decl)) return *one;
    }
    throw std::logic_error(session.sink.all().empty() ? "no such declaration" : session.sink.all().front().message);
  }
};

struct Tested : Loaded {
  std::optional<spec::CheckedProcess> process;
  spec::TestSuite suite;
  explicit Tested(const std::string& text, const spec::TestOptions& options = {}) : Loaded(text) {
    process = spec::checkProcess(session, *program, program->main(), only<ast::Process>());
    suite = spec::makeTests(process->model, process->scenarios, options);
  }
  std::int64_t at(const TestCase& one, const std::string& name) const {
    for (const auto& [symbol, value] : one.inputs) {
      if (process->model.unknowns[static_cast<std::size_t>(symbol)].name == name) return value.num;
    }
    throw std::logic_error("no input " + name);
  }
};

constexpr const char* kTriangle = R"(
process Triangle(a, b, c: int) kind: int
pre  a >= 1 and b >= 1 and c >= 1 and a + b > c and b + c > a and a + c > b
post if a = b and b = c then kind = 3 else if a = b or b = c or a = c then kind = 2 else kind = 1
end_process
)";

TEST(Vibration, CasesMeetTheirConditionsAndLieWhereTheySay) {
  const Tested tested(kTriangle, {256, 2, 6, 3});
  std::set<std::vector<std::int64_t>> seen;
  std::set<std::size_t> scenarios;
  std::set<std::int64_t> distances;
  std::size_t refused = 0;
  for (const TestCase& one : tested.suite.cases) {
    const std::int64_t a = tested.at(one, "a"), b = tested.at(one, "b"), c = tested.at(one, "c");
    EXPECT_TRUE(seen.insert({a, b, c}).second);
    const bool pre = a >= 1 && b >= 1 && c >= 1 && a + b > c && b + c > a && a + c > b;
    ASSERT_EQ(pre, one.scenario.has_value()) << a << " " << b << " " << c;
    if (one.atom == "c < a + b") {
      ASSERT_TRUE(one.distance);
      EXPECT_EQ(a + b - c, one.distance->num);
      distances.insert(one.distance->num);
    }
    if (!pre) ++refused;
    if (pre) scenarios.insert(*one.scenario);
  }
  EXPECT_EQ(scenarios.size(), tested.process->scenarios.size());
  for (const std::int64_t distance : {1, 3, 5, 7, 0, -2}) EXPECT_TRUE(distances.count(distance) != 0) << distance;
  EXPECT_GE(refused, 12U);
  EXPECT_TRUE(tested.suite.gaps.empty());
}

TEST(Vibration, TheSameSeedGivesTheSameCases) {
  const Tested first(kTriangle), second(kTriangle), other(kTriangle, {256, 1, 4, 9});
  const auto inputsOf = [](const Tested& tested) {
    std::vector<std::vector<std::pair<sema::SymbolId, Rational>>> list;
    for (const TestCase& one : tested.suite.cases) list.push_back(one.inputs);
    return list;
  };
  EXPECT_EQ(inputsOf(first), inputsOf(second));
  EXPECT_NE(inputsOf(first), inputsOf(other));
}

TEST(Vibration, LevelsAreTheOnlyValues) {
  const Tested tested(R"(
process P(k: int in {1, 3, 5}, b: bool, n: int in 2 ..= 9) y: int
pre  k <= n
post if b then y = n div k else y = n mod k
end_process
)");
  std::size_t refused = 0;
  for (const TestCase& one : tested.suite.cases) {
    const std::int64_t k = tested.at(one, "k"), n = tested.at(one, "n");
    EXPECT_TRUE(k == 1 || k == 3 || k == 5);
    EXPECT_TRUE(n >= 2 && n <= 9);
    EXPECT_EQ(one.scenario.has_value(), k <= n);
    refused += k > n ? 1 : 0;
  }
  EXPECT_GE(refused, 2U);
}

TEST(Vibration, TellsWhatItLeavesOut) {
  const Tested tested(kTriangle, {4, 1, 4, 0});
  EXPECT_FALSE(tested.suite.gaps.empty());
}

TEST(Contract, ReadsSizesParametersAndResults) {
  Loaded loaded(R"(
process Fits(a: int, b: int) y: bool
post y = (a mod b = 0)
end_process
block halves(x: tensor[n, c, h, ..s], other: tensor[n, c div 2, h]; out: int, kernel: pair, flag: bool = true) -> (y: tensor[n, oh, out * 2])
  pre  kernel[0] >= 1 and out >= 1
  post oh = h div kernel[0]
  requires Fits(c, 2)
{ return x }
)");
  std::string why;
  const auto contract =
      spec::readContract(loaded.session, *loaded.program, loaded.program->main(), loaded.only<ast::Callable>(), 2, why);
  ASSERT_TRUE(contract) << why;
  std::vector<std::string> inputs, outputs;
  for (const spec::Unknown& one : contract->model.unknowns) (one.isOutput ? outputs : inputs).push_back(one.name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"out", "kernel[0]", "kernel[1]", "flag", "n", "c", "h", "s[0]", "s[1]", "other[0]",
                                              "other[1]", "other[2]"}));
  EXPECT_EQ(outputs, (std::vector<std::string>{"oh", "y[0]", "y[2]"}));
  EXPECT_EQ(contract->conditions.size(), 3U);
  EXPECT_EQ(contract->promises.size(), 1U);
  ASSERT_EQ(contract->tensors.size(), 2U);
  EXPECT_EQ(contract->tensors[0].dims.size(), 5U);
  ASSERT_EQ(contract->results.size(), 1U);
  ASSERT_TRUE(contract->results[0]);
  EXPECT_EQ(contract->results[0]->size(), 3U);
}

std::optional<spec::Contract> contractOf(Loaded& loaded, std::string& why) {
  return spec::readContract(loaded.session, *loaded.program, loaded.program->main(), loaded.only<ast::Callable>(), 2, why);
}

TEST(Contract, ReadsListsOfTensors) {
  Loaded loaded(R"(
block side(xs: list of tensor[n, ..s], y: tensor[n]; axis: int = 0) -> tensor[..replace(s, axis, len(xs)), n]
  pre axis >= 0 and axis < len(s) and len(xs) = 2 and s[axis] = n
{ return y }
)");
  std::string why;
  const auto contract = contractOf(loaded, why);
  ASSERT_TRUE(contract) << why;
  EXPECT_EQ(contract->length, 2U);  // the first for which `pre` can hold
  std::vector<std::string> inputs;
  for (const spec::Unknown& one : contract->model.unknowns) {
    if (!one.isOutput) inputs.push_back(one.name);
  }
  EXPECT_EQ(inputs, (std::vector<std::string>{"axis", "n", "s[0]", "s[1]", "xs[1][0]", "xs[1][1]", "xs[1][2]", "y[0]"}));
  ASSERT_EQ(contract->tensors.size(), 3U);
  EXPECT_TRUE(contract->tensors[0].inList && contract->tensors[1].inList && !contract->tensors[2].inList);
}

TEST(Contract, KeepsTheDefaultOfWhatSteersTheLengthOfAList) {
  Loaded loaded(R"(
block head(x: tensor[..s]; axis: int = 1) -> tensor[..[s[i] for i in 0 .. axis]]
  pre axis >= 0
{ return x }
)");
  std::string why;
  const auto contract = contractOf(loaded, why);
  ASSERT_TRUE(contract) << why;
  EXPECT_TRUE(contract->parameters.empty());
  ASSERT_TRUE(contract->results.size() == 1 && contract->results[0]);
  EXPECT_EQ(contract->results[0]->size(), 1U);
}

TEST(Contract, SaysWhatIsBeyondIt) {
  Loaded loaded("block same(x: tensor; axis: int) -> tensor[n]\n  pre axis >= 0\n{ return x }\n");
  std::string why;
  EXPECT_FALSE(contractOf(loaded, why));
  EXPECT_EQ(why, "`x` is no tensor with a shape");
}

}  // namespace
}  // namespace tbem::test
