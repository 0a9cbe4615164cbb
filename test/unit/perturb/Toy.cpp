#include "test/unit/perturb/Toy.h"

#include "runtime/core/Layout.h"
#include "runtime/core/Philox.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

namespace tbem::perturb::toy {

using runtime::BufferClass;
using runtime::Executable;

namespace {

// Bytes: weights w and g of all, and behind them what each executable has for itself.
constexpr std::uint64_t kW = 0, kG = 64, kX = 128, kSeed = 192, kLabel = 256, kState = 320, kOut = 384, kNext = 448, kLists = 512,
                        kLoss = 1024, kArena = 1088, kList = 64;

template <class T>
T* at(char* arena, std::uint64_t offset) {
  return reinterpret_cast<T*>(arena + offset);
}

/// What writes to the log does so under it.
std::mutex& logging() {
  static std::mutex mutex;
  return mutex;
}

std::vector<float> copyOf(const float* numbers, std::int64_t count) { return {numbers, numbers + count * kElements}; }

double meanOf(const float* numbers) { return std::accumulate(numbers, numbers + kElements, 0.0) / kElements; }

/// Lists of branches: `a` and `b`, each where its condition is true and where it is not; numbers in the parent and in the batch.
struct Lists {
  char* arena;
  std::int64_t* of(std::size_t branch, bool origin) const {
    return at<std::int64_t>(arena, kLists + (2 * branch + (origin ? 1 : 0)) * kList);
  }
  void clear() const {
    for (std::size_t branch = 0; branch < 4; ++branch) *of(branch, false) = *of(branch, true) = 0;
  }
  void add(std::size_t branch, std::int64_t inParent, std::int64_t sample) const {
    of(branch, false)[++*of(branch, false)] = inParent;
    of(branch, true)[++*of(branch, true)] = sample;
  }
};

template <std::int64_t count>
std::int32_t victimStep(tbem_rt_context*, char* arena, const double*, std::uint64_t) {
  const float* x = at<float>(arena, kX);
  const float* w = at<float>(arena, kW);
  float* out = at<float>(arena, kOut);
  {
    const std::lock_guard lock(logging());
    (count == 1 ? log().single : log().victim).push_back(copyOf(x, count));
  }
  const Lists lists{arena};
  lists.clear();
  for (std::int64_t i = 0; i < count; ++i) {
    const double mean = meanOf(x + i * kElements);
    out[2 * i] = 0.5F - x[i * kElements];
    out[2 * i + 1] = -out[2 * i];
    lists.add(mean < w[0] ? 0 : 1, i, i);
    if (mean >= w[0]) lists.add(mean < w[1] ? 2 : 3, *lists.of(1, false) - 1, i);
  }
  return TBEM_OK;
}

float moved(Move move, std::int64_t element, char* arena, const double* scalars, std::uint64_t key) {
  const auto e = static_cast<std::size_t>(element), example = e / kElements;
  const float seed = at<float>(arena, kSeed)[e], state = at<float>(arena, kState)[e];
  const auto radius = static_cast<float>(kRadius);
  switch (move) {
    case Move::Rise:
      return std::min({at<float>(arena, kX)[e] + 0.05F, seed + radius, 1.0F});
    case Move::Wave:
      return seed + (state == 0 ? 0.05F : state == 1 ? radius : 0.1F);
    case Move::Random: {
      const auto words = runtime::philoxAt(key, 7, static_cast<std::uint32_t>(scalars[0]), e);
      const double up = kRadius * (2 * runtime::philoxUniform(words) - 1);
      return std::clamp(seed + static_cast<float>(up), 0.0F, 1.0F);
    }
    case Move::Label:
      return seed + 0.1F * static_cast<float>(at<std::int64_t>(arena, kLabel)[example]);
    case Move::Far:
      return seed + 0.3F;
    case Move::Nan:
      return example == 2 ? std::numeric_limits<float>::quiet_NaN() : seed;
    case Move::Learned:
      return seed + std::clamp(*at<float>(arena, kG), -radius, radius);
  }
  return 0;
}

template <Move move>
std::int32_t moverStep(tbem_rt_context*, char* arena, const double* scalars, std::uint64_t key) {
  const auto step = static_cast<std::uint64_t>(scalars[0]);
  {
    const std::lock_guard lock(logging());
    log().seeds.push_back(copyOf(at<float>(arena, kSeed), kBatch));
    log().steps.push_back(step);
  }
  if (log().moves) log().moves(step);
  for (std::int64_t i = 0; i < kBatch * kElements; ++i) {
    at<float>(arena, kOut)[i] = moved(move, i, arena, scalars, key);
    at<float>(arena, kNext)[i] = at<float>(arena, kState)[i] + 1;
  }
  std::fill_n(at<float>(arena, kX), kBatch * kElements, -7.0F);  // an input's memory is free behind its last use
  std::fill_n(at<float>(arena, kState), kBatch * kElements, -7.0F);
  return TBEM_OK;
}

/// loss = mean((mean(x) + g - 0.6)^2); g = g - 0.1 d loss / d g.
std::int32_t learnerStep(tbem_rt_context*, char* arena, const double* scalars, std::uint64_t) {
  const float* x = at<float>(arena, kX);
  float* g = at<float>(arena, kG);
  log().learner.push_back(copyOf(x, kBatch));
  double loss = 0, gradient = 0;
  for (std::int64_t i = 0; i < kBatch; ++i) {
    const double off = meanOf(x + i * kElements) + *g - 0.6;
    loss += off * off / kBatch;
    gradient += 2 * off / kBatch;
  }
  if (static_cast<std::int64_t>(scalars[0]) == log().nanAt) loss = std::numeric_limits<double>::infinity();
  log().losses.push_back(loss);
  *at<float>(arena, kLoss) = static_cast<float>(loss);
  *g -= static_cast<float>(0.1 * gradient);
  if (log().changesVictim) at<float>(arena, kW)[1] += 1;
  return TBEM_OK;
}

/// Adds a buffer in the last allocation, and returns its number.
std::uint32_t add(Executable& e, const std::string& name, std::int32_t dtype, const std::vector<std::int64_t>& dims,
                  std::uint64_t offset) {
  e.buffers.push_back({name, runtime::plainOperand(dtype, dims), offset, static_cast<std::uint32_t>(e.allocations.size() - 1)});
  return static_cast<std::uint32_t>(e.buffers.size() - 1);
}
void addWeight(Executable& e, const std::string& path, std::int64_t count, std::uint64_t offset, const std::string& init) {
  e.allocations.push_back({offset, 64, true});
  e.storages.push_back({path, BufferClass::Weight, add(e, path, TBEM_F32, {count}, offset), {init, 0, 0}, 0});
}
void addInput(Executable& e, const std::string& path, std::int32_t dtype, const std::vector<std::int64_t>& dims,
              std::uint64_t offset) {
  e.storages.push_back({path, BufferClass::Input, add(e, path, dtype, dims, offset), {}, 0});
}

Executable empty(tbem_rt_step step) {
  Executable e;
  e.step = step;
  e.arena = kArena;
  e.scalars = {0};
  addWeight(e, "net.w", 2, kW, "ones");
  return e;
}

Executable victimOf(std::int64_t count) {
  Executable e = empty(count == 1 ? victimStep<1> : victimStep<kBatch>);
  e.allocations.push_back({kX, kArena - kX, false});
  addInput(e, "image", TBEM_F32, {count, kElements}, kX);
  e.outputs = {add(e, "scores", TBEM_F32, {count, 2}, kOut)};
  e.samples = count;
  e.branches.resize(1);
  const std::pair<const char*, bool> sides[] = {{"a.exit", true}, {"a.exit", false}, {"b.skip", true}, {"b.skip", false}};
  for (std::size_t i = 0; i < 4; ++i) {
    const std::uint64_t rows = kLists + 2 * i * kList;
    e.branches.push_back({i < 2 ? 0U : 2U, sides[i].first, i < 2, sides[i].second, count, 1,
                          add(e, "rows", TBEM_I64, {1 + count}, rows), add(e, "origin", TBEM_I64, {1 + count}, rows + kList)});
  }
  return e;
}

Executable moverOf(Move move, tbem_rt_step step) {
  Executable e = empty(step);
  if (move == Move::Learned) addWeight(e, "generator.g", 1, kG, "zeros");
  e.allocations.push_back({kX, kArena - kX, false});
  const std::vector<std::int64_t> dims = {kBatch, kElements};
  addInput(e, "point", TBEM_F32, dims, kX);
  addInput(e, "seed", TBEM_F32, dims, kSeed);
  addInput(e, "label", TBEM_I64, {kBatch}, kLabel);
  addInput(e, "state", TBEM_F32, dims, kState);
  e.outputs = {add(e, "moved", TBEM_F32, dims, kOut), add(e, "next", TBEM_F32, dims, kNext)};
  return e;
}

Executable learnerOf() {
  Executable e = empty(learnerStep);
  addWeight(e, "generator.g", 1, kG, "zeros");
  e.allocations.push_back({kX, kArena - kX, false});
  addInput(e, "image", TBEM_F32, {kBatch, kElements}, kX);
  e.loss = add(e, "loss", TBEM_F32, {}, kLoss);
  return e;
}

}  // namespace

Log& log() {
  static Log all;
  return all;
}

Data::Data(std::vector<float> test, std::vector<float> train, bool hasLabels)
    : ofTest(std::move(test)), ofTrain(std::move(train)) {
  about.inputs = {{"image", {kElements}}};
  about.classes = hasLabels ? 2 : 0;
  about.test = std::ssize(ofTest);
  about.train = std::ssize(ofTrain);
}

tl::expected<void, std::string> Data::read(data::Split split, std::span<const std::int64_t> examples,
                                           const data::Batch& into) const {
  const std::vector<float>& values = split == data::Split::Test ? ofTest : ofTrain;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    std::fill_n(into.inputs.front() + i * kElements, kElements, values.at(static_cast<std::size_t>(examples[i])));
    if (about.classes > 0)
      into.labels[i] = examples[i] % 2;
    else
      into.targets[i] = 0;
  }
  return {};
}

