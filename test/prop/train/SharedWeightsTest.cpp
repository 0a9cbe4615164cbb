// A training step and evaluations in one arena, against the same programs in arenas of their own with weights copied by value:
// bit for bit, for several networks on both backends, also where the two want a weight in different layouts, and in a training.
#include "test/unit/TemporaryFolder.h"
#include "test/unit/graph/Fixture.h"

#include "compiler/count/Layout.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/lower/Lower.h"
#include "runtime/core/Executable.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/Evaluation.h"
#include "runtime/train/Order.h"
#include "runtime/train/Snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tbem::test {
namespace {

using estimate::Places;
using estimate::Program;
using runtime::Instance;

constexpr std::uint32_t kFull = 0, kRest = 1;  ///< batches of 8 and 5 samples

struct Net {
  std::string body;     ///< of `network net(image: tensor[n, 3, h, w]) -> tensor[n, 10]`
  std::string clauses;  ///< more of the design
};
const Net kNets[] = {
    {"image |> flatten |> dense(10)", ""},
    {"image |> conv_bn_relu(out: 16, kernel: 3, pad: 1) |> dropout(p: 0.5) |> conv_bn_relu(out: 32, kernel: 3, stride: 2)"
     " |> global_avg_pool |> dense(10)",
     ""},
    {"image |> conv_bn_relu(out: 16, kernel: 3, pad: 1) |> flatten |> dense(64) |> relu |> dense(10)", "accumulate 2"},
    {"image |> conv_bn_relu(out: 16, kernel: 3, pad: 1) |> flatten |> dense(64) |> relu |> dense(10)", "mixed bf16"},
};

constexpr std::size_t kMixed = 3;

std::string textOf(const Net& net) {
  return fmt::format(
      "network net(image: tensor[n, 3, h, w]) -> tensor[n, 10] {{ return {} }}\n"
      "design d of net {{\n factor batch: 8, 5\n input image: [batch, 3, 8, 8]\n {}\n"
      " task train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9))\n}}\n",
      net.body, net.clauses);
}

/// One graph of the network: a step, or the loss at inference.
struct Lowered {
  std::unique_ptr<Built> built;
  std::optional<graph::Row> row;
  Program program;

