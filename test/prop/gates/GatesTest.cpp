// Gated networks: a batch whose samples are gathered and scattered must give, sample by sample, what the same samples give one by
// one, what `cpu` gives in f32, and what an interpreter gives that computes every arm for every sample and then selects.
#include "test/oracle/Graph.h"
#include "test/prop/gates/Loaded.h"
#include "test/prop/gates/Networks.h"

#include "compiler/count/Conventions.h"
#include "compiler/count/GateFlops.h"
#include "runtime/core/Decisions.h"
#include "runtime/perturb/Network.h"

#include <cmath>
#include <limits>

namespace tbem::test {
namespace {

using runtime::HostTensor;

/// FNV-1a: the same number with every standard library.
std::uint32_t seedOf(const std::string& text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

/// Weights differ from 0 and from one another, so that scores split a batch.
void setWeights(runtime::Instance& instance, std::uint32_t seed) {
  for (std::uint32_t s = 0; s < instance.executable().storages.size(); ++s) {
    const runtime::StorageDesc& storage = instance.executable().storages[s];
    if (storage.kind != runtime::BufferClass::Weight) continue;
    std::mt19937 random(seed + seedOf(storage.path));
    const HostTensor now = *instance.readStorage(s);
    const double width = 1.5 / std::sqrt(static_cast<double>(now.count()) / static_cast<double>(now.dims[0]));
    std::vector<double> values(now.count());
    for (double& v : values) v = std::uniform_real_distribution<double>(-width, width)(random);
    ASSERT_TRUE(instance.writeStorage(s, HostTensor::of(now.dtype, now.dims, values)));
  }
}

std::vector<double> randomImages(std::int64_t samples, std::uint32_t seed, bool withNan) {
  std::mt19937 random(seed);
  std::vector<double> images(static_cast<std::size_t>(samples) * 100);
  for (std::size_t i = 0; i < images.size(); ++i) {
    const double offset = static_cast<double>(i / 100 % 3) - 1;  // samples differ in their mean
    images[i] = std::normal_distribution<double>(0.3 * offset, 1)(random);
  }
  if (withNan) std::fill_n(images.begin() + 100, 100, std::numeric_limits<double>::quiet_NaN());
  // What is in f32 the same as in f64.
  for (double& v : images) v = static_cast<double>(static_cast<float>(v));
  return images;
}

std::vector<double> run(Loaded& l, const std::vector<double>& images) {
  runtime::Instance& instance = *l.instance;
  const std::uint32_t storage = instance.findStorage("x").value();
  const HostTensor now = *instance.readStorage(storage);
  EXPECT_TRUE(instance.writeStorage(storage, HostTensor::of(now.dtype, now.dims, images)));
  const auto done = instance.run(1);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  const auto arena = instance.measureArena();
  EXPECT_TRUE(arena && arena->guardIntact && arena->stray == runtime::kAbsent);
  return instance.read(instance.executable().outputs.front())->doubles();
}

/// Computes everything in f64 and selects. Also the smallest distance of a score to its threshold.
std::vector<double> interpret(const Loaded& l, const std::vector<double>& images, double& margin) {
  oracle::GraphInterpreter all(*l.row);
  for (const runtime::StorageDesc& storage : l.compiled->executable.storages) {
    const HostTensor value = *l.instance->read(storage.buffer);
    for (std::uint32_t t = 0; t < l.row->graph().tensors.size(); ++t) {
      const auto id = static_cast<graph::TensorId>(t);
      if (l.row->graph()[id].producer == graph::kNoOp && l.row->graph()[l.row->graph()[id].storage].path == storage.path)
        all.of(id) = storage.path == "x" ? images : value.doubles();
    }
  }
  all.run(graph::Phase::Forward);
  margin = all.margin;
  return all.of(l.row->graph().outputs.front());
}

/// What each sample of a batch costs, where branch b costs 2^b, so that the sum tells which branches it was in: by the branches'
/// sizes of a network that runs one at a time, ..
std::vector<double> costsOneByOne(Loaded& single, const std::vector<double>& images) {
  std::vector<double> costs;
  for (auto image = images.begin(); image != images.end(); image += 100) {
    run(single, {image, image + 100});
    double& cost = costs.emplace_back(0);
    const auto sizes = *runtime::branchSizes(*single.instance);
    for (std::size_t b = 0; b < sizes.size(); ++b) cost += std::ldexp(static_cast<double>(sizes[b]), static_cast<int>(b));
  }
  return costs;
}
/// .. and by what the gates of one that runs all together decided about each.
std::vector<double> costsByDecisions(const Loaded& batch, const std::vector<double>& images) {
  const train::Snapshot weights = *train::take(*batch.instance, false);
  perturb::Victim victim;
  victim.batch = &batch.compiled->executable;
  victim.input = "x";
  for (std::size_t b = 0; b < victim.batch->branches.size(); ++b)
    victim.branchFlops.push_back(std::ldexp(1.0, static_cast<int>(b)));
  const runtime::Executable* const executables[] = {victim.batch};
  const auto arena = *runtime::Arena::create(executables, batch.instance->backend());
  const auto network = *perturb::Network::create(victim, weights, *arena);
  std::vector<double> costs;
  const auto answers = *network->ask(std::vector<float>(images.begin(), images.end()));
  for (const perturb::Answer& answer : answers) costs.push_back(answer.flops);
  return costs;
}

/// Without what came of the sample that is NaN: whether a maximum hands it on is the device's, the gates it takes are not.
std::vector<double> finite(std::vector<double> result, bool withNan) {
  constexpr std::int64_t kResults = 3;
  if (withNan) result.erase(result.begin() + kResults, result.begin() + 2 * kResults);
  return result;
}

double worst(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    const double error = std::fabs(a[i] - b[i]) / (1 + std::fabs(b[i]));
    most = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(most, error);
  }
  return most;
}

/// `places`: with gates that decide about the places of an image.
void agreeHoweverTheyAreRun(std::uint32_t seed, bool places) {
  constexpr std::int64_t kSamples = 7;
  RandomNetwork network(seed, places);
  const std::string text = network.text(kSamples);
  Loaded batch = load(text, TBEM_F64, *tbem_backend_ref());
  Loaded single = load(network.text(1), TBEM_F64, *tbem_backend_ref());
  Loaded fast = load(text, TBEM_F32, *tbem_backend_cpu());
  Loaded few = load(text, TBEM_F64, *tbem_backend_ref(), kFewBytes);
  Loaded fewFast = load(text, TBEM_F32, *tbem_backend_cpu(), kFewBytes / 2);
  ASSERT_TRUE(batch.instance && single.instance && fast.instance && few.instance && fewFast.instance) << text;
  for (Loaded* l : {&batch, &single, &fast, &few, &fewFast}) setWeights(*l->instance, seed);
  for (std::uint32_t repeat = 0; repeat < 4; ++repeat) {
    const bool withNan = repeat == 3;
    const std::vector<double> images = randomImages(kSamples, 100 * seed + repeat, withNan);
    const std::vector<double> together = run(batch, images);
    double margin = 0;
    const std::vector<double> masked = interpret(batch, images, margin);
    EXPECT_LE(worst(finite(together, withNan), finite(masked, withNan)), 1e-9)
        << text << "\nagainst computing all and selecting, inputs " << repeat;
    std::vector<double> oneByOne;
    for (std::int64_t i = 0; i < kSamples; ++i) {
      const std::vector<double> own(images.begin() + i * 100, images.begin() + (i + 1) * 100);
      const std::vector<double> result = run(single, own);
      oneByOne.insert(oneByOne.end(), result.begin(), result.end());
    }
    EXPECT_EQ(worst(together, oneByOne), 0) << text << "\nagainst one by one, inputs " << repeat;
    if (!batch.compiled->executable.branches.empty()) {
      EXPECT_EQ(costsByDecisions(batch, images), costsOneByOne(single, images))
          << text << "\nwhat samples cost, inputs " << repeat;
    }
    EXPECT_EQ(worst(run(few, images), together), 0) << text << "\na few samples at a time, inputs " << repeat;
    // A score within rounding of its threshold may fall on the other side in f32.
    for (Loaded* l : {&fast, &fewFast}) {
      const double inSingle = worst(finite(run(*l, images), withNan), finite(together, withNan));
      EXPECT_TRUE(inSingle <= 2e-3 || margin < 1e-4) << inSingle << text << "\ncpu against ref, inputs " << repeat;
    }
    if (::testing::Test::HasFailure()) break;
  }
}

class Gates : public ::testing::TestWithParam<std::uint32_t> {};
TEST_P(Gates, AgreeHoweverTheyAreRun) { agreeHoweverTheyAreRun(GetParam(), false); }
TEST_P(Gates, AgreeAtPlacesOfImages) { agreeHoweverTheyAreRun(GetParam(), true); }

// ---- What is not computed is not computed -----------------------------------------------------------------------------

constexpr const char* kFlagged = R"(
network net(x: tensor[b, 4, 5, 5], flag: tensor[b]) -> tensor[b, 2] {
  let y = x |> global_avg_pool |> dense(2)
  exit y when flag > 1
  let z = skip x |> conv2d(out: 4, kernel: 3, pad: 1) |> relu when flag > 0 leaving x |> max_pool2d(kernel: 3, stride: 1, pad: 1)
  return z |> flatten |> dense(2)
}
)";

/// The samples with flag 2 leave, those with 1 take the cheap arm, the others are convolved.
TEST(GatedSteps, OnlyWhatIsNeededRuns) {
  constexpr std::int64_t kSamples = 6;
  Loaded l = load(std::string(kFlagged) + "design d of net { input x: [6, 4, 5, 5]\n  input flag: [6] }\n", TBEM_F64, noting());
  ASSERT_TRUE(l.instance);
  const std::uint32_t storage = l.instance->findStorage("flag").value();
  const auto flops = estimate::countFlops(l.row->graph(), l.row->values, *estimate::findConvention("mac"));
  ASSERT_TRUE(flops);
  for (std::int64_t leaving = 0; leaving <= kSamples; ++leaving) {
    for (std::int64_t skipping = 0; skipping + leaving <= kSamples; ++skipping) {
      std::vector<double> flags(kSamples, 0);
      std::fill_n(flags.begin() + 1, std::min<std::int64_t>(leaving, kSamples - 1), 2);
      if (leaving == kSamples) flags[0] = 2;
      for (std::int64_t i = 0, left = skipping; i < kSamples && left > 0; ++i) {
        if (flags[static_cast<std::size_t>(kSamples - 1 - i)] == 0) flags[static_cast<std::size_t>(kSamples - 1 - i)] = 1, --left;
      }
      const std::int64_t skipped = std::count(flags.begin(), flags.end(), 1.0);
      const std::int64_t going = kSamples - leaving, computed = going - skipped;
      ASSERT_TRUE(l.instance->writeStorage(storage, HostTensor::of(TBEM_F64, {kSamples}, flags)));
      ran.clear();
      ASSERT_TRUE(l.instance->run(1));
      const auto some = [](std::int64_t n) { return n == 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{n}; };
      EXPECT_EQ(rowsOf(TBEM_PRIMITIVE_conv2d), some(computed));
      EXPECT_EQ(rowsOf(TBEM_PRIMITIVE_max_pool2d), some(skipped));
      std::vector<std::int64_t> dense{kSamples};
      if (going > 0) dense.push_back(going);
      EXPECT_EQ(rowsOf(TBEM_PRIMITIVE_dense), dense);
      const auto sizes = runtime::branchSizes(*l.instance);
      ASSERT_TRUE(sizes);
      // Multiply-adds of a sample: the exit's dense layer, the last one, the convolution.
      EXPECT_EQ(static_cast<std::int64_t>(estimate::executedFlops(*flops, *sizes)),
                kSamples * 4 * 2 + going * 100 * 2 + computed * 4 * 4 * 9 * 25);
      const auto decisions = runtime::decisions(*l.instance);
      ASSERT_TRUE(decisions && decisions->size() == 2);
      EXPECT_EQ((*decisions)[0].taken(), leaving);
      EXPECT_EQ((*decisions)[1].reached(), going);
      for (std::size_t i = 0; i < flags.size(); ++i) {
        EXPECT_EQ((*decisions)[0].of[i], flags[i] == 2 ? 1 : 0);
        EXPECT_EQ((*decisions)[1].of[i], flags[i] == 2 ? -1 : flags[i] == 1 ? 1 : 0);
      }
    }
  }
}

/// Of two images of four places each, three places are computed: their rows alone, and their FLOPs.
TEST(GatedSteps, OnlyPlacesThatAreNeededRun) {
  Loaded l = load(R"(
network net(x: tensor[b, 4, 2, 2], flag: tensor[b, 2, 2]) -> tensor[b, 2] {
  let rows = x |> permute(order: [0, 2, 3, 1]) |> reshape([b * 4, 4])
  let y = skip rows |> dense(3) when reshape(flag, [b * 4]) > 0 leaving zeros([b * 4, 3])
  return y |> reshape([b, 12]) |> dense(2)
}
design d of net { input x: [2, 4, 2, 2]
  input flag: [2, 2, 2] }
)",
                  TBEM_F64, noting());
  ASSERT_TRUE(l.instance);
  const std::uint32_t storage = l.instance->findStorage("flag").value();
  const std::vector<double> flags{1, 0, 1, 1, 1, 0, 0, 1};
  ASSERT_TRUE(l.instance->writeStorage(storage, HostTensor::of(TBEM_F64, {2, 2, 2}, flags)));
  ran.clear();
  ASSERT_TRUE(l.instance->run(1));
  EXPECT_EQ(rowsOf(TBEM_PRIMITIVE_dense), (std::vector<std::int64_t>{3, 2}));
  const auto flops = estimate::countFlops(l.row->graph(), l.row->values, *estimate::findConvention("mac"));
  EXPECT_EQ(static_cast<std::int64_t>(estimate::executedFlops(*flops, *runtime::branchSizes(*l.instance))),
            3 * 4 * 3 + 2 * 12 * 2);
  EXPECT_EQ(estimate::branchFlopsOfSample(*flops, 2)[1], 4 * 3) << "of a place";
  const auto decisions = *runtime::decisions(*l.instance);
  ASSERT_EQ(decisions.size(), 1);
  EXPECT_EQ(decisions[0].of, (std::vector<std::int8_t>{1, 0, 1, 1, 1, 0, 0, 1}));
}

