#include "runtime/perturb/Lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <system_error>
#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

Result<std::unique_ptr<runtime::Instance>> initialised(const runtime::Executable& executable, runtime::Arena& arena,
                                                       std::uint64_t seed) {
  auto instance = runtime::Instance::create(executable, arena);
  if (!instance) return failure(Kind::Environment, instance.error().message);
  if (auto done = (*instance)->initialise(seed); !done) return failure(Kind::Environment, done.error().message);
  return std::move(*instance);
}

namespace {

Result<Lane> laneIn(std::unique_ptr<runtime::Arena> arena, const Victim& victim) {
  auto network = Network::create(victim, *victim.weights, *arena);
  if (!network) return tl::unexpected(network.error());
  return Lane{std::move(arena), std::move(*network), nullptr};
}

}  // namespace

Result<Lanes> Lanes::create(const Plan& plan, const Victim& victim, const std::vector<Method>& methods, std::int64_t batches) {
  std::vector<const runtime::Executable*> moving{victim.batch};
  for (const Method& method : methods) moving.push_back(method.mover);
  std::vector<const runtime::Executable*> all = moving;
  if (victim.single != nullptr) all.push_back(victim.single);
  for (const Method& method : methods) {
    if (method.learning) all.push_back(method.learning->step);
  }
  auto arena = runtime::Arena::create(all, *victim.backend);
  if (!arena) return failure(Kind::Environment, arena.error().message);
  auto first = laneIn(std::move(*arena), victim);
  if (!first) return tl::unexpected(first.error());
  Lanes made(plan, victim);
  made.lanes.push_back(std::move(*first));
  if (auto done = made.addOthers(moving, std::min(plan.sideBySide, batches) - 1); !done) return tl::unexpected(done.error());
  return made;
}

Result<void> Lanes::addOthers(std::span<const runtime::Executable* const> executables, std::int64_t count) {
  auto of = std::make_unique<Victim>(*victim);
  of->single = nullptr;
  beside = std::move(of);
  for (std::int64_t lane = 0; lane < count; ++lane) {
    auto arena = runtime::Arena::create(executables, *victim->backend);
    if (!arena) return {};  // no memory: what is found is the same with fewer
    auto next = laneIn(std::move(*arena), *beside);
    if (!next) return tl::unexpected(next.error());
    lanes.push_back(std::move(*next));
  }
  return {};
}

Result<void> Lanes::takeUp(const Method& method) {
  for (Lane& lane : lanes) {
    auto mover = initialised(*method.mover, *lane.arena, plan->seed);
    if (!mover) return tl::unexpected(mover.error());
    lane.mover = std::move(*mover);
  }
  return {};
}

Result<void> Lanes::giveWeights(const Method& method) {
  for (Lane& lane : lanes) {
    if (auto done = lane.network->giveWeights(); !done) return done;
  }
  if (!method.learning || lanes.size() == 1) return {};
  const auto learned = train::take(*lanes.front().mover, false);
  if (!learned) return failure(Kind::Run, learned.error());
  for (Lane& lane : std::span(lanes).subspan(1)) {
    if (auto done = train::give(*learned, *lane.mover); !done) return failure(Kind::Run, done.error());
  }
  return {};
}

Result<std::vector<Answer>> Lanes::cleanAnswers(Network& network, const Batch& batch) const {
  auto answers = network.ask(batch.inputs);
  if (!answers) return tl::unexpected(answers.error());
  for (std::size_t i = 0; victim->classAxis && i < answers->size(); ++i) {
    if ((*answers)[i].prediction < 0)
      return failure(Kind::Run, fmt::format("the network's outputs for example {} are not numbers", batch.examples[i]));
  }
  return answers;
}

void Lanes::search(Lane& lane, const Method& method, Work& work, const std::function<bool(std::int64_t step)>& next) const {
  if (work.clean.empty()) {
    auto answers = cleanAnswers(*lane.network, work.batch);
    if (!answers) {
      work.found = tl::unexpected(answers.error());
      return;
    }
    work.clean = std::move(*answers);
  }
  const auto start = std::chrono::steady_clock::now();
  Search search(*plan, method, *lane.network, *lane.mover);
  work.found = search.run(work.batch, work.clean, next);
  work.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void Lanes::search(const Method& method, std::span<Work> work, const std::function<void(std::int64_t step)>& tell,
                   const std::function<bool()>& stops) {
  if (work.empty()) return;
  constexpr std::chrono::milliseconds kLook(50);
  std::atomic<bool> ends = false;
  const auto goesOn = [&] {
    if (stops()) ends = true;
    return !ends;
  };
  std::vector<std::future<void>> others;  // behind what they use: they are waited for before that goes
  std::vector<std::size_t> left;          // that no thread could be started for
  const auto other = [&](std::size_t i) { search(lanes[i], method, work[i], [&ends](std::int64_t) { return !ends; }); };
  for (std::size_t i = 1; i < work.size(); ++i) {
    try {
      others.push_back(std::async(std::launch::async, [&other, i] { other(i); }));
    } catch (const std::system_error&) {
      left.push_back(i);
    }
  }
  const auto here = [&](std::size_t i) {
    search(lanes[i], method, work[i], [&](std::int64_t step) {
      tell(step);
      return goesOn();
    });
  };
  try {
    here(0);
    for (const std::size_t i : left) here(i);
  } catch (...) {
    ends = true;
    throw;
  }
  for (std::future<void>& each : others) {
    while (each.wait_for(kLook) != std::future_status::ready) goesOn();
    each.get();
  }
}

}  // namespace tbem::perturb
