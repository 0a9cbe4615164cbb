// Certified costs against what networks do: whatever input of the ball is run, its gates decide as those that are decided say,
// its scores lie between the bounds, and its FLOPs do not exceed the bound.
#include "test/oracle/Graph.h"
#include "test/prop/Loaded.h"
#include "test/prop/certify/Networks.h"
#include "test/prop/gates/Networks.h"

#include "compiler/certify/Certify.h"
#include "compiler/count/GateFlops.h"
#include "runtime/core/Decisions.h"

#include <cmath>
#include <functional>
#include <map>
#include <numeric>

namespace tbem::test {
namespace {

using certify::Ball;
using certify::Bound;
using certify::Limits;
using certify::Method;
using certify::Norm;
using runtime::HostTensor;

struct Subject {
  Loaded ref, cpu;  ///< the same weights in both, in f32
  std::map<std::string, std::vector<double>, std::less<>> arrays;
  std::optional<certify::Network> network;
  estimate::Flops flops;
};

void write(Loaded& l, const std::string& path, const std::vector<double>& values) {
  const std::uint32_t storage = l.instance->findStorage(path).value();
  const HostTensor now = *l.instance->readStorage(storage);
  ASSERT_TRUE(l.instance->writeStorage(storage, HostTensor::of(now.dtype, now.dims, values)));
}

/// Weights wide enough for scores to differ; running statistics that differ from the initial ones. All are numbers of f32.
void drawArrays(Subject& s, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (const runtime::StorageDesc& storage : s.ref.compiled->executable.storages) {
    if (storage.kind != runtime::BufferClass::Weight && storage.kind != runtime::BufferClass::Buffer) continue;
    const HostTensor now = *s.ref.instance->readStorage(s.ref.instance->findStorage(storage.path).value());
    const bool variance = storage.path.find("running_variance") != std::string::npos;
    const double width = 1.7 / std::sqrt(static_cast<double>(now.count()) / static_cast<double>(now.dims[0]));
    std::vector<double> values(now.count());
    for (double& v : values)
      v = static_cast<float>(std::uniform_real_distribution<double>(variance ? 0.3 : -width, variance ? 2 : width)(random));
    for (Loaded* l : {&s.ref, &s.cpu}) write(*l, storage.path, values);
    s.arrays[storage.path] = std::move(values);
  }
}

std::unique_ptr<Subject> subjectOf(const std::string& text, std::uint32_t seed) {
  auto s = std::make_unique<Subject>();
  s->ref = loaded(text, TBEM_F32, *tbem_backend_ref(), {});
  s->cpu = loaded(text, TBEM_F32, *tbem_backend_cpu(), {});
  if (!s->ref.instance || !s->cpu.instance) return nullptr;
  drawArrays(*s, seed);
  auto network = certify::Network::of(*s->ref.row, [&](std::string_view path) -> std::optional<std::span<const double>> {
    const auto array = s->arrays.find(path);
    return array == s->arrays.end() ? std::nullopt : std::optional(std::span<const double>(array->second));
  });
  EXPECT_TRUE(network) << text << (network ? "" : network.error());
  if (!network) return nullptr;
  s->network.emplace(std::move(*network));
  s->flops = *estimate::countFlops(s->ref.row->graph(), s->ref.row->values);
  return s;
}

struct Went {
  std::vector<std::vector<std::int8_t>> decisions;  ///< by gate, by place; one of a gate that decides about the sample
  double flops = 0;
};

Went run(const Subject& s, const Loaded& l, const std::vector<double>& input) {
  runtime::Instance& instance = *l.instance;
  const std::uint32_t storage = instance.findStorage("x").value();
  const HostTensor now = *instance.readStorage(storage);
  EXPECT_TRUE(instance.writeStorage(storage, HostTensor::of(now.dtype, now.dims, input)));
  EXPECT_TRUE(instance.run(1));
  Went went;
  const auto decisions = runtime::decisions(instance);
  for (const runtime::Decision& decision : *decisions) went.decisions.push_back(decision.of);
  went.flops = estimate::toDouble(estimate::executedFlops(s.flops, *runtime::branchSizes(instance)));
  return went;
}

/// The numbers that each gate's condition compares with a constant, in f64; none where it compares two that vary.
std::vector<std::vector<double>> scoresOf(const Subject& s, const std::vector<double>& input) {
  const graph::Graph& g = s.ref.row->graph();
  oracle::GraphInterpreter all(*s.ref.row);
  for (std::uint32_t t = 0; t < g.tensors.size(); ++t) {
    const auto id = static_cast<graph::TensorId>(t);
    if (g[id].producer != graph::kNoOp) continue;
    const auto array = s.arrays.find(g[g[id].storage].path);
    if (array != s.arrays.end()) all.of(id) = array->second;
    if (id == g.inputs.front()) all.of(id) = input;
  }
  all.run(graph::Phase::Forward);
  std::vector<std::vector<double>> scores;
  for (const graph::OpId id : graph::programOrder(g)) {
    const graph::Op& op = g[id];
    if (op.kind != graph::OpKind::Skip && op.kind != graph::OpKind::Exit) continue;
    const graph::Op& comparison = g[g[op.inputs[0]].producer];
    scores.push_back(comparison.inputs.size() == 1 ? all.of(comparison.inputs[0]) : std::vector<double>());
  }
  return scores;
}

void expectWithin(const Bound& bound, const Went& went, const std::string& about) {
  EXPECT_LE(went.flops, bound.flops) << about;
  EXPECT_GE(went.flops, bound.least) << about;
  ASSERT_EQ(went.decisions.size(), bound.decided.size());
  for (std::size_t g = 0; g < went.decisions.size(); ++g) {
    const std::vector<std::int8_t>& here = went.decisions[g];
    ASSERT_EQ(here.size(), bound.rows[g].size());
    for (std::size_t row = 0; row < here.size(); ++row) {
      const std::int8_t known = bound.rows[g][row];
      const bool agrees = known == -1 || here[row] == -1 || here[row] == known;
      EXPECT_TRUE(agrees) << about << " gate " << g << " row " << row << " is " << int{known} << ", an input took "
                          << int{here[row]};
    }
  }
}

void expectScores(const Bound& bound, const Went& went, const std::vector<std::vector<double>>& scores,
                  const std::string& about) {
  for (std::size_t g = 0; g < scores.size(); ++g) {
    if (!bound.scores[g] || went.decisions[g][0] == -1) continue;
    // Computing everything and selecting, the interpreter's later scores are those of the way that the sample takes.
    for (const double score : scores[g]) {
      EXPECT_GE(score, bound.scores[g]->low) << about << " gate " << g;
      EXPECT_LE(score, bound.scores[g]->high) << about << " gate " << g;
    }
  }
}

/// Points of a ball around an example.
class Points {
public:
  Points(std::vector<double> example, Ball ball, std::uint32_t seed) : example(std::move(example)), ball(ball), random(seed) {}

