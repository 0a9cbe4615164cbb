#include "compiler/run/RunPerturbations.h"

#include "compiler/backends/Algorithms.h"
#include "compiler/experiment/Identity.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/run/search/Searches.h"
#include "compiler/run/weights/WeightsHash.h"
#include "compiler/support/Interrupts.h"
#include "runtime/perturb/Stored.h"
#include "runtime/perturb/Summary.h"
#include "runtime/train/Checkpoint.h"

#include <fmt/format.h>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// What is known of a perturbation without native code: all but the executables of its victim and methods.
struct KnownPerturbation {
  train::Snapshot weights;
  std::string weightsHash;
  std::unique_ptr<data::Dataset> dataset;
  perturb::Victim victim;
  std::vector<std::string> gates;  ///< paths, in program order
  std::vector<perturb::Method> methods;
  const runtime::Executable* layer = nullptr;  ///< of a clause `detect`; native code as well
};

/// Native code of a perturbation's graphs, which run in one arena; the victim and the methods take it in the order in which it is
/// asked for.
tl::expected<std::list<jit::Compiled>, Failed> compile(State& state, const PerturbationRun& run, KnownPerturbation& into) {
  std::vector<NamedRow> rows;
  const auto add = [&](const DesignRun* of, std::string name) {
    if (of != nullptr) rows.push_back({std::move(name), state.rowOf(of)});
  };
  add(run.victim.get(), "the network");
  const bool alone = run.plan.repeats > 0 || run.plan.energySeconds > 0;  // certificates need its graph and no code
  if (alone) add(run.single.get(), "the network on one example");
  add(run.layer.get(), "the network with its first layer kept");
  for (const MethodRun& method : run.methods) {
    add(method.learner.get(), fmt::format("the learning of `{}`", method.spec.text));
    add(method.discriminator.get(), fmt::format("the discriminator of `{}`", method.spec.text));
    add(method.mover.get(), fmt::format("`{}`", method.spec.text));
  }
  auto code = compileTogether(rows, state.backend.device.isa);
  if (!code) return code;
  auto next = code->begin();
  const auto take = [&] { return &(next++)->executable; };
  into.victim.batch = take();
  if (alone) into.victim.single = take();
  if (run.layer != nullptr) into.layer = take();
  for (std::size_t m = 0; m < run.methods.size(); ++m) {
    perturb::Method& method = into.methods[m];
    if (run.methods[m].learner != nullptr) method.learning->step = take();
    if (run.methods[m].discriminator != nullptr) method.learning->discriminator = take();
    method.mover = take();
  }
  return code;
}

/// Hash of all that decides what the method finds near an example: not how many examples there are.
std::string identityOf(State& state, const PerturbationRun& run, const MethodRun& method, const std::string& weights,
                       std::uint64_t fingerprint) {
  const perturb::Plan& plan = run.plan;
  const tbem_device_info& device = state.backend.device;
  std::string text = fmt::format("perturb 1;{};{};{};{:016x};{};{};{};{};{};{};{};{};{};{} {} {};{}", run.victim->spec.name,
                                 weights, state.backendName, fingerprint, static_cast<int>(plan.split), plan.batch, plan.seed,
                                 static_cast<int>(plan.norm), plan.radius, plan.low, plan.high, plan.keepLabel, plan.repeats,
                                 device.name, device.isa, device.library, state.rowOf(run.victim.get())->program->threads);
  // A batch has one thread; what is learned, or measured of an example alone, has all.
  const bool usesAll = method.learner != nullptr || plan.repeats > 0 || plan.energySeconds > 0;
  const int threads = threadsOf(state.request.target, device);
  if (run.victim->oneThread && usesAll && threads > 1) text += fmt::format(";threads {}", threads);
  if (plan.energySeconds > 0) text += fmt::format(";energy {}", plan.energySeconds);
  text += fmt::format(";{};{};{};{}", method.spec.steps, method.spec.look, method.spec.epochs,
                      method.spec.examples.value_or(run.about.train));
  for (const DesignRun* of : {run.victim.get(), method.learner.get(), method.discriminator.get(), method.mover.get()}) {
    if (of == nullptr) continue;
    const RowState& row = *state.rowOf(of);
    text +=
        ";" + graphIdentity(row.elaborated->structure->graph, row.elaborated->values) + algorithmsText(*row.program, of->tuning);
  }
  return jit::hashKey(text);
}

bool hasOwnCode(const RowState& row) {
  return std::ranges::any_of(row.elaborated->graph().ops, [](const graph::Op& op) { return !op.own.symbol.empty(); });
}

/// How many batches are searched at once: one for each thread, but no more than half of the machine's memory has arenas for. Own
/// code need not expect it.
std::int64_t searchedAtOnce(State& state, const PerturbationRun& run, const std::list<jit::Compiled>& code) {
  if (!run.victim->oneThread || hasOwnCode(*state.rowOf(run.victim.get()))) return 1;
  if (std::ranges::any_of(run.methods, [&](const MethodRun& of) { return hasOwnCode(*state.rowOf(of.mover.get())); })) return 1;
  std::uint64_t arena = 1;
  for (const jit::Compiled& each : code) arena = std::max(arena, each.executable.arena);
  const std::uint64_t room = std::max<std::uint64_t>(1, state.backend.device.memory / 2 / arena);
  const int threads = threadsOf(state.request.target, state.backend.device);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(room, static_cast<std::uint64_t>(threads)));
}