/// What was computed, in rows, where an input `flag` says which of them are; and the gate's decisions.
struct Computed {
  std::vector<std::int64_t> dense;
  std::vector<runtime::Decision> decisions;
};
Computed computed(const std::string& text, const std::string& flag, const std::vector<std::int64_t>& dims) {
  Loaded l = load(text, TBEM_F64, noting());
  if (!l.instance) return {};
  const std::uint32_t storage = l.instance->findStorage(flag).value();
  std::size_t count = 1;
  for (const std::int64_t dim : dims) count *= static_cast<std::size_t>(dim);
  std::vector<double> flags(count, 0);
  flags[1] = flags[2] = flags[3] = 1;
  EXPECT_TRUE(l.instance->writeStorage(storage, HostTensor::of(TBEM_F64, dims, flags)));
  ran.clear();
  EXPECT_TRUE(l.instance->run(1));
  return {rowsOf(TBEM_PRIMITIVE_dense), *runtime::decisions(*l.instance)};
}

/// As many places as there are images: they are places all the same, and two of four images are not what is computed.
TEST(GatedSteps, PlacesAreNoSamplesWhereThereAreAsMany) {
  const Computed c = computed(R"(
network net(x: tensor[n, 3, 2, 2], flag: tensor[2, 2]) -> tensor[n, 3] {
  let rows = x |> permute([0, 2, 3, 1]) |> mean(axis: 0) |> reshape([4, 3])
  let y = skip rows |> dense(3) when reshape(flag, [4]) <= 0 leaving rows
  return global_avg_pool(x) + mean(y, axis: 0)
}
design d of net { input x: [4, 3, 2, 2]
  input flag: [2, 2] }
)",
                              "flag", {2, 2});
  EXPECT_EQ(c.dense, (std::vector<std::int64_t>{3}));
}