  Lowered(const Net& net, graph::Task task, std::uint32_t batch, tbem_dtype dtype, const tbem_backend& backend,
          const Places& places) {
    graph::ExperimentOptions options;
    options.dtype = dtype;
    built = std::make_unique<Built>(textOf(net), options);
    if (!built->spec) return;
    built->spec->task = task;
    built->experiment = std::make_unique<graph::Experiment>(built->session, *built->program, *built->spec, options);
    row = built->row({batch});
    EXPECT_TRUE(row) << built->errors();
    if (!row) return;
    auto lowered = estimate::lower(row->graph(), row->values, backend, {.threads = 2, .keepOutputs = true, .places = &places});
    if (!lowered) {  // bf16 on a processor without it
      EXPECT_NE(std::string(net.clauses).find("bf16"), std::string::npos) << lowered.error().arguments.back();
      row.reset();
      return;
    }
    program = std::move(*lowered);
  }
  jit::Compiled compile(const Program& linked) const {
    auto compiled = jit::compile(linked, {.cache = false});
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
    EXPECT_TRUE(jit::describeStorages(linked, row->graph(), row->values, compiled->executable));
    return std::move(*compiled);
  }
  Places places() const { return estimate::placesOf(row->graph(), program); }
};

/// Fills the inputs, and returns loss and outputs of a run.
std::vector<double> run(Instance& instance, std::uint64_t step) {
  for (const runtime::StorageDesc& storage : instance.executable().storages) {
    if (storage.kind != runtime::BufferClass::Input) continue;
    const runtime::HostTensor empty = *instance.read(storage.buffer);
    std::vector<double> values(empty.count());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = empty.dtype == TBEM_I64 ? static_cast<double>((i * 7 + step) % 10)
                                          : static_cast<double>((i * 37 + step * 11) % 64) / 32 - 1;
    EXPECT_TRUE(instance.write(storage.buffer, runtime::HostTensor::of(empty.dtype, empty.dims, values)));
  }
  const auto done = instance.run(step);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  std::vector<double> results = instance.read(instance.executable().loss)->doubles();
  const std::vector<double> outputs = instance.read(instance.executable().outputs.front())->doubles();
  results.insert(results.end(), outputs.begin(), outputs.end());
  return results;
}

std::vector<std::vector<std::byte>> bytesOf(const Instance& instance) {
  const train::Snapshot snapshot = *train::take(instance, true);
  std::vector<std::vector<std::byte>> bytes;
  for (const train::Snapshot::Entry& entry : snapshot.entries) bytes.push_back(entry.value.data);
  return bytes;
}

/// Trains and evaluates by turns in one arena and in three, and compares.
void compare(const Lowered& step, const Lowered& full, const Lowered& rest, const Lowered& freeFull, const Lowered& freeRest,
             const tbem_backend& backend) {
  auto linked = estimate::link({{"the step", &step.row->graph(), step.program},
                                {"full", &full.row->graph(), full.program},
                                {"rest", &rest.row->graph(), rest.program}});
  ASSERT_TRUE(linked) << linked.error();
  const jit::Compiled together[] = {step.compile(linked->programs[0]), full.compile(linked->programs[1]),
                                    rest.compile(linked->programs[2])};
  const runtime::Executable* const executables[] = {&together[0].executable, &together[1].executable, &together[2].executable};
  auto arena = runtime::Arena::create(executables, backend, {.poison = true, .guard = 4096});
  ASSERT_TRUE(arena) << arena.error().message;
  EXPECT_EQ((*arena)->bytes(), linked->arena);
  std::unique_ptr<Instance> shared[3];
  for (std::size_t i = 0; i < 3; ++i) shared[i] = *Instance::create(*executables[i], **arena);
  ASSERT_TRUE(shared[0]->initialise(3));

  const jit::Compiled apart[] = {step.compile(step.program), freeFull.compile(freeFull.program),
                                 freeRest.compile(freeRest.program)};
  std::unique_ptr<Instance> alone[3];
  for (std::size_t i = 0; i < 3; ++i) {
    alone[i] = *Instance::create(apart[i].executable, backend);
    ASSERT_TRUE(alone[i]->initialise(i == 0 ? 3 : 0));
  }
  for (std::uint64_t number = 1; number <= 3; ++number) {
    EXPECT_EQ(run(*shared[0], number), run(*alone[0], number)) << "step " << number;
    for (std::size_t i = 1; i < 3; ++i) {
      ASSERT_TRUE(train::give(*train::take(*alone[0], false), *alone[i]));
      EXPECT_EQ(run(*shared[i], number), run(*alone[i], number)) << "evaluation " << i << " after step " << number;
    }
  }
  EXPECT_EQ(bytesOf(*shared[0]), bytesOf(*alone[0]));
  const auto report = (*arena)->measure();
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->guardIntact);
  EXPECT_EQ(report->stray, runtime::kAbsent);
  EXPECT_EQ(report->reached, linked->arena);
}

class SharedWeights : public ::testing::TestWithParam<std::tuple<const tbem_backend*, std::size_t>> {};

TEST_P(SharedWeights, GiveWhatCopiesGive) {
  const auto [backend, number] = GetParam();
  const Net& net = kNets[number];
  const Lowered step(net, graph::Task::Train, kFull, TBEM_F32, *backend, {});
  const Lowered freeFull(net, graph::Task::Evaluate, kFull, TBEM_F32, *backend, {});
  const Lowered freeRest(net, graph::Task::Evaluate, kRest, TBEM_F32, *backend, {});
  if (number == kMixed && !step.row) GTEST_SKIP() << "no bf16";
  ASSERT_TRUE(step.row && freeFull.row && freeRest.row);
  const Lowered full(net, graph::Task::Evaluate, kFull, TBEM_F32, *backend, step.places());
  const Lowered rest(net, graph::Task::Evaluate, kRest, TBEM_F32, *backend, step.places());
  compare(step, full, rest, freeFull, freeRest, *backend);
}