perturb::Victim victimOf(State& state, const PerturbationRun& run) {
  const graph::Row& row = *state.rowOf(run.victim.get())->elaborated;
  perturb::Victim victim;
  victim.backend = state.backend.backend;
  victim.input = run.training->spec.network->tensors.front().name.text;
  victim.classAxis = graph::classAxis(run.training->spec, row, run.training->shape);
  takeFlops(victim, row, run.plan.batch);
  return victim;
}

/// As the victim's executable names them.
std::vector<std::string> gatesOf(const estimate::Program& victim) {
  std::vector<std::string> gates;
  for (const auto& branch : victim.branches) {
    if (branch.gate != graph::kNoOp && std::ranges::find(gates, branch.path) == gates.end()) gates.push_back(branch.path);
  }
  return gates;
}

/// Reads what it is of: weights, data, and by these the identities of its points.
tl::expected<KnownPerturbation, Failed> know(State& state, const PerturbationRun& run, const std::string& path) {
  if (state.sink().hasErrors()) return failed(kProgramErrors);
  if (path.empty()) return failed(kUsage, kNoWeights);
  auto checkpoint = train::readCheckpoint(path);
  if (!checkpoint) return failed(kEnvironment, checkpoint.error());
  if (!*checkpoint) return failed(kEnvironment, fmt::format("there are no weights at `{}`", path));
  KnownPerturbation known;
  known.weights = std::move((*checkpoint)->now);
  auto dataset = run.reader->open(run.settings);
  if (!dataset) return failed(kEnvironment, dataset.error());
  known.dataset = std::move(*dataset);
  known.victim = victimOf(state, run);
  known.gates = gatesOf(*state.rowOf(run.victim.get())->program);
  known.weightsHash = hashOf(known.weights);
  for (const MethodRun& of : run.methods) {
    perturb::Method& method = known.methods.emplace_back(methodOf(of.spec, known.victim.input, nullptr));
    method.identity = identityOf(state, run, of, known.weightsHash, known.dataset->fingerprint());
    method.learning = learningOf(of.spec, known.victim.input, run.about.train);
  }
  return known;
}

perturb::Observer observerOf(RunEvents& events, const PerturbationRun& perturbation, const perturb::Victim& victim,
                             const Interruptible& run) {
  perturb::Observer observer;
  observer.begins = [&](const perturb::Method& method) { events.methodBegins(perturbation, method); };
  observer.ends = [&](const perturb::Method&, const perturb::Series& series) {
    events.methodEnds(perturbation, series, perturb::summarise(series, victim));
  };
  observer.progress = [&](std::int64_t done, std::int64_t total, const std::string& what) {
    events.perturbing(perturbation, done, total, what);
  };
  observer.stop = [&run] { return run.isToEnd(); };
  return observer;
}

Failed failureOf(const perturb::Failure& failure) {
  return {failure.kind == perturb::Failure::Kind::Run ? kRunFailed : kEnvironment, {failure.message}};
}

/// Of a perturbation with a clause `certify`.
Certifying certifyingOf(State& state, const PerturbationRun& run, const KnownPerturbation& known) {
  const graph::Row& network = *state.rowOf(run.single.get())->elaborated;
  // On a card, too, the host computes bounds.
  const bool onHost = state.backend.backend->device == nullptr;
  const int threads = onHost ? threadsOf(state.request.target, state.backend.device)
                             : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  Certifying of{run, network, known.weights, *known.dataset, known.victim.branchFlops, threads, {}};
  of.identity = certificateIdentity(of, known.weightsHash);
  return of;
}

constexpr std::size_t kPictured = 4;  // examples on a page

/// [channels, height, width], grey or in colours.
bool isImage(const std::vector<std::int64_t>& shape) { return shape.size() == 3 && (shape[0] == 1 || shape[0] == 3); }

/// What a page shows of stored points.
tl::expected<std::vector<perturb::Pictured>, perturb::Failure> picturedOf(const perturb::Plan& plan,
                                                                          const KnownPerturbation& known,
                                                                          const std::vector<perturb::Series>& series,
                                                                          const std::string& store) {
  auto pictured = perturb::pictured(plan, *known.dataset, series, kPictured);
  if (!pictured) return pictured;
  if (auto done = perturb::readPoints(plan, series, known.methods, store, *pictured); !done) return tl::unexpected(done.error());
  return pictured;
}

/// The same with what it is of before each message.
Failed named(const PerturbationRun& perturbation, Failed failure) {
  for (std::string& message : failure.messages)
    message = fmt::format("perturb {}: {}", perturbation.spec.decl->name.text, message);
  return failure;
}

}  // namespace