  std::vector<double> inside() {
    std::vector<double> delta(example.size());
    for (double& d : delta) d = std::uniform_real_distribution<double>(-1, 1)(random);
    return at(delta, std::uniform_real_distribution<double>(0, 1)(random));
  }
  std::vector<double> corner() {
    std::vector<double> delta(example.size());
    for (double& d : delta) d = (random() & 1U) != 0 ? 1 : -1;
    return at(delta, 1);
  }
  /// A corner along this direction.
  std::vector<double> along(const std::vector<double>& direction) {
    std::vector<double> delta = direction;
    if (ball.norm == Norm::Linf)
      for (double& d : delta) d = d >= 0 ? 1 : -1;
    return at(delta, 1);
  }

private:
  /// f32 numbers, as an input has them.
  std::vector<double> at(const std::vector<double>& delta, double share) const {
    double length = 1;
    if (ball.norm == Norm::L2) {
      length = 1e-300;
      for (const double d : delta) length += d * d;
      length = std::sqrt(length);
    }
    std::vector<double> point(example.size());
    for (std::size_t i = 0; i < point.size(); ++i) {
      const double moved = example[i] + share * ball.radius * delta[i] / length;
      point[i] = static_cast<float>(std::clamp(moved, ball.low, ball.high));
    }
    return point;
  }