/// An input with a row for each place makes nobody take places for samples.
TEST(GatedSteps, AnInputMayHaveARowForEachPlace) {
  const Computed c = computed(R"(
network net(x: tensor[n, 3, 2, 2], flag: tensor[q]) -> tensor[q, 3]
  pre q = n * 4
{
  let rows = x |> permute([0, 2, 3, 1]) |> reshape([n * 4, 3])
  let y = skip rows |> dense(3) when flag <= 0 leaving rows
  return y
}
design d of net { input x: [2, 3, 2, 2]
  input flag: [8] }
)",
                              "flag", {8});
  EXPECT_EQ(c.dense, (std::vector<std::int64_t>{3}));
}

/// As many channels as places: a number for each channel, made outside, is no row of a place.
TEST(GatedSteps, ChannelsAreNoPlacesWhereThereAreAsMany) {
  const std::string text = R"(
operator scale(x: tensor[n, c], s: tensor[c]) -> (y: tensor[n, c])
  elementwise y = x * s
network net(x: tensor[n, 8, 2, 2], flag: tensor[n, 2, 2]) -> tensor[n, 32] {
  let rows = x |> permute([0, 2, 3, 1]) |> reshape([n * 4, 8])
  let s = x |> global_avg_pool |> mean(axis: 0)
  let y = skip (rows |> dense(8) |> scale(s)) when reshape(flag, [n * 4]) <= 0 leaving rows
  return y |> reshape([n, 32])
}
design d of net { input x: [2, 8, 2, 2]
  input flag: [2, 2, 2] }
)";
  const Computed c = computed(text, "flag", {2, 2, 2});
  EXPECT_EQ(c.dense, (std::vector<std::int64_t>{3}));
}