INSTANTIATE_TEST_SUITE_P(Networks, SharedWeights,
                         ::testing::Combine(::testing::Values(tbem_backend_ref(), tbem_backend_cpu()),
                                            ::testing::Range(std::size_t{0}, std::size(kNets))),
                         [](const auto& test) {
                           return fmt::format("{}{}", std::get<0>(test.param)->name, std::get<1>(test.param));
                         });

/// Every weight of two dimensions or more with its dimensions in the opposite order.
Places reversed(const Places& places) {
  Places other = places;
  for (auto& [key, operand] : other) {
    if (operand.rank < 2 || key.first == graph::StorageClass::Buffer) continue;
    const std::span<const std::int64_t> dims = estimate::dimsOf(operand);
    operand = estimate::plainOperand(operand.dtype, dims);
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      operand.layout.strides[d] = stride;
      stride *= dims[d];
    }
  }
  return other;
}

TEST(SharedWeights, LieInTheStepsLayoutWhereEvaluationsWantAnother) {
  const tbem_backend& backend = *tbem_backend_cpu();
  const Net& net = kNets[1];
  const Lowered plain(net, graph::Task::Train, kFull, TBEM_F32, backend, {});
  ASSERT_TRUE(plain.row);
  const Lowered step(net, graph::Task::Train, kFull, TBEM_F32, backend, reversed(plain.places()));
  const Lowered freeFull(net, graph::Task::Evaluate, kFull, TBEM_F32, backend, {});
  const Lowered freeRest(net, graph::Task::Evaluate, kRest, TBEM_F32, backend, {});
  ASSERT_TRUE(step.row && freeFull.row && freeRest.row);
  const auto refused = estimate::link(
      {{"the step", &step.row->graph(), step.program}, {"the evaluation", &freeFull.row->graph(), freeFull.program}});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().find("has one layout in the step and another in the evaluation"), std::string::npos)
      << refused.error();
  const Lowered full(net, graph::Task::Evaluate, kFull, TBEM_F32, backend, step.places());
  const Lowered rest(net, graph::Task::Evaluate, kRest, TBEM_F32, backend, step.places());
  EXPECT_GT(full.program.steps.size(), freeFull.program.steps.size());  // weights are reordered
  compare(step, full, rest, freeFull, freeRest, backend);
}

/// The training that train::run does, with weights that are copied by value to evaluations in memory of their own.
class TrainingByCopies {
public:
  TrainingByCopies(const train::Plan& plan, const data::Dataset& dataset, const train::Machine& machine)
      : plan(plan), dataset(dataset), machine(machine), step(at(*machine.step)) {
    EXPECT_TRUE(step->initialise(plan.seed));
    for (const auto& [batch, executable] : machine.evaluation) evaluation.emplace(batch, at(*executable));
  }

  /// The scores of an epoch: training, then validation.
  std::vector<train::Score> epoch(std::uint32_t number) {
    const train::Partition parts = train::partition(plan.seed, *plan.count, plan.validate);
    const auto order = train::shuffled(plan.seed, number, std::ssize(parts.train));
    train::Feed feed(dataset, machine.inputs);
    train::Tally tally;
    for (std::size_t first = 0; first < order.size(); first += static_cast<std::size_t>(plan.batch)) {
      std::vector<std::int64_t> examples;
      for (std::int64_t i = 0; i < plan.batch; ++i)
        examples.push_back(parts.train[static_cast<std::size_t>(order[first + static_cast<std::size_t>(i)])]);
      EXPECT_TRUE(feed.load(plan.split, examples) && feed.write(*step) && step->run(++steps));
      EXPECT_TRUE(train::addStep(*step, machine, feed, examples.size(), tally));
    }
    return {*tally.score(true), evaluate(plan.split, parts.validation)};
  }
  train::Score evaluate(data::Split split, std::span<const std::int64_t> examples) {
    const train::Snapshot weights = *train::take(*step, false);
    train::Tally tally;
    while (!examples.empty()) {
      const auto batch = std::min(static_cast<std::size_t>(plan.batch), examples.size());
      Instance& instance = *evaluation.at(static_cast<std::int64_t>(batch));
      train::Feed feed(dataset, machine.inputs);
      EXPECT_TRUE(train::give(weights, instance) && feed.load(split, examples.first(batch)) && feed.write(instance));
      EXPECT_TRUE(instance.run(1));
      EXPECT_TRUE(train::addStep(instance, machine, feed, batch, tally));
      examples = examples.subspan(batch);
    }
    return *tally.score(true);
  }
  const Instance& trained() const { return *step; }

private:
  std::unique_ptr<Instance> at(const runtime::Executable& executable) const {
    auto instance = *Instance::create(executable, *machine.backend);
    EXPECT_TRUE(instance->initialise(0));
    return instance;
  }