  std::vector<double> example;
  Ball ball;
  std::mt19937 random;
};

/// The worst that a search without gradients finds for a gate: differences along random directions say where its score rises or
/// falls.
std::vector<std::vector<double>> searched(const Subject& s, Points& points, std::size_t gate,
                                          const std::vector<double>& example) {
  std::vector<std::vector<double>> worst;
  std::vector<double> slope(example.size());
  const std::vector<double> here = scoresOf(s, example)[gate];
  if (here.empty()) return worst;
  for (int probe = 0; probe < 24; ++probe) {
    const std::vector<double> corner = points.corner();
    const std::vector<double> there = scoresOf(s, corner)[gate];
    const double change = std::accumulate(there.begin(), there.end(), 0.0) - std::accumulate(here.begin(), here.end(), 0.0);
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] += change * (corner[i] - example[i]);
  }
  std::vector<double> falling(slope.size());
  std::transform(slope.begin(), slope.end(), falling.begin(), [](double v) { return -v; });
  worst.push_back(points.along(slope));
  worst.push_back(points.along(falling));
  return worst;
}

std::vector<double> exampleOf(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> example(size);
  for (double& v : example) v = static_cast<float>(std::clamp(std::normal_distribution<double>(0, 1)(random), -3.0, 3.0));
  return example;
}

std::string describe(const Ball& ball, Method method, std::uint32_t number) {
  return fmt::format("{} {} {} example {}", ball.norm == Norm::Linf ? "Linf" : "L2", ball.radius,
                     method == Method::Linear ? "linear" : "interval", number);
}

void checkBall(const Subject& s, const std::vector<double>& example, const Ball& ball, std::uint32_t seed) {
  const std::vector<float> centre(example.begin(), example.end());
  std::vector<Bound> bounds;
  for (const Method method : {Method::Interval, Method::Linear})
    bounds.push_back(certify::bound(*s.network, centre, ball, Limits{.method = method}));
  EXPECT_LE(bounds[1].flops, bounds[0].flops);
  Points points(example, ball, seed);
  std::vector<std::vector<double>> tried{example};
  for (int i = 0; i < 4; ++i) tried.push_back(points.inside());
  for (int i = 0; i < 6; ++i) tried.push_back(points.corner());
  for (std::size_t gate = 0; gate < bounds[1].decided.size(); ++gate) {
    for (std::vector<double>& point : searched(s, points, gate, example)) tried.push_back(std::move(point));
  }
  for (const std::vector<double>& point : tried) {
    const Went byRef = run(s, s.ref, point), byCpu = run(s, s.cpu, point);
    const std::vector<std::vector<double>> scores = scoresOf(s, point);
    for (std::size_t m = 0; m < bounds.size(); ++m) {
      const std::string about = describe(ball, m == 0 ? Method::Interval : Method::Linear, seed);
      expectWithin(bounds[m], byRef, about + " ref");
      expectWithin(bounds[m], byCpu, about + " cpu");
      expectScores(bounds[m], byRef, scores, about);
    }
  }
  if (ball.radius != 0) return;
  EXPECT_EQ(bounds[1].flops, run(s, s.ref, example).flops) << "a ball that is one point costs what the point costs";
  EXPECT_EQ(bounds[1].least, bounds[1].flops);
}

class Certified : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Certified, NoInputOfTheBallCostsMore) {
  const std::uint32_t seed = GetParam();
  const std::string text = SmallAdaptive(seed).text();
  const auto s = subjectOf(text, seed);
  ASSERT_TRUE(s) << text;
  for (std::uint32_t k = 0; k < 3; ++k) {
    const std::vector<double> example = exampleOf(s->network->inputSize(), 100 * seed + k);
    for (const double radius : {0.0, 0.001, 0.01, 0.05, 0.3}) checkBall(*s, example, {Norm::Linf, radius, -3, 3}, 100 * seed + k);
    for (const double radius : {0.01, 0.1, 1.0}) checkBall(*s, example, {Norm::L2, radius, -3, 3}, 100 * seed + k);
    if (HasFailure()) FAIL() << text;
  }
}
INSTANTIATE_TEST_SUITE_P(Random, Certified, ::testing::Range(std::uint32_t{1}, std::uint32_t{31}));