/// Axes in another order, noise and numbers of elements keep samples apart: behind them a gate still leaves rows out.
TEST(GatedSteps, RowsAreFollowedThroughWhatKeepsSamplesApart) {
  const char* const kBetween[] = {"x |> permute([0, 3, 2, 1])", "x + reshape(flag, [n, 1, 1, 1])", "x |> softmax(axis: 1)"};
  for (const char* between : kBetween) {
    const Computed c = computed(fmt::format(R"(
network net(x: tensor[n, 2, 2, 2], flag: tensor[n]) -> tensor[n, 8] {{
  let z = {} |> flatten
  let y = skip z |> dense(8) when flag <= 0 leaving z
  return y
}}
design d of net {{ input x: [5, 2, 2, 2]
  input flag: [5] }}
)",
                                            between),
                                "flag", {5});
    EXPECT_EQ(c.dense, (std::vector<std::int64_t>{3})) << between;
  }
}

/// As they are through a table's rows: an embedding has the samples of its numbers.
TEST(GatedSteps, RowsAreFollowedThroughEmbeddings) {
  const Computed c = computed(R"(
network net(tokens: i64[n, l], flag: tensor[n]) -> tensor[n, 4] {
  let z = tokens |> embedding(10, 4) |> mean(axis: 1)
  let y = skip z |> dense(4) when flag <= 0 leaving z
  return y
}
design d of net { input tokens: [5, 3]
  input flag: [5] }
)",
                              "flag", {5});
  EXPECT_EQ(c.dense, (std::vector<std::int64_t>{3}));
}