  const train::Plan& plan;
  const data::Dataset& dataset;
  const train::Machine& machine;
  std::unique_ptr<Instance> step;
  std::map<std::int64_t, std::unique_ptr<Instance>> evaluation;
  std::uint64_t steps = 0;
};

void expectSame(const train::Score& a, const train::Score& b) {
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.accuracy, b.accuracy);
}

class TrainingOverSharedWeights : public TemporaryFolder, public ::testing::WithParamInterface<const tbem_backend*> {};

TEST_P(TrainingOverSharedWeights, IsTheOneWithCopies) {
  const tbem_backend& backend = *GetParam();
  const Net& net = kNets[1];
  const Lowered step(net, graph::Task::Train, kFull, TBEM_F32, backend, {});
  ASSERT_TRUE(step.row);
  const Lowered full(net, graph::Task::Evaluate, kFull, TBEM_F32, backend, step.places());
  const Lowered rest(net, graph::Task::Evaluate, kRest, TBEM_F32, backend, step.places());
  const auto linked = *estimate::link({{"the step", &step.row->graph(), step.program},
                                       {"full", &full.row->graph(), full.program},
                                       {"rest", &rest.row->graph(), rest.program}});
  const jit::Compiled code[] = {step.compile(linked.programs[0]), full.compile(linked.programs[1]),
                                rest.compile(linked.programs[2])};
  train::Machine machine{.backend = &backend, .step = &code[0].executable, .inputs = {"image"}, .classAxis = 1};
  machine.evaluation = {{8, &code[1].executable}, {5, &code[2].executable}};
  data::Settings settings;
  settings.values = {{"shape", std::vector<double>{3, 8, 8}},
                     {"outputs", std::int64_t{0}},
                     {"classes", std::int64_t{10}},
                     {"train", std::int64_t{45}},
                     {"test", std::int64_t{13}},
                     {"noise", 1.0},
                     {"seed", std::int64_t{2}}};
  const auto dataset = *data::findReader("synthetic")->open(settings);
  train::Plan plan{.count = 45, .batch = 8, .epochs = 2, .seed = 5, .validate = 0.3};  // 13 held out: 8 and 5
  const std::string path = folder + "/t.safetensors";
  const auto outcome = train::run(plan, *dataset, machine, {.path = path}, {});
  ASSERT_TRUE(outcome) << outcome.error().message;

  TrainingByCopies copies(plan, *dataset, machine);
  for (const train::EpochReport& report : outcome->epochs) {
    const std::vector<train::Score> scores = copies.epoch(static_cast<std::uint32_t>(report.epoch - 1));
    expectSame(report.train, scores[0]);
    ASSERT_TRUE(report.validation);
    expectSame(*report.validation, scores[1]);
  }
  ASSERT_EQ(outcome->epochs.size(), 2U);
  ASSERT_TRUE(outcome->test);
  expectSame(*outcome->test, copies.evaluate(data::Split::Test, train::partition(0, 13, 0).train));
  const auto checkpoint = *train::readCheckpoint(path);
  ASSERT_TRUE(checkpoint);
  const train::Snapshot expected = *train::take(copies.trained(), true);
  ASSERT_EQ(checkpoint->now.entries.size(), expected.entries.size());
  for (const train::Snapshot::Entry& entry : expected.entries) {
    const train::Snapshot::Entry* kept = checkpoint->now.find(entry.kind, entry.path);
    ASSERT_NE(kept, nullptr) << entry.path;
    EXPECT_EQ(kept->value.data, entry.value.data) << entry.path;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, TrainingOverSharedWeights, ::testing::Values(tbem_backend_ref(), tbem_backend_cpu()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace tbem::test