/// Networks of nested skips and exits in all orders, which no one would train.
class Nested : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Nested, NoInputOfTheBallCostsMore) {
  const std::uint32_t seed = GetParam();
  const std::string text = RandomNetwork(seed).text(1);
  if (text.find(" skip ") == std::string::npos && text.find("exit ") == std::string::npos) return;
  const auto s = subjectOf(text, seed);
  ASSERT_TRUE(s) << text;
  const std::vector<double> example = exampleOf(s->network->inputSize(), seed);
  for (const double radius : {0.0, 0.003, 0.1}) checkBall(*s, example, {Norm::Linf, radius, -10, 10}, seed);
  if (HasFailure()) FAIL() << text;
}
INSTANTIATE_TEST_SUITE_P(Random, Nested, ::testing::Range(std::uint32_t{1}, std::uint32_t{41}));

/// Gates that decide about each place of an image, and exits behind them.
class Placed : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Placed, NoInputOfTheBallCostsMore) {
  const std::uint32_t seed = GetParam();
  const std::string text = SmallPlaced(seed).text();
  const auto s = subjectOf(text, seed);
  ASSERT_TRUE(s) << text;
  for (std::uint32_t k = 0; k < 2; ++k) {
    const std::vector<double> example = exampleOf(s->network->inputSize(), 100 * seed + k);
    for (const double radius : {0.0, 0.001, 0.01, 0.1}) checkBall(*s, example, {Norm::Linf, radius, -3, 3}, 100 * seed + k);
    for (const double radius : {0.01, 0.3}) checkBall(*s, example, {Norm::L2, radius, -3, 3}, 100 * seed + k);
    if (HasFailure()) FAIL() << text;
  }
}
INSTANTIATE_TEST_SUITE_P(Random, Placed, ::testing::Range(std::uint32_t{1}, std::uint32_t{21}));

/// Skips that are not decided are taken apart: that never says more FLOPs, and often fewer.
TEST(CertifiedGates, CasesOfSkipsLowerBounds) {
  int open = 0, lower = 0;
  const std::string text = chainOfSkips(5);
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    const auto s = subjectOf(text, seed);
    ASSERT_TRUE(s);
    for (std::uint32_t k = 0; k < 4; ++k) {
      const std::vector<double> example = exampleOf(s->network->inputSize(), 10 * seed + k);
      const std::vector<float> centre(example.begin(), example.end());
      const auto bounded = [&](std::int64_t splits) {
        return certify::bound(*s->network, centre, {Norm::Linf, 0.3, -3, 3}, Limits{.splits = splits});
      };
      const Bound whole = bounded(0), cases = bounded(8);
      EXPECT_LE(cases.flops, whole.flops);
      EXPECT_GE(cases.least, whole.least);
      if (std::ranges::count(whole.decided, -1) == 0) {
        EXPECT_EQ(cases.forms, whole.forms) << "nothing was to be taken apart";
      }
      for (std::size_t g = 0; g < whole.decided.size(); ++g)
        EXPECT_TRUE(whole.decided[g] == -1 || whole.decided[g] == cases.decided[g]);
      open += std::ranges::count(whole.decided, -1) > 1 ? 1 : 0;
      lower += cases.flops < whole.flops ? 1 : 0;
    }
  }
  std::printf("of %d bounds with several open skips %d are lower by cases\n", open, lower);
  EXPECT_GE(lower, open / 4);
  EXPECT_GE(open, 10);
}