/// A batch of one sample copies nothing where a block is left out, and nothing where it is not.
TEST(GatedSteps, OneSampleIsNotCopied) {
  Loaded l = load(R"(
network net(x: tensor[b, 4, 5, 5]; t: real = 0) -> tensor[b, 2] {
  var y = x |> conv2d(out: 4, kernel: 3, pad: 1)
  for i in 0 .. 3 {
    let g = y |> global_avg_pool |> dense(1) |> reshape([b])
    y = skip relu(y + conv2d(y, out: 4, kernel: 3, pad: 1)) when g <= t leaving y
  }
  return y |> global_avg_pool |> dense(2)
}
design d of net { input x: [1, 4, 5, 5] }
)",
                  TBEM_F64, *tbem_backend_ref());
  ASSERT_TRUE(l.program);
  std::map<tbem_primitive, int> calls;
  for (const estimate::Step& step : l.program->steps) {
    if (step.kind == estimate::Step::Kind::Call) ++calls[l.program->calls[step.index].primitive];
  }
  EXPECT_EQ(calls[TBEM_PRIMITIVE_conv2d], 4) << "one before the gates, one in each";
  EXPECT_EQ(calls[TBEM_PRIMITIVE_move_rows], 0);
  EXPECT_EQ(calls[TBEM_PRIMITIVE_reorder], 0);
}

INSTANTIATE_TEST_SUITE_P(Random, Gates, ::testing::Range(std::uint32_t{1}, std::uint32_t{41}));

}  // namespace
}  // namespace tbem::test
