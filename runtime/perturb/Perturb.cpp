#include "runtime/perturb/Perturb.h"

#include "runtime/perturb/Bounds.h"
#include "runtime/perturb/KeptPoints.h"
#include "runtime/perturb/Lanes.h"
#include "runtime/perturb/Learner.h"
#include "runtime/perturb/Summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

tl::unexpected<Failure> named(const Method& method, const Failure& cause) {
  return failure(cause.kind, fmt::format("{}: {}", method.text, cause.message));
}

/// A weight or buffer of the mover that neither the victim nor its learner has, so that nothing would fill it; nullptr: there is
/// none.
const runtime::StorageDesc* strangeWeight(const Method& method, const train::Snapshot& weights) {
  for (const runtime::StorageDesc& storage : method.mover->storages) {
    if (storage.kind != runtime::BufferClass::Weight && storage.kind != runtime::BufferClass::Buffer) continue;
    if (weights.find(storage.kind, storage.path) != nullptr) continue;
    const auto isSame = [&](const runtime::StorageDesc& other) {
      return other.kind == storage.kind && other.path == storage.path;
    };
    if (!method.learning || std::ranges::none_of(method.learning->step->storages, isSame)) return &storage;
  }
  return nullptr;
}

/// What cannot be searched with, before anything is.
Result<void> check(const Plan& plan, const data::Dataset& dataset, const Victim& victim, const std::vector<Method>& methods) {
  const Examples examples(plan, dataset);
  if (dataset.description().inputs.size() != 1) {
    return failure(Kind::Environment, fmt::format("the dataset has {} inputs an example, and one can be perturbed",
                                                  dataset.description().inputs.size()));
  }
  if (examples.total() == 0) {
    return failure(Kind::Environment, fmt::format("the dataset has no examples in its {} split",
                                                  plan.split == data::Split::Test ? "test" : "training"));
  }
  if ((plan.repeats > 0 || plan.energySeconds > 0) && victim.single == nullptr)
    return failure(Kind::Run, "latency or energy is wanted, and the network is not there for one example");
  for (const Method& method : methods) {
    // Random numbers know the lower 32 bits of a step's number.
    if (examples.batches() * method.steps > std::numeric_limits<std::uint32_t>::max()) {
      return failure(Kind::Run, fmt::format("{}: {} batches of {} steps each are more than 2^32 steps", method.text,
                                            examples.batches(), method.steps));
    }
    if (method.mover->outputs.size() < 1 + method.states.size()) {
      return failure(Kind::Run, fmt::format("{}: it has {} outputs, and a point and {} states are wanted", method.text,
                                            method.mover->outputs.size(), method.states.size()));
    }
    if (const auto* storage = strangeWeight(method, *victim.weights); storage != nullptr) {
      return failure(Kind::Run, fmt::format("{}: `{}` is neither a weight of the network under test nor learned", method.text,
                                            storage->path));
    }
  }
  return {};
}

/// `shape`: of an example. `before`: what the network did with it.
Point pointAt(const Plan& plan, const Batch& batch, std::size_t place, std::span<const std::int64_t> shape, const Answer& before,
              const Candidate& candidate) {
  const std::span<const float> example = batch.input(static_cast<std::int64_t>(place));
  const Distance distance = distanceBetween(example, candidate.input);
  const double width = plan.high - plan.low;
  Point point;
  point.example = batch.examples[place];
  point.label = batch.labels[place];
  point.before = before.prediction;
  point.after = candidate.answer.prediction;
  point.flopsBefore = before.flops;
  point.flops = candidate.answer.flops;
  point.linf = distance.linf;
  point.l2 = distance.l2;
  point.decisionsBefore = before.decisions;
  point.decisions = candidate.answer.decisions;
  point.psnr = psnr(example, candidate.input, width);
  point.ssim = ssim(example, candidate.input, shape, width);
  return point;
}

/// The plan, without energy where nothing counts it.
Plan possible(Plan plan, const measure::EnergyMeter& meter) {
  if (!meter.available()) plan.energySeconds = 0;
  return plan;
}

bool lacksEnergy(const Points::value_type& point) { return point.second.point.energy == 0; }

struct Place {
  const Batch& batch;
  std::size_t number;
};

