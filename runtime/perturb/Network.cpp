#include "runtime/perturb/Network.h"

#include "runtime/core/Decisions.h"
#include "runtime/measure/Quantile.h"
#include "runtime/perturb/Tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

/// The place of the largest of `classes` numbers, the first of equal ones; -1 where none is a number.
std::int64_t placeOfLargest(std::span<const float> numbers) {
  std::int64_t place = -1;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (std::isnan(numbers[k]) || (place >= 0 && !(numbers[k] > numbers[static_cast<std::size_t>(place)]))) continue;
    place = static_cast<std::int64_t>(k);
  }
  return place;
}

constexpr std::int64_t kWarmUps = 2;  // the first prepares what a branch needs, the second finds it in the caches

const tbem_operand& operandOf(const runtime::Executable& executable, std::uint32_t buffer) {
  return executable.buffers[buffer].operand;
}

}  // namespace

Result<std::unique_ptr<Network>> Network::create(const Victim& victim, const train::Snapshot& weights, runtime::Arena& arena) {
  std::unique_ptr<Network> network(new Network(victim, weights));
  if (auto done = network->prepare(arena); !done) return tl::unexpected(done.error());
  return network;
}

Result<void> Network::prepare(runtime::Arena& arena) {
  for (auto [executable, instance] : {std::pair{victim.batch, &batch}, std::pair{victim.single, &single}}) {
    if (executable == nullptr) continue;
    auto loaded = runtime::Instance::create(*executable, arena);
    if (!loaded) return failure(Kind::Environment, loaded.error().message);
    *instance = std::move(*loaded);
    if (auto done = (*instance)->initialise(0); !done) return failure(Kind::Environment, done.error().message);
  }
  const runtime::Executable& executable = *victim.batch;
  const auto input = batch->findStorage(victim.input);
  if (!input) return failure(Kind::Run, fmt::format("the network has no input `{}`", victim.input));
  places = static_cast<std::size_t>(operandOf(executable, executable.storages[*input].buffer).dims[0]);
  if (victim.branchFlops.size() != executable.branches.size()) {
    return failure(Kind::Run, fmt::format("the network has {} branches, and there are FLOPs of {}", executable.branches.size(),
                                          victim.branchFlops.size()));
  }
  for (const runtime::BranchDesc& branch : executable.branches) {
    const std::int64_t ofAll = branch.ofEachSample * static_cast<std::int64_t>(places);
    if (branch.gate.empty() || (branch.ofEachSample > 0 && ofAll == branch.samples)) continue;
    return failure(Kind::Run,
                   fmt::format("what an example costs is not known: `{}` decides about {} rows that are computed of all "
                               "{} examples together",
                               branch.gate, branch.samples, executable.samples));
  }
  if (victim.classAxis) {
    const tbem_operand& output = operandOf(executable, executable.outputs.front());
    const bool oneLabel = output.rank == 2 && *victim.classAxis == 1;
    if (!oneLabel) return failure(Kind::Run, "the network's output has not one row of classes for each example");
  }
  for (const runtime::BranchDesc& branch : executable.branches) {
    if (branch.gate.empty()) {
      entries.emplace_back();
      continue;
    }
    auto gate = std::ranges::find(gatePaths, branch.gate);
    if (gate == gatePaths.end()) gate = gatePaths.insert(gate, branch.gate);
    entries.push_back(Entry{static_cast<std::size_t>(gate - gatePaths.begin()), static_cast<std::int8_t>(branch.condition),
                            static_cast<std::size_t>(branch.ofEachSample)});
  }
  return giveWeights();
}

Result<void> Network::giveWeights() {
  for (runtime::Instance* instance : {batch.get(), single.get()}) {
    if (instance == nullptr) continue;
    if (auto done = train::give(weights, *instance); !done) return failure(Kind::Run, done.error());
  }
  return {};
}

Result<std::optional<std::string>> Network::changedWeight() const {
  const auto now = train::take(*batch, false);
  if (!now) return failure(Kind::Run, now.error());
  for (const train::Snapshot::Entry& entry : now->entries) {
    const train::Snapshot::Entry* given = weights.find(entry.kind, entry.path);
    if (given == nullptr || given->value.data != entry.value.data) return std::optional(entry.path);
  }
  return std::optional<std::string>();
}

void Network::addDecisions(const std::vector<runtime::Decision>& decisions, std::size_t place, Answer& answer) const {
  answer.flops = entries.empty() ? victim.least : 0;  // without gates every example costs the same
  answer.decisions.assign(gatePaths.size(), -1);
  for (std::size_t b = 0; b < entries.size(); ++b) {
    if (!entries[b]) {
      answer.flops += victim.branchFlops[b];
      continue;
    }
    const Entry& entry = *entries[b];
    const std::span<const std::int8_t> own = std::span(decisions[entry.gate].of).subspan(place * entry.rows, entry.rows);
    const auto reached = entry.rows - static_cast<std::size_t>(std::ranges::count(own, std::int8_t{-1}));
    const auto taken = static_cast<std::size_t>(std::ranges::count(own, entry.decision));
    answer.flops += victim.branchFlops[b] * static_cast<double>(taken);
    if (entry.decision == 1 && reached > 0)
      answer.decisions[entry.gate] = static_cast<double>(taken) / static_cast<double>(reached);
  }
}

