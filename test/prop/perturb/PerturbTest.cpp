// Searches near random examples on random networks with gates: where points lie, between what bounds they cost, and that neither
// the size of a batch, nor an interruption, nor the backend decides what is found.
#include "test/prop/gates/Networks.h"
#include "test/unit/TemporaryFolder.h"

#include "compiler/experiment/OutFolder.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/run/RunPerturbations.h"
#include "compiler/support/Interrupts.h"
#include "runtime/store/Store.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace tbem::driver {
namespace {

constexpr std::int64_t kExamples = 16, kBatch = 7, kElements = 100;
constexpr double kRadius = 0.3, kLow = -3.5, kHigh = 4.25;

/// What is searched for, and how.
struct Searched {
  std::string network, norm, methods;
  bool keepsLabel = false;

  std::string program(std::int64_t batch) const {
    std::string text = network;
    text += "dataset clouds = synthetic(shape: [4, 5, 5], classes: 3, train: 28, test: 20, noise: 0.5)\n";
    text += "train t = net() on clouds.train { epochs 1; batch 14; optimizer sgd(lr: 0.05); seed 3 }\n";
    text += fmt::format("perturb slow of t on clouds.test(count: {}) {{\n", kExamples);
    text += fmt::format("  norm {}({}); box [{}, {}]; by {}; batch {}; seed 5\n", norm, kRadius, kLow, kHigh, methods, batch);
    return text + (keepsLabel ? "  keep label\n}\n" : "}\n");
  }
};

struct FoundPoint {
  perturb::Point about;
  std::vector<float> numbers;
};
/// By method, as it is written.
using Found = std::map<std::string, std::vector<FoundPoint>>;

bool same(const FoundPoint& a, const FoundPoint& b) {
  return a.about.example == b.about.example && a.about.flops == b.about.flops && a.about.flopsBefore == b.about.flopsBefore &&
         a.about.after == b.about.after && a.about.decisions == b.about.decisions && a.numbers == b.numbers;
}

/// How many of them differ by more than rounding.
std::int64_t farApart(const std::vector<FoundPoint>& here, const std::vector<FoundPoint>& there) {
  std::int64_t far = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    double apart = 0;
    for (std::size_t k = 0; k < here[i].numbers.size(); ++k)
      apart = std::max(apart, std::abs(static_cast<double>(here[i].numbers[k]) - static_cast<double>(there[i].numbers[k])));
    far += apart > 1e-4 ? 1 : 0;
  }
  return far;
}

/// Ends a search after so many pieces of it, and not the training before.
struct Stopper : Interrupts, RunEvents {
  int pieces = 0;
  void perturbing(const PerturbationRun& /*run*/, std::int64_t /*done*/, std::int64_t /*total*/,
                  const std::string& /*what*/) override {
    --pieces;
  }
  void begin() override {}
  void end() override {}
  bool asked() const override { return pieces <= 0; }
};

/// Counts the pieces of a search.
struct PieceCounter : RunEvents {
  int pieces = 0;
  void perturbing(const PerturbationRun& /*run*/, std::int64_t /*done*/, std::int64_t /*total*/,
                  const std::string& /*what*/) override {
    ++pieces;
  }
};

class Slowed : public test::TemporaryFolder, public testing::WithParamInterface<std::uint32_t> {
protected:
  /// Weights and points are kept under `place`. Nothing after a test has failed, or where the search was interrupted.
  std::optional<Found> search(const Searched& searched, std::int64_t batch, const std::string& backend, const std::string& place,
                              RunEvents& events, Interrupts* interrupts = nullptr) {
    Request request;
    request.program.text = searched.program(batch);
    request.target.backend = backend;
    request.target.threads = 1;
    request.campaign.store = folder + "/" + place + ".tbemdb";
    request.training.folder = folder + "/" + place;
    request.places = Places{.modules = {}, .stdlib = {}, .cache = folder + "/cache"};
    request.interrupts = interrupts;
    PipelineState state(request, events);
    state.listener = &events;
    state.trainingsOnly = true;
    const auto done = runStages(state, "perturb");
    for (const std::string& message : done ? std::vector<std::string>() : done.error().messages) ADD_FAILURE() << message;
    if (!done || state.perturbed.size() != 1) {
      ADD_FAILURE() << searched.program(batch) << state.sink().errorCount() << " errors";
      return std::nullopt;
    }
    return foundBy(state, state.perturbed.front());
  }

