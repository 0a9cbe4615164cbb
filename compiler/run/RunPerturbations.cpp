#include "compiler/run/RunPerturbations.h"

#include "compiler/backends/Algorithms.h"
#include "compiler/count/Flops.h"
#include "compiler/experiment/Identity.h"
#include "compiler/graph/ir/Branches.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/support/Interrupts.h"
#include "runtime/perturb/Summary.h"
#include "runtime/train/Checkpoint.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// What an example costs in each branch of the network; empty without gates.
std::vector<double> branchFlops(const graph::Row& victim, std::int64_t batch) {
  const auto flops = estimate::countFlops(victim.graph(), victim.values);
  if (!flops || !flops->gated) return {};
  std::vector<double> ofExample;
  for (const estimate::Count count : flops->byBranch) ofExample.push_back(estimate::toDouble(count) / static_cast<double>(batch));
  return ofExample;
}

/// By gate, in program order: what the side with a false condition computes more than the other one, in FLOPs of an example;
/// below 0 where it computes less. An exit's other side computes nothing.
std::vector<double> gateCosts(const graph::Graph& graph, const std::vector<double>& flops) {
  const graph::Branches branches = graph::branchesOf(graph);
  std::vector<double> costs;
  for (std::uint32_t id = 0; id < graph.ops.size(); ++id) {
    const graph::OpKind kind = graph.ops[id].kind;
    if (kind != graph::OpKind::Skip && kind != graph::OpKind::Exit) continue;
    costs.push_back(flops[branches.whereFalse[id]] - flops[branches.whereTrue[id]]);
  }
  return costs;
}

/// Native code of a perturbation's graphs, which run in one arena. A list: methods point to their executables.
struct CompiledPerturbation {
  std::list<jit::Compiled> code;
  perturb::Victim victim;
  std::vector<perturb::Method> methods;
};

/// Compiles one perturbation. One class: the functions are linked together, in one order.
class PerturbationCompiler {
public:
  PerturbationCompiler(State& state, const PerturbationRun& run) : state(state), run(run) {}