/// What the plan wants of the example at this place and of the point that was found for it, each alone. False: it was stopped.
Result<bool> measureAlone(const Plan& plan, Network& network, measure::EnergyMeter& meter, Place place, Found& found,
                          const std::function<bool()>& stops) {
  if (plan.repeats == 0 && plan.energySeconds == 0) return true;
  if (stops()) return false;
  const std::span<const float> example = place.batch.input(static_cast<std::int64_t>(place.number));
  if (plan.repeats > 0) {
    const auto latency = network.latency(example, found.input, plan.repeats);
    if (!latency) return tl::unexpected(latency.error());
    found.point.latencyBefore = latency->before;
    found.point.latency = latency->after;
  }
  if (plan.energySeconds > 0) {
    const auto energy = network.energy(example, found.input, plan.energySeconds, meter, stops);
    if (!energy) return tl::unexpected(energy.error());
    if (!*energy) return false;
    found.point.energyBefore = (*energy)->before;
    found.point.energy = (*energy)->after;
  }
  return true;
}

/// All methods on their way, one after the other.
class Run {
public:
  Run(const Plan& wanted, const data::Dataset& dataset, const Victim& victim, const std::vector<Method>& methods,
      const Keeping& keeping, const Observer& observer)
      : plan(possible(wanted, meter)),
        noEnergy(wanted.energySeconds > 0 ? meter.reason() : std::string()),
        dataset(dataset),
        victim(victim),
        methods(methods),
        keeping(keeping),
        observer(observer),
        examples(plan, dataset) {}

  Result<Outcome> run() {
    if (auto done = check(plan, dataset, victim, methods); !done) return tl::unexpected(done.error());
    if (auto done = prepare(); !done) return tl::unexpected(done.error());
    for (const Method& method : methods) {
      if (observer.begins) observer.begins(method);
      auto series = seriesOf(method);
      if (!series) return tl::unexpected(series.error());
      pointsBefore += std::ssize(series->points);
      if (outcome.interrupted && series->points.empty()) break;
      if (observer.ends) observer.ends(method, *series);
      outcome.series.push_back(std::move(*series));
      if (outcome.interrupted) break;
    }
    return std::move(outcome);
  }

private:
  Result<void> prepare() {
    auto opened = KeptPoints::open(keeping);
    if (!opened) return tl::unexpected(opened.error());
    kept.emplace(std::move(*opened));
    auto made = Lanes::create(plan, victim, methods, examples.batches());
    if (!made) return tl::unexpected(made.error());
    lanes.emplace(std::move(*made));
    clean.resize(static_cast<std::size_t>(examples.batches()));
    return {};
  }

  /// Of all examples, or of those that were done when it was asked to stop (Outcome::interrupted).
  Result<Series> seriesOf(const Method& method) {
    Series series;
    series.word = method.word;
    series.text = method.text;
    series.gates = network().gates();
    auto points = kept->of(method, plan, examples.total(), network().gates().size());
    if (!points) return tl::unexpected(points.error());
    series.stored = std::ssize(*points);
    if (series.stored < examples.total()) {
      if (auto done = movePoints(method, series, *points); !done) return tl::unexpected(done.error());
    }
    if (std::ranges::any_of(*points, lacksEnergy)) series.noEnergy = noEnergy;
    if (plan.keepInputs && !points->empty()) series.inputs.reserve(points->size() * points->begin()->second.input.size());
    for (auto& [example, found] : *points) {
      series.points.push_back(std::move(found.point));
      series.inputs.insert(series.inputs.end(), found.input.begin(), found.input.end());
      found.input = {};
    }
    return series;
  }

  /// The points that are not there.
  Result<void> movePoints(const Method& method, Series& series, Points& points) {
    if (auto done = lanes->takeUp(method); !done) return done;
    if (method.learning) {
      if (auto done = learnFirst(method, series); !done) return done;
    }
    if (auto done = lanes->giveWeights(method); !done) return done;
    std::vector<std::int64_t> missing;
    for (std::int64_t b = 0; b < examples.batches(); ++b) {
      bool isThere = true;
      for (std::int64_t e = examples.first(b); e < examples.end(b); ++e) isThere = isThere && points.contains(e);
      if (!isThere) missing.push_back(b);
    }
    for (auto left = std::span(missing); !left.empty() && !outcome.interrupted;) {
      const auto together = left.first(std::min(left.size(), lanes->count()));
      if (auto done = moveBatches(method, together, series, points); !done) return done;
      left = left.subspan(together.size());
    }
    return {};
  }