Result<std::vector<Answer>> Network::ask(std::span<const float> points) {
  if (auto done = writeInput(*batch, victim.input, points); !done) return tl::unexpected(done.error());
  if (auto done = batch->run(1); !done) return failure(Kind::Run, done.error().message);
  const auto decisions = runtime::decisions(*batch);
  if (!decisions) return failure(Kind::Run, decisions.error().message);
  std::vector<Answer> answers(places);
  for (std::size_t i = 0; i < answers.size(); ++i) addDecisions(*decisions, i, answers[i]);
  if (!victim.classAxis) return answers;
  const auto outputs = readNumbers(*batch, victim.batch->outputs.front());
  if (!outputs) return tl::unexpected(outputs.error());
  const std::size_t classes = outputs->size() / answers.size();
  for (std::size_t i = 0; i < answers.size(); ++i)
    answers[i].prediction = placeOfLargest(std::span(*outputs).subspan(i * classes, classes));
  return answers;
}

Result<double> Network::secondsOf(runtime::Instance& instance, std::span<const float> numbers) {
  if (auto done = writeInput(instance, victim.input, numbers); !done) return tl::unexpected(done.error());
  const auto start = std::chrono::steady_clock::now();
  if (auto done = instance.run(1); !done) return failure(Kind::Run, done.error().message);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<double> Network::batchSeconds(std::span<const float> points, std::int64_t repeats) {
  std::vector<double> all;
  for (std::int64_t i = -kWarmUps; i < repeats; ++i) {
    const auto seconds = secondsOf(*batch, points);
    if (!seconds) return tl::unexpected(seconds.error());
    if (i >= 0) all.push_back(*seconds);
  }
  return measure::median(all);
}

Result<BeforeAfter> Network::latency(std::span<const float> example, std::span<const float> point, std::int64_t repeats) {
  std::vector<double> before, after;
  for (std::int64_t i = -kWarmUps; i < repeats; ++i) {
    const auto ofExample = secondsOf(*single, example);
    if (!ofExample) return tl::unexpected(ofExample.error());
    const auto ofPoint = secondsOf(*single, point);
    if (!ofPoint) return tl::unexpected(ofPoint.error());
    if (i < 0) continue;
    before.push_back(*ofExample);
    after.push_back(*ofPoint);
  }
  return BeforeAfter{measure::median(before), measure::median(after)};
}

namespace {

/// Waits until the counters have moved since the meter's last look, and gives the time.
Result<double> nextTick(measure::EnergyMeter& meter) {
  constexpr double kPatience = 3;  // seconds; they move about a thousand times in one
  const std::optional<double> before = meter.joules();
  const double start = measure::monotonicSeconds();
  while (true) {
    meter.look();
    const double now = measure::monotonicSeconds();
    const std::optional<double> joules = meter.joules();
    if (!before || !joules) return failure(Kind::Environment, meter.reason());
    if (*joules > *before) return now;
    if (now - start > kPatience) return failure(Kind::Environment, "the counters of energy do not move");
  }
}

}  // namespace

Result<bool> Network::addRuns(runtime::Instance& instance, std::span<const float> numbers, double seconds,
                              measure::EnergyMeter& meter, const std::function<bool()>& stops, Used& used) {
  constexpr double kLook = 10;  // seconds between looks, far below a wrap
  for (std::int64_t i = 0; i < kWarmUps; ++i) {
    if (const auto done = secondsOf(instance, numbers); !done) return tl::unexpected(done.error());
  }
  meter.start();
  const auto start = nextTick(meter);
  if (!start) return tl::unexpected(start.error());
  meter.start();
  double runs = 0, now = *start, looked = *start;
  for (; now - *start < seconds; ++runs) {
    if (stops()) return false;
    if (const auto done = secondsOf(instance, numbers); !done) return tl::unexpected(done.error());
    now = measure::monotonicSeconds();
    if (now - looked < kLook) continue;
    meter.look();
    looked = now;
  }
  meter.look();
  const auto end = nextTick(meter);
  if (!end) return tl::unexpected(end.error());
  // The counters say the power from tick to tick, the clock how long the runs took.
  used.joules += *meter.joules() / (*end - *start) * (now - *start);
  used.runs += runs;
  return true;
}

Result<std::optional<BeforeAfter>> Network::energy(std::span<const float> example, std::span<const float> point, double seconds,
                                                   measure::EnergyMeter& meter, const std::function<bool()>& stops) {
  constexpr int kParts = 4;
  Used before, after;
  for (int part = 0; part < 2 * kParts; ++part) {
    const bool isExample = part % 4 == 0 || part % 4 == 3;  // before, after, after, before: what drifts evenly does so for both
    const auto done = addRuns(*single, isExample ? example : point, seconds / kParts, meter, stops, isExample ? before : after);
    if (!done) return tl::unexpected(done.error());
    if (!*done) return std::optional<BeforeAfter>();
  }
  return std::optional(BeforeAfter{before.joules / before.runs, after.joules / after.runs});
}

Result<std::optional<double>> Network::batchJoules(std::span<const float> points, double seconds, measure::EnergyMeter& meter,
                                                   const std::function<bool()>& stops) {
  Used used;
  const auto done = addRuns(*batch, points, seconds, meter, stops, used);
  if (!done) return tl::unexpected(done.error());
  return *done ? std::optional(used.joules / used.runs) : std::nullopt;
}

Result<LoneNetwork> LoneNetwork::create(const Victim& victim) {
  const std::array<const runtime::Executable*, 1> executables{victim.batch};
  auto arena = runtime::Arena::create(executables, *victim.backend);
  if (!arena) return failure(Kind::Environment, arena.error().message);
  auto network = Network::create(victim, *victim.weights, **arena);
  if (!network) return tl::unexpected(network.error());
  return LoneNetwork{std::move(*arena), std::move(*network)};
}

}  // namespace tbem::perturb