  tl::expected<CompiledPerturbation, Failed> compile() {
    if (state.sink().hasErrors()) return failed(kProgramErrors);
    add(run.victim.get(), "the network");
    add(run.single.get(), "the network on one example");
    for (const MethodRun& method : run.methods) {
      add(method.learner.get(), fmt::format("the learning of `{}`", method.spec.text));
      add(method.mover.get(), fmt::format("`{}`", method.spec.text));
    }
    const auto linked = estimate::link(std::move(functions));
    if (!linked) return failed(kRunFailed, fmt::format("perturb {}: {}", run.spec.decl->name.text, linked.error()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto code = compileRow(*rows[i]->elaborated, linked->programs[i], {});
      if (!code) return failed(kEnvironment, code.error());
      made.code.push_back(std::move(*code));
    }
    next = made.code.begin();
    describeVictim();
    for (const MethodRun& method : run.methods) describe(method);
    return std::move(made);
  }

private:
  void add(const DesignRun* of, std::string name) {
    if (of == nullptr) return;
    const RowState& row = *rows.emplace_back(state.rowOf(of));
    functions.push_back({std::move(name), &row.elaborated->graph(), *row.program});
  }

  /// In the order of `add`.
  const runtime::Executable* take() { return &(next++)->executable; }

  const graph::Row& elaborated(const DesignRun* of) { return *state.rowOf(of)->elaborated; }

  void describeVictim() {
    const graph::Row& row = elaborated(run.victim.get());
    perturb::Victim& victim = made.victim;
    victim.backend = state.backend.backend;
    victim.batch = take();
    if (run.single != nullptr) victim.single = take();
    victim.input = run.training->spec.network->tensors.front().name.text;
    victim.classAxis = graph::classAxis(run.training->spec, row, run.training->shape);
    victim.branchFlops = branchFlops(row, run.plan.batch);
    const auto flops = estimate::countFlops(row.graph(), row.values);
    victim.least = estimate::toDouble(flops->least.forward) / static_cast<double>(run.plan.batch);
    victim.most = estimate::toDouble(flops->most.forward) / static_cast<double>(run.plan.batch);
  }

  void describe(const MethodRun& of) {
    std::optional<perturb::Learning> learning;
    if (of.learner != nullptr) {
      learning.emplace();
      learning->step = take();
      learning->seed = made.victim.input + ".seed";
      learning->epochs = of.spec.epochs;
      learning->count = of.spec.examples.value_or(run.about.train);
    }
    made.methods.push_back(methodOf(of.spec, made.victim.input, take()));
    made.methods.back().learning = learning;
  }

  State& state;
  const PerturbationRun& run;
  std::vector<const RowState*> rows;
  std::vector<estimate::Function> functions;
  CompiledPerturbation made;
  std::list<jit::Compiled>::iterator next;
};

/// Hash of all numbers of the network.
std::string hashOf(const train::Snapshot& weights) {
  std::string bytes;
  for (const train::Snapshot::Entry& entry : weights.entries) {
    bytes += entry.path;
    bytes.append(reinterpret_cast<const char*>(entry.value.data.data()), entry.value.data.size());
  }
  return jit::hashKey(bytes);
}

/// Hash of all that decides what the method finds near an example: not how many examples there are.
std::string identityOf(State& state, const PerturbationRun& run, const MethodRun& method, const std::string& weights,
                       std::uint64_t fingerprint) {
  const perturb::Plan& plan = run.plan;
  const tbem_device_info& device = state.backend.device;
  std::string text = fmt::format("perturb 1;{};{};{};{:016x};{};{};{};{};{};{};{};{};{};{} {} {};{}", run.victim->spec.name,
                                 weights, state.backendName, fingerprint, static_cast<int>(plan.split), plan.batch, plan.seed,
                                 static_cast<int>(plan.norm), plan.radius, plan.low, plan.high, plan.keepLabel, plan.repeats,
                                 device.name, device.isa, device.library, threadsOf(state.request.target, device));
  text += fmt::format(";{};{};{};{}", method.spec.steps, method.spec.look, method.spec.epochs,
                      method.spec.examples.value_or(run.about.train));
  for (const DesignRun* of : {run.victim.get(), method.learner.get(), method.mover.get()}) {
    if (of == nullptr) continue;
    const RowState& row = *state.rowOf(of);
    text +=
        ";" + graphIdentity(row.elaborated->structure->graph, row.elaborated->values) + algorithmsText(*row.program, of->tuning);
  }
  return jit::hashKey(text);
}

/// What a perturbation reads before it searches.
struct Given {
  train::Snapshot weights;
  std::unique_ptr<data::Dataset> dataset;
  std::vector<std::string> identities;  ///< of its methods
};
/// Errors: in words.
tl::expected<Given, std::string> readGiven(State& state, const PerturbationRun& run, const std::string& path) {
  auto checkpoint = train::readCheckpoint(path);
  if (!checkpoint) return tl::unexpected(std::move(checkpoint).error());
  if (!*checkpoint) return tl::unexpected(fmt::format("there are no weights at `{}`", path));
  auto dataset = run.reader->open(run.settings);
  if (!dataset) return tl::unexpected(std::move(dataset).error());
  Given given{std::move((*checkpoint)->now), std::move(*dataset), {}};
  const std::string weights = hashOf(given.weights);
  for (const MethodRun& method : run.methods)
    given.identities.push_back(identityOf(state, run, method, weights, given.dataset->fingerprint()));
  return given;
}

perturb::Observer observerOf(RunEvents& events, const PerturbationRun& run, const perturb::Victim& victim,
                             const std::function<bool()>& stop) {
  perturb::Observer observer;
  observer.begins = [&](const perturb::Method& method) { events.methodBegins(run, method); };
  observer.ends = [&](const perturb::Method&, const perturb::Series& series) {
    events.methodEnds(run, series, perturb::summarise(series, victim));
  };
  observer.progress = [&](std::int64_t done, std::int64_t total, const std::string& what) {
    events.perturbing(run, done, total, what);
  };
  observer.stop = stop;
  return observer;
}

}  // namespace