World::World() : batch(victimOf(kBatch)), single(victimOf(1)), learner(learnerOf()) {
  log() = {};
  movers = {moverOf(Move::Rise, moverStep<Move::Rise>),      moverOf(Move::Wave, moverStep<Move::Wave>),
            moverOf(Move::Random, moverStep<Move::Random>),  moverOf(Move::Label, moverStep<Move::Label>),
            moverOf(Move::Far, moverStep<Move::Far>),        moverOf(Move::Nan, moverStep<Move::Nan>),
            moverOf(Move::Learned, moverStep<Move::Learned>)};
  weights.entries = {{BufferClass::Weight, "net.w", runtime::HostTensor::of(TBEM_F32, {2}, std::vector<double>{0.25, 0.5})}};
  victim.backend = tbem_backend_ref();
  victim.weights = &weights;
  victim.batch = &batch;
  victim.single = &single;
  victim.input = "image";
  victim.classAxis = 1;
  victim.branchFlops = {100, 5, 50, 1, 200};
  victim.least = kLeaves;
  victim.most = kRuns;
}

Method World::method(Move move, std::int64_t steps, std::int64_t look) const {
  Method method;
  method.word = "toy";
  method.text = "toy(" + std::to_string(static_cast<int>(move)) + ")";
  method.identity = method.text;
  method.mover = &movers[static_cast<std::size_t>(move)];
  method.point = "point";
  method.seed = "seed";
  method.label = "label";
  method.states = {"state"};
  method.steps = steps;
  method.look = look;
  return method;
}

Method World::learned(std::int64_t epochs, std::int64_t count) const {
  Method method = this->method(Move::Learned);
  method.learning = Learning{.step = &learner, .seed = "image", .epochs = epochs, .count = count};
  return method;
}

Plan World::plan(std::int64_t count) const {
  Plan plan;
  plan.count = count;
  plan.batch = kBatch;
  plan.seed = 3;
  plan.radius = kRadius;
  return plan;
}

}  // namespace tbem::perturb::toy
