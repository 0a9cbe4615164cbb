#include "runtime/train/Turns.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace tbem::train {

using Kind = TrainFailure::Kind;

namespace {

tl::unexpected<TrainFailure> failure(Kind kind, std::string message) {
  return tl::unexpected(TrainFailure{kind, std::move(message)});
}

/// One step on the batch, the `number`-th of its turn from 1. Returns its loss.
tl::expected<double, TrainFailure> stepOf(runtime::Instance& instance, const Feed& batch, std::int64_t number) {
  if (auto done = batch.write(instance); !done) return failure(Kind::Environment, done.error());
  if (auto done = instance.run(static_cast<std::uint64_t>(number)); !done) return failure(Kind::Run, done.error().message);
  const auto loss = instance.read(instance.executable().loss);
  if (!loss) return failure(Kind::Run, loss.error().message);
  return loss->doubles().front();
}

}  // namespace

tl::expected<Turns, TrainFailure> Turns::create(const Plan& plan, const Machine& machine, runtime::Arena& arena) {
  Turns turns(plan);
  for (const Turn& turn : machine.turns) {
    auto instance = runtime::Instance::create(*turn.step, arena);
    if (!instance) return failure(Kind::Environment, instance.error().message);
    if (auto done = (*instance)->initialise(plan.seed); !done) return failure(Kind::Environment, done.error().message);
    turns.all.push_back({&turn, std::move(*instance)});
  }
  return turns;
}

tl::expected<void, TrainFailure> Turns::run(const Feed& batch, std::int64_t epoch, std::int64_t step, Tally& tally) {
  if (all.empty()) return {};
  tally.turns.resize(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    AtWork& work = all[k];
    for (const auto& [slot, own] : work.turn->rates) work.instance->scalars()[slot] = own * plan->schedule.at(step);
    double sum = 0;
    for (std::int64_t i = 0; i < work.turn->repeat; ++i) {
      const auto loss = stepOf(*work.instance, batch, step * work.turn->repeat + i + 1);
      if (!loss) return tl::unexpected(loss.error());
      sum += *loss;
    }
    const double mean = sum / static_cast<double>(work.turn->repeat);
    if (!std::isfinite(mean)) return notFinite(fmt::format("the loss of turn {} in step", k + 1), step + 1, epoch + 1, mean);
    tally.turns[k] += mean;
  }
  ++tally.steps;
  return {};
}

tl::expected<void, std::string> Turns::addTo(Snapshot& snapshot) const {
  for (const AtWork& work : all) {
    auto own = take(*work.instance, true);
    if (!own) return tl::unexpected(own.error());
    for (Snapshot::Entry& entry : own->entries) {
      if (snapshot.find(entry.kind, entry.path) == nullptr) snapshot.entries.push_back(std::move(entry));
    }
  }
  return {};
}

tl::expected<void, std::string> Turns::giveFrom(const Snapshot& snapshot) {
  for (AtWork& work : all) {
    if (auto done = give(snapshot, *work.instance); !done) return done;
  }
  return {};
}

}  // namespace tbem::train
