#include "compiler/run/examples/Attacks.h"

#include "compiler/experiment/Identity.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/run/search/Searches.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// False after a report.
bool elaborate(Workspace& workspace, const Target& target, MeasuredExamples& examples, const DesignRun& run, std::size_t row,
               const graph::Row& network) {
  if (!makeAttackGraphs(workspace, target, examples, run, row, network)) return false;
  RowAttack& attack = examples.attacks.at(row);
  const std::array searches{attack.learner.get(), attack.discriminator.get(), attack.mover.get()};
  if (!weighGates(searches, network, attack.plan.batch)) {
    reportNoGates(workspace.session.sink, attack.spec.method.range, network, attack.plan.batch);
    return false;
  }
  if (attack.learner != nullptr) attack.learned = elaborateRow(*attack.learner, 0);
  if (attack.discriminator != nullptr) attack.told = elaborateRow(*attack.discriminator, 0);
  attack.moved = elaborateRow(*attack.mover, 0);
  return attack.moved && (attack.learner == nullptr || attack.learned) && (attack.discriminator == nullptr || attack.told);
}

}  // namespace

bool elaborateAttack(Workspace& workspace, const Target& target, MeasuredExamples& examples, const DesignRun& run,
                     std::size_t row, const graph::Row& network) {
  bool done = false;
  reportingAt(workspace.session.sink, *examples.attackClause, run, row,
              [&] { done = elaborate(workspace, target, examples, run, row, network); });
  return done;
}

const RowAttack* attackOn(const MeasuredExamples& examples, std::size_t row) {
  const auto attack = examples.attacks.find(row);
  return attack == examples.attacks.end() ? nullptr : &attack->second;
}

std::string identityOf(const RowAttack& attack, const data::Description& about) {
  const perturb::Plan& plan = attack.plan;
  const graph::MethodSpec& method = attack.spec.method;
  std::string text = fmt::format("attack 1;{};{};{};{};{};{};{};{};{};{};{}", plan.batch, plan.seed, static_cast<int>(plan.norm),
                                 plan.radius, plan.low, plan.high, plan.keepLabel, method.steps, method.look, method.epochs,
                                 method.examples.value_or(about.train));
  for (const auto* row : {&attack.learned, &attack.told, &attack.moved}) {
    if (*row) text += ";" + graphIdentity((*row)->structure->graph, (*row)->values);
  }
  return jit::hashKey(text);
}

tl::expected<std::list<jit::Compiled>, std::string> compileBeside(RowTable& table, const RowState& network,
                                                                  const RowAttack* attack) {
  std::list<RowState> beside;
  std::vector<NamedRow> rows{{"the network", &network}};
  const auto add = [&](const char* name, DesignRun* run, const std::optional<graph::Row>& row) -> std::optional<std::string> {
    if (run == nullptr) return std::nullopt;
    auto lowered = table.loweredBeside(*rows.back().row, *run, *row);
    if (!lowered) return fmt::format("{} cannot be lowered ({})", name, info(lowered.error().kind).code);
    rows.push_back({name, &beside.emplace_back(std::move(*lowered))});
    return std::nullopt;
  };
  if (attack != nullptr) {
    auto why = add("what it learns", attack->learner.get(), attack->learned);
    if (!why) why = add("its discriminator", attack->discriminator.get(), attack->told);
    if (!why) why = add("its attack", attack->mover.get(), attack->moved);
    if (why) return tl::unexpected(std::move(*why));
  }
  auto code = compileTogether(rows, table.backend(network.backend).device.isa);
  if (!code) return tl::unexpected(std::move(code.error().messages.front()));
  return std::move(*code);
}

tl::expected<std::optional<perturb::Summary>, std::string> runAttack(const RowAttack& attack, const MeasuredExamples& examples,
                                                                     const data::Dataset& dataset, const perturb::Victim& victim,
                                                                     const std::list<jit::Compiled>& code,
                                                                     const ExampleProgress& progress) {
  const graph::MethodSpec& spec = attack.spec.method;
  std::vector<perturb::Method> methods{methodOf(spec, victim.input, &code.back().executable)};
  methods.front().learning = learningOf(spec, victim.input, examples.about.train);
  if (auto& learning = methods.front().learning) {
    learning->step = &std::next(code.begin())->executable;
    if (attack.discriminator != nullptr) learning->discriminator = &std::next(code.begin(), 2)->executable;
  }
  bool goesOn = true;
  perturb::Observer observer;
  observer.progress = [&](std::int64_t done, std::int64_t total, const std::string& what) {
    goesOn = progress(what + ", point", done, total);
  };
  observer.stop = [&] { return !goesOn; };
  const auto outcome = perturb::run(attack.plan, dataset, victim, methods, {}, observer);
  if (!outcome) return tl::unexpected(outcome.error().message);
  if (outcome->interrupted) return std::optional<perturb::Summary>();
  return std::optional(perturb::summarise(outcome->series.front(), victim));
}

}  // namespace tbem::driver