  Result<void> learnFirst(const Method& method, Series& series) {
    // Their initial weights are the victim's too: it is given its own again before anything runs.
    const auto learner = initialised(*method.learning->step, *lanes->first().arena, plan.seed);
    if (!learner) return tl::unexpected(learner.error());
    std::unique_ptr<runtime::Instance> discriminator;
    if (method.learning->discriminator != nullptr) {
      auto made = initialised(*method.learning->discriminator, *lanes->first().arena, plan.seed);
      if (!made) return tl::unexpected(made.error());
      discriminator = std::move(*made);
    }
    if (auto done = network().giveWeights(); !done) return done;
    const auto seconds = learn(
        plan, dataset, *method.learning, {**learner, discriminator.get()},
        [&](const std::string& what) { tell(method, series.stored, what); }, [&] { return stops(); });
    if (!seconds) return named(method, seconds.error());
    series.learning = seconds->value_or(0);
    const auto changed = network().changedWeight();
    if (!changed) return tl::unexpected(changed.error());
    if (*changed) {
      return failure(Kind::Run,
                     fmt::format("{}: what it learned changed `{}` of the network under test", method.text, **changed));
    }
    return {};
  }

  /// As many as there are lanes, or fewer. What was found of one is kept, whatever became of another.
  Result<void> moveBatches(const Method& method, std::span<const std::int64_t> numbers, Series& series, Points& points) {
    std::vector<Work> work;
    std::optional<Failure> failed, unread;
    for (const std::int64_t number : numbers) {
      auto batch = examples.read(number);
      if (!batch) {
        unread = batch.error();  // those that were read are searched
        break;
      }
      work.push_back({std::move(*batch), clean[static_cast<std::size_t>(number)], {}, 0});
    }
    const auto tellStep = [&](std::int64_t step) {
      tell(method, std::ssize(points), fmt::format("step {} of {}", step, method.steps));
    };
    series.sideBySide = std::max(series.sideBySide, static_cast<std::int64_t>(work.size()));
    lanes->search(method, work, tellStep, [&] { return stops(); });
    double seconds = 0;
    for (Work& each : work) {
      if (!each.found && !failed) failed = named(method, each.found.error()).value();
      clean[static_cast<std::size_t>(each.batch.number)] = std::move(each.clean);
      seconds = std::max(seconds, each.seconds);
    }
    series.moving += seconds;
    for (Work& each : work) {
      if (!each.found || !*each.found) continue;
      if (auto done = keepBatch(method, each.batch, **each.found, points); !done) return done;
    }
    if (!failed) failed = std::move(unread);
    if (failed) return tl::unexpected(std::move(*failed));
    return {};
  }

  /// Makes points of what was found and puts them into the store; where it was asked to stop, those that were measured.
  Result<void> keepBatch(const Method& method, const Batch& batch, std::vector<Candidate>& candidates, Points& points) {
    std::vector<Found> found;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (points.contains(batch.examples[i])) continue;
      const Answer& before = clean[static_cast<std::size_t>(batch.number)][i];
      const Point point = pointAt(plan, batch, i, dataset.description().inputs.front().shape, before, candidates[i]);
      Found one{point, std::move(candidates[i].input)};
      const auto done = measureAlone(plan, network(), meter, {batch, i}, one, [&] { return stops(); });
      if (!done) return tl::unexpected(done.error());
      if (!*done) break;
      found.push_back(std::move(one));
    }
    if (auto done = kept->add(method, found); !done) return done;
    for (Found& one : found) {
      if (!plan.keepInputs) one.input = {};
      points.emplace(one.point.example, std::move(one));
    }
    tell(method, std::ssize(points), fmt::format("batch {} of {}", batch.number + 1, examples.batches()));
    return {};
  }

  Network& network() { return *lanes->first().network; }
  bool stops() {
    outcome.interrupted = outcome.interrupted || (observer.stop && observer.stop());
    return outcome.interrupted;
  }
  /// `ofMethod`: how many points of the method at hand there are.
  void tell(const Method& method, std::int64_t ofMethod, const std::string& what) const {
    if (observer.progress) {
      observer.progress(pointsBefore + ofMethod, examples.total() * std::ssize(methods),
                        fmt::format("{}, {}", method.text, what));
    }
  }

  measure::EnergyMeter meter;
  const Plan plan;             ///< without energy, where the meter has none
  const std::string noEnergy;  ///< as Series
  const data::Dataset& dataset;
  const Victim& victim;
  const std::vector<Method>& methods;
  const Keeping& keeping;
  const Observer& observer;
  const Examples examples;
  std::optional<KeptPoints> kept;
  std::optional<Lanes> lanes;
  std::vector<std::vector<Answer>> clean;  ///< by batch; empty: not asked yet
  std::int64_t pointsBefore = 0;           ///< of the methods before the one at hand
  Outcome outcome;
};

}  // namespace

tl::expected<Outcome, Failure> run(const Plan& plan, const data::Dataset& dataset, const Victim& victim,
                                   const std::vector<Method>& methods, const Keeping& keeping, const Observer& observer) {
  return Run(plan, dataset, victim, methods, keeping, observer).run();
}

}  // namespace tbem::perturb