void spreadSearch(const State& state, PerturbationRun& run) {
  if (state.backend.backend->device != nullptr) return;
  run.victim->oneThread = true;
  for (const MethodRun& method : run.methods) method.mover->oneThread = true;
}

Perturbed runPerturbation(RunEvents& events, State& state, const PerturbationRun& perturbation,
                          const PerturbationPlaces& places) {
  Perturbed done{&perturbation, failed(kEnvironment), 0, 0, {}, {}};
  const auto fails = [&](Failed why) {
    done.outcome = tl::unexpected(named(perturbation, std::move(why)));
    return std::move(done);
  };
  const Interruptible run(state.request.interrupts);
  auto known = know(state, perturbation, places.checkpoint);
  if (!known) return fails(std::move(known).error());
  const auto code = compile(state, perturbation, *known);
  if (!code) return fails(code.error());
  // Told before a search that may take hours.
  if (const std::string why = whyNoDetector(perturbation, known->layer); !why.empty())
    return fails({kEnvironment, {"detect: " + why}});
  perturb::Victim& victim = known->victim;
  victim.weights = &known->weights;
  done.least = victim.least;
  done.most = victim.most;
  events.perturbationBegins(perturbation, victim);
  perturb::Plan plan = perturbation.plan;
  plan.sideBySide = searchedAtOnce(state, perturbation, *code);
  auto outcome = perturb::run(plan, *known->dataset, victim, known->methods, {places.store, places.fresh},
                              observerOf(events, perturbation, victim, run));
  events.perturbationEnds(perturbation, outcome ? &*outcome : nullptr);
  if (!outcome) return fails(failureOf(outcome.error()));
  for (const perturb::Series& series : outcome->series) done.summaries.push_back(perturb::summarise(series, victim));
  done.outcome = std::move(*outcome);
  if (done.outcome->interrupted) return done;
  const auto goesOn = [&](std::int64_t at, std::int64_t total, const std::string& what) {
    events.perturbing(perturbation, at, total, what);
    return !run.isToEnd();
  };
  if (perturbation.plan.keepInputs) {
    const RowState* layer = state.rowOf(perturbation.layer.get());
    auto defences = defend(perturbation, {layer != nullptr ? &layer->elaborated->graph() : nullptr, known->layer},
                           {perturbation.plan, *known->dataset, victim, done.outcome->series}, goesOn);
    if (!defences) return fails(failureOf(defences.error()));
    for (perturb::Series& each : done.outcome->series) each.inputs = {};  // nobody else asks for them
    done.outcome->interrupted = !defences->stoppedIn.empty();
    done.defences = std::move(*defences);
    events.defended(perturbation, done.defences, done.summaries.front());
  }
  const bool certifies = perturbation.spec.certifies && !done.outcome->interrupted;
  if (!certifies) return done;
  auto certified = certify(certifyingOf(state, perturbation, *known), *done.outcome, {places.store, places.fresh},
                           [&](std::int64_t example, std::int64_t total) { return goesOn(example, total, "certify"); });
  if (!certified) return fails(failureOf({certified.error().kind, "certify: " + certified.error().message}));
  certified->most = victim.most;
  events.certified(perturbation, *certified);
  done.certified = std::move(*certified);
  return done;
}

tl::expected<std::vector<std::string>, Failed> storedUnder(State& state, const PerturbationRun& perturbation,
                                                           const std::string& checkpoint) {
  const auto known = know(state, perturbation, checkpoint);
  if (!known) return tl::unexpected(named(perturbation, known.error()));
  std::vector<std::string> identities;
  for (const perturb::Method& method : known->methods) identities.push_back(method.identity);
  return identities;
}

Perturbed storedPerturbation(State& state, const PerturbationRun& perturbation, const PerturbationPlaces& places) {
  Perturbed done{&perturbation, failed(kEnvironment), 0, 0, {}, {}};
  const auto known = know(state, perturbation, places.checkpoint);
  if (!known) {
    done.outcome = tl::unexpected(named(perturbation, known.error()));
    return done;
  }
  done.least = known->victim.least;
  done.most = known->victim.most;
  auto all = perturb::stored(perturbation.plan, known->gates, known->methods, places.store);
  if (all && isImage(perturbation.about.inputs.front().shape)) {
    auto pictured = picturedOf(perturbation.plan, *known, *all, places.store);
    if (pictured)
      done.pictured = std::move(*pictured);
    else
      all = tl::unexpected(pictured.error());
  }
  if (!all) {
    done.outcome = tl::unexpected(named(perturbation, failureOf(all.error())));
    return done;
  }
  for (const perturb::Series& series : *all) done.summaries.push_back(perturb::summarise(series, known->victim));
  done.outcome = perturb::Outcome{std::move(*all)};
  if (!perturbation.spec.certifies) return done;
  auto certified = storedCertificates(certifyingOf(state, perturbation, *known), *done.outcome, known->gates, places.store);
  if (!certified) {
    done.uncertified = named(perturbation, failureOf({certified.error().kind, "certify: " + certified.error().message}));
    return done;
  }
  certified->most = done.most;
  done.certified = std::move(*certified);
  return done;
}

}  // namespace tbem::driver
