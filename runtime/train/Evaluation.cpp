#include "runtime/train/Evaluation.h"

#include "runtime/core/Primitive.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::train {

namespace {

using Kind = TrainFailure::Kind;

tl::unexpected<TrainFailure> failure(Kind kind, std::string message) {
  return tl::unexpected(TrainFailure{kind, std::move(message)});
}

}  // namespace

namespace {

/// `values`: [outer, classes, inner], read once from front to back.
template <class T>
std::int64_t countLargest(const T* values, std::size_t classes, std::size_t inner, std::span<const std::int64_t> labels) {
  std::vector<T> largest(inner);
  std::vector<std::int64_t> place(inner);
  std::int64_t correct = 0;
  for (std::size_t first = 0; first < labels.size(); first += inner) {
    std::fill(place.begin(), place.end(), -1);
    for (std::size_t k = 0; k < classes; ++k, values += inner) {
      for (std::size_t i = 0; i < inner; ++i) {
        if (std::isnan(values[i]) || (place[i] >= 0 && !(values[i] > largest[i]))) continue;
        largest[i] = values[i];
        place[i] = static_cast<std::int64_t>(k);
      }
    }
    for (std::size_t i = 0; i < inner; ++i) correct += place[i] == labels[first + i] ? 1 : 0;
  }
  return correct;
}

}  // namespace

std::int64_t countCorrect(const runtime::HostTensor& outputs, std::size_t axis, std::span<const std::int64_t> labels) {
  const auto classes = static_cast<std::size_t>(outputs.dims[axis]);
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < outputs.dims.size(); ++d) inner *= static_cast<std::size_t>(outputs.dims[d]);
  // A language model's outputs are the most of what a step makes: they are not copied once more.
  if (outputs.dtype == TBEM_F32) return countLargest(reinterpret_cast<const float*>(outputs.data.data()), classes, inner, labels);
  return countLargest(outputs.doubles().data(), classes, inner, labels);
}

tl::expected<double, TrainFailure> addStep(runtime::Instance& instance, const Machine& machine, const Feed& feed,
                                           std::size_t examples, Tally& tally) {
  const auto loss = instance.read(instance.executable().loss);
  if (!loss) return failure(Kind::Run, loss.error().message);
  const double value = loss->doubles().front();
  const std::span<const std::int64_t> labels = feed.labels();
  const auto counted = std::ssize(labels) - std::ranges::count(labels, runtime::kNoClass);
  const double share = machine.lossOfLabels ? static_cast<double>(counted) / static_cast<double>(labels.size()) : 1;
  const double weight = static_cast<double>(examples) * share;
  tally.loss += value * weight;
  tally.weight += weight;
  tally.counted += counted;
  if (machine.classAxis) {
    const auto outputs = instance.read(instance.executable().outputs.front());
    if (!outputs) return failure(Kind::Run, outputs.error().message);
    tally.correct += countCorrect(*outputs, *machine.classAxis, labels);
  }
  return value;
}

tl::expected<Score, std::string> Tally::score(bool hasAccuracy) const {
  if (weight == 0 || (hasAccuracy && counted == 0))
    return tl::unexpected(std::string("none of the labels has a class, so there is no loss"));
  Score score;
  score.loss = loss / weight;
  if (hasAccuracy) score.accuracy = static_cast<double>(correct) / static_cast<double>(counted);
  if (!gates.empty()) score.flops = flops / static_cast<double>(examples);
  score.gates = gates;
  for (const double sum : turns) score.turns.push_back(sum / static_cast<double>(steps));
  return score;
}

namespace {

/// What the gates did in the run that the instance ended last.
tl::expected<void, TrainFailure> addGates(const runtime::Instance& instance, const Machine& machine, std::size_t examples,
                                          Tally& tally) {
  if (machine.branchFlops.empty()) return {};
  const auto sizes = runtime::branchSizes(instance);
  if (!sizes) return failure(Kind::Run, sizes.error().message);
  const auto decisions = runtime::decisions(instance);
  if (!decisions) return failure(Kind::Run, decisions.error().message);
  for (std::size_t b = 0; b < sizes->size(); ++b) tally.flops += machine.branchFlops[b] * static_cast<double>((*sizes)[b]);
  tally.examples += static_cast<std::int64_t>(examples);
  std::vector<runtime::GateCount> counts = runtime::countsOf(*decisions);
  for (std::size_t g = 0; g < tally.gates.size(); ++g) {
    counts[g].reached += tally.gates[g].reached;
    counts[g].taken += tally.gates[g].taken;
  }
  tally.gates = std::move(counts);
  return {};
}

}  // namespace

tl::expected<runtime::Instance*, TrainFailure> Evaluation::instanceOf(std::int64_t size) {
  std::unique_ptr<runtime::Instance>& instance = instances[size];
  if (instance == nullptr) {
    auto made = runtime::Instance::create(*machine.evaluation.at(size), arena);
    if (!made) return failure(Kind::Environment, made.error().message);
    instance = std::move(*made);
  }
  return instance.get();
}

tl::expected<std::optional<Score>, TrainFailure> Evaluation::run(data::Split split, std::span<const std::int64_t> examples,
                                                                 const std::function<bool()>& next) {
  Tally tally;
  for (std::size_t first = 0; first < examples.size();) {
    if (!next()) return std::optional<Score>();
    const std::size_t size = std::min(static_cast<std::size_t>(batch), examples.size() - first);
    const auto made = instanceOf(static_cast<std::int64_t>(size));
    if (!made) return tl::unexpected(made.error());
    runtime::Instance& instance = **made;
    if (auto done = feed.load(split, examples.subspan(first, size)); !done) return failure(Kind::Environment, done.error());
    if (auto done = feed.write(instance); !done) return failure(Kind::Environment, done.error());
    if (auto done = instance.run(1); !done) return failure(Kind::Run, done.error().message);
    if (auto done = addStep(instance, machine, feed, size, tally); !done) return tl::unexpected(done.error());
    if (auto done = addGates(instance, machine, size, tally); !done) return tl::unexpected(done.error());
    first += size;
  }
  const auto score = tally.score(machine.classAxis.has_value());
  if (!score) {
    return failure(Kind::Environment, fmt::format("{} of the {} split: {}", examples.size() == 1 ? "the example" : "the examples",
                                                  split == data::Split::Test ? "test" : "training", score.error()));
  }
  return std::optional<Score>(*score);
}

}  // namespace tbem::train