bool weighGates(std::span<DesignRun* const> searches, const graph::Row& network, std::int64_t batch) {
  const std::vector<double> flops = branchFlops(network, batch);
  if (flops.empty()) return false;
  const std::vector<double> costs = gateCosts(network.graph(), flops);
  double all = 0;
  for (const double cost : costs) all += std::abs(cost);
  constexpr std::int64_t kParts = 1'000'000;
  for (DesignRun* search : searches) {
    if (search == nullptr) continue;
    std::vector<Rational>& shares = search->spec.search->shares;
    shares.clear();
    for (const double cost : costs) shares.push_back(all > 0 ? Rational{std::llround(cost / all * kParts), kParts} : Rational{1});
  }
  return true;
}

perturb::Method methodOf(const graph::MethodSpec& spec, const std::string& input, const runtime::Executable* mover) {
  perturb::Method method;
  method.word = spec.word;
  method.text = spec.text;
  method.mover = mover;
  const graph::SearchSpec& search = spec.search;
  method.seed = input + ".seed";
  if (!search.generates() && search.objective != graph::Objective::None) method.point = input;
  if (search.keep.num != 0) method.label = input + ".label";
  for (std::uint32_t i = 0; i < search.states; ++i) method.states.push_back(fmt::format("{}.state[{}]", input, i));
  method.steps = spec.steps;
  method.look = spec.look;
  return method;
}

Perturbed runPerturbation(RunEvents& events, State& state, const PerturbationRun& perturbation,
                          const PerturbationPlaces& places) {
  const std::string title = "perturb " + perturbation.spec.decl->name.text;
  Perturbed done{&perturbation, failed(kEnvironment), 0, 0, {}};
  const auto fails = [&](ExitCode status, const std::string& why) {
    done.outcome = failed(status, fmt::format("{}: {}", title, why));
    return std::move(done);
  };
  const Interruptible run(state.request.interrupts);
  auto code = PerturbationCompiler(state, perturbation).compile();
  if (!code) {
    done.outcome = tl::unexpected(std::move(code).error());
    return done;
  }
  const auto given = readGiven(state, perturbation, places.checkpoint);
  if (!given) return fails(kEnvironment, given.error());
  for (std::size_t i = 0; i < code->methods.size(); ++i) code->methods[i].identity = given->identities[i];
  perturb::Victim& victim = code->victim;
  victim.weights = &given->weights;
  done.least = victim.least;
  done.most = victim.most;
  events.perturbationBegins(perturbation, victim);
  auto outcome = perturb::run(perturbation.plan, *given->dataset, victim, code->methods, {places.store, places.fresh},
                              observerOf(events, perturbation, victim, [&] { return places.storedOnly || run.isToEnd(); }));
  events.perturbationEnds(perturbation, outcome ? &*outcome : nullptr);
  if (!outcome)
    return fails(outcome.error().kind == perturb::Failure::Kind::Run ? kRunFailed : kEnvironment, outcome.error().message);
  for (const perturb::Series& series : outcome->series) done.summaries.push_back(perturb::summarise(series, victim));
  const bool certifies = perturbation.spec.certifies && !outcome->interrupted && !places.storedOnly;
  done.outcome = std::move(*outcome);
  if (!certifies) return done;
  const graph::Row& network = *state.rowOf(perturbation.single.get())->elaborated;
  auto certified =
      certify(perturbation, network, weights, **dataset, *done.outcome, [&](std::int64_t example, std::int64_t total) {
        events.perturbing(perturbation, example, total, "certify");
        return !run.isToEnd();
      });
  if (!certified) return fails(kRunFailed, "certify: " + certified.error());
  certified->most = victim.most;
  events.certified(perturbation, *certified);
  done.certified = std::move(*certified);
  return done;
}

tl::expected<std::vector<std::string>, Failed> storedUnder(State& state, const PerturbationRun& perturbation,
                                                           const std::string& checkpoint) {
  auto given = readGiven(state, perturbation, checkpoint);
  if (given) return std::move(given->identities);
  return failed(kEnvironment, fmt::format("perturb {}: {}", perturbation.spec.decl->name.text, given.error()));
}

}  // namespace tbem::driver