  std::optional<Found> foundBy(State& state, const Perturbed& perturbed) {
    if (!perturbed.outcome) {
      ADD_FAILURE() << perturbed.outcome.error().messages.front();
      return std::nullopt;
    }
    least = perturbed.least;
    most = perturbed.most;
    if (perturbed.outcome->interrupted) return std::nullopt;
    readExamples(*perturbed.perturbation);
    const PerturbationRun& run = *perturbed.perturbation;
    const auto identities =
        *storedUnder(state, run, checkpointPath(*state.workspace, *run.training, state.request.training.folder));
    auto store = *store::Store::open(state.request.campaign.store, store::Mode::ReadOnly);
    Found found;
    for (std::size_t method = 0; method < identities.size(); ++method) {
      const perturb::Series& series = perturbed.outcome->series[method];
      stored += series.stored;
      const auto kept = *store.points(identities[method], store::Inputs::Read);
      EXPECT_EQ(kept.size(), series.points.size());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        FoundPoint& point = found[series.text].emplace_back(FoundPoint{series.points[i], std::vector<float>(kElements)});
        EXPECT_EQ(kept[i].input.size(), point.numbers.size() * sizeof(float));
        std::memcpy(point.numbers.data(), kept[i].input.data(), kept[i].input.size());
      }
    }
    return found;
  }

  void readExamples(const PerturbationRun& run) {
    const auto dataset = *run.reader->open(run.settings);
    std::vector<std::int64_t> numbers(kExamples), labels(kExamples);
    for (std::int64_t i = 0; i < kExamples; ++i) numbers[static_cast<std::size_t>(i)] = i;
    examples.resize(kExamples * kElements);
    EXPECT_TRUE(dataset->read(data::Split::Test, numbers, {{examples.data()}, labels.data(), nullptr}));
  }

  /// Points lie in ball and box, cost what the network can cost, and are told as they are.
  void expectWithinBounds(const Searched& searched, const Found& found) {
    constexpr double kSlack = 1e-5;
    for (const auto& [method, points] : found) {
      ASSERT_EQ(points.size(), static_cast<std::size_t>(kExamples)) << method;
      for (const FoundPoint& point : points) {
        const float* example = examples.data() + point.about.example * kElements;
        double linf = 0, l2 = 0;
        for (std::size_t k = 0; k < point.numbers.size(); ++k) {
          const double number = point.numbers[k], apart = number - static_cast<double>(example[k]);
          EXPECT_TRUE(number >= kLow && number <= kHigh) << method << " " << number;
          linf = std::max(linf, std::abs(apart));
          l2 += apart * apart;
        }
        EXPECT_LE(searched.norm == "l2" ? std::sqrt(l2) : linf, kRadius * (1 + kSlack)) << method;
        EXPECT_NEAR(point.about.linf, linf, 1e-12) << method;
        EXPECT_NEAR(point.about.l2, std::sqrt(l2), 1e-9) << method;
        EXPECT_TRUE(point.about.flops >= least && point.about.flops <= most) << method << " " << point.about.flops;
        EXPECT_TRUE(point.about.flopsBefore >= least && point.about.flopsBefore <= most) << method;
        EXPECT_TRUE(!searched.keepsLabel || point.about.after == point.about.before) << method;
      }
    }
  }

  std::vector<float> examples;
  double least = 0, most = 0;
  std::int64_t stored = 0;  ///< points that the store had, over all searches
};

/// A random network with gates of its own, and the methods that it allows.
Searched searchedBy(std::uint32_t seed) {
  for (std::uint32_t next = 100 * seed;; ++next) {
    test::RandomNetwork network(next);
    Searched searched;
    searched.network = network.declarations();
    if (network.gates == 0) continue;
    searched.norm = seed % 2 == 0 ? "l2" : "linf";
    searched.keepsLabel = seed % 3 == 0;
    searched.methods =
        "uniform, gradient(steps: 3), gradient(steps: 3, look: 1, objective: margins), ilfo(steps: 3), gradmdm(steps: 3)";
    if (network.exits + (network.best ? 0 : 1) > 1) searched.methods += ", deepsloth(steps: 3)";
    return searched;
  }
}

TEST_P(Slowed, WhereverAndHoweverItIsSearched) {
  Searched searched = searchedBy(GetParam());
  SCOPED_TRACE(searched.network);
  const std::string walks = searched.methods;
  searched.methods += ", random, universal(epochs: 1), generator(epochs: 1)";
  PieceCounter counter;
  const auto whole = search(searched, kBatch, "ref", "whole", counter);
  ASSERT_TRUE(whole);
  expectWithinBounds(searched, *whole);

  // Interrupted anywhere, and taken up.
  std::mt19937 random(GetParam());
  Stopper stopper;
  stopper.pieces = std::uniform_int_distribution<int>(1, counter.pieces - 1)(random);
  EXPECT_FALSE(search(searched, kBatch, "ref", "parts", stopper, &stopper)) << "it was to be interrupted";
  EXPECT_EQ(stored, 0);
  RunEvents nobody;
  const auto parts = search(searched, kBatch, "ref", "parts", nobody);
  ASSERT_TRUE(parts);
  for (const auto& [method, points] : *whole) EXPECT_TRUE(std::ranges::equal(points, parts->at(method), same)) << method;

  // One by one: no example of a batch depends on another.
  searched.methods = walks;
  const auto single = search(searched, 1, "ref", "single", nobody);
  ASSERT_TRUE(single);
  for (const auto& [method, points] : *single) EXPECT_TRUE(std::ranges::equal(points, whole->at(method), same)) << method;

  // Another backend, in f32 as all of these: no sign makes much of little under l2, but a score near its threshold may.
  const auto elsewhere = search(searched, kBatch, "cpu", "cpu", nobody);
  ASSERT_TRUE(elsewhere);
  expectWithinBounds(searched, *elsewhere);
  EXPECT_EQ(farApart(whole->at("uniform"), elsewhere->at("uniform")), 0);
  const std::string walk = searched.norm == "l2" ? "gradient(steps: 3)" : "uniform";
  EXPECT_LE(farApart(whole->at(walk), elsewhere->at(walk)), 1);
}

INSTANTIATE_TEST_SUITE_P(Random, Slowed, ::testing::Range(std::uint32_t{1}, std::uint32_t{6}));

}  // namespace
}  // namespace tbem::driver