/// Chains of skips, of which most are open in the larger balls.
class Chained : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Chained, NoInputOfTheBallCostsMore) {
  const std::uint32_t seed = GetParam();
  const auto s = subjectOf(chainOfSkips(4), seed);
  ASSERT_TRUE(s);
  const std::vector<double> example = exampleOf(s->network->inputSize(), seed);
  for (const double radius : {0.0, 0.03, 0.1, 0.3, 1.0}) checkBall(*s, example, {Norm::Linf, radius, -3, 3}, seed);
}
INSTANTIATE_TEST_SUITE_P(Random, Chained, ::testing::Range(std::uint32_t{1}, std::uint32_t{13}));

/// Some places are decided where others are not, and linear relaxations decide more of them than intervals.
TEST(CertifiedGates, PlacesAreDecidedOneByOne) {
  std::int64_t byIntervals = 0, byForms = 0, mixed = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto s = subjectOf(SmallPlaced(seed).text(), seed);
    ASSERT_TRUE(s);
    const std::vector<double> example = exampleOf(s->network->inputSize(), seed);
    const std::vector<float> centre(example.begin(), example.end());
    const auto decided = [&](Method method) {
      const Bound bound = certify::bound(*s->network, centre, {Norm::Linf, 0.02, -3, 3}, Limits{.method = method});
      EXPECT_TRUE(bound.unsupported.empty());
      std::int64_t count = 0;
      for (const std::vector<std::int8_t>& rows : bound.rows) {
        const auto of = [&](std::int8_t decision) { return std::ranges::count(rows, decision); };
        count += of(0) + of(1);
        if (of(0) > 0 && of(1) > 0 && of(-1) > 0) ++mixed;
      }
      return count;
    };
    byIntervals += decided(Method::Interval);
    byForms += decided(Method::Linear);
  }
  EXPECT_GT(byForms, byIntervals);
  EXPECT_GE(mixed, 5);
}

/// Bounds are of use: most gates are decided in a tiny ball, and linear relaxations decide more than intervals in a larger one.
TEST(CertifiedGates, MostAreDecided) {
  int reached = 0, tiny = 0, byIntervals = 0, byForms = 0;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto s = subjectOf(SmallAdaptive(seed).text(), seed);
    ASSERT_TRUE(s);
    const std::vector<double> example = exampleOf(s->network->inputSize(), seed);
    const std::vector<float> centre(example.begin(), example.end());
    const auto count = [&](double radius, Method method, int& decided) {
      const Bound bound = certify::bound(*s->network, centre, {Norm::Linf, radius, -3, 3}, Limits{.method = method});
      EXPECT_TRUE(bound.unsupported.empty());
      decided += static_cast<int>(std::count_if(bound.decided.begin(), bound.decided.end(), [](auto d) { return d != -1; }));
      return static_cast<int>(bound.decided.size());
    };
    reached += count(1e-4, Method::Linear, tiny);
    count(0.01, Method::Interval, byIntervals);
    count(0.01, Method::Linear, byForms);
  }
  EXPECT_GE(tiny, reached * 9 / 10);
  EXPECT_GT(byForms, byIntervals);
  RecordProperty("gates", reached);
  std::printf("%d gates: %d decided at 1e-4, at 0.01 %d by intervals and %d by linear forms\n", reached, tiny, byIntervals,
              byForms);
}

}  // namespace
}  // namespace tbem::test
