#include "compiler/driver/NetworkProofs.h"

#include "compiler/driver/JsonNumber.h"
#include "compiler/driver/LevelProofs.h"
#include "compiler/driver/NetworkTrial.h"
#include "compiler/support/Aside.h"
#include "compiler/support/diagnostics/Specification.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tbem::driver {

namespace {

constexpr std::size_t kMaxCombinations = 64;

std::string valuesText(const spec::SizeBreach& breach) {
  std::string text;
  for (const auto& [name, value] : breach.values) text += (text.empty() ? "" : ", ") + name + " = " + value.str();
  return text.empty() ? "every size" : text;
}

class Prover {
public:
  Prover(State& state, const ast::Callable& network) : state(state), network(network) {}

  std::vector<NetworkProof> run() {
    std::string why;
    for (const int size : kTrialSizes) {
      const auto trial = trialOf(network, state.workspace->session.sources, size, TrialSizes::Factors);
      if (!trial) return {notLookedAt(trial.error())};
      std::unique_ptr<TrialDesign> design;
      const std::deque<Diagnostic> made = reportsOf(state.sink(), [&] {
        design = designOf(*state.workspace, *trial, state.options);
        if (design != nullptr) prove(*design);
      });
      if (!proofs.empty()) return std::move(proofs);
      if (why.empty()) why = made.empty() ? "nothing builds it with " + trial->sizes : made.front().message;
    }
    return {notLookedAt(why)};
  }

private:
  State& state;
  const ast::Callable& network;
  std::vector<NetworkProof> proofs;

  NetworkProof notLookedAt(std::string reason) const {
    NetworkProof one;
    one.network = &network;
    one.proof.verdict = spec::Verdict::Residual;
    one.reason = std::move(reason);
    return one;
  }

  void prove(TrialDesign& design) {
    std::set<const graph::Structure*> seen;
    LevelIndices levels(design.spec.factors.size(), 0);
    bool more = true;
    for (std::size_t count = 0; more && count < kMaxCombinations; ++count) {
      const graph::Structure* structure = design.experiment.structureAt(levels);
      if (structure != nullptr && seen.insert(structure).second) proofs.push_back(proveOne(design.spec, *structure));
      more = nextCombination(design.spec, levels);
    }
    if (proofs.empty())
      design.experiment.row(levels);  // says why
    else if (more)
      proofs.push_back(notLookedAt(fmt::format("more than {} combinations of its parameters", kMaxCombinations)));
  }

  NetworkProof proveOne(const graph::DesignSpec& spec, const graph::Structure& structure) const {
    NetworkProof made;
    made.network = &network;
    std::vector<spec::Domain> domains(structure.pool.symbolCount());
    std::vector<bool> fixed(spec.factors.size(), false);
    for (const auto& [factor, level] : structure.guards) {
      fixed[factor] = true;
      made.at += (made.at.empty() ? "" : ", ") + spec.factors[factor].name + " = " + spec.factors[factor].levels[level].text;
    }
    for (std::size_t symbol = 0; symbol < structure.symbolFactor.size(); ++symbol) {
      const std::uint32_t factor = structure.symbolFactor[symbol];
      domains[symbol] = domainOf(spec, factor, fixed[factor], structure);
      if (!fixed[factor]) made.sizes += (made.sizes.empty() ? "" : ", ") + spec.factors[factor].name;
    }
    made.proof = spec::proveSizes(structure, std::move(domains), spec.of->range);
    return made;
  }

  spec::Domain domainOf(const graph::DesignSpec& spec, std::uint32_t factor, bool isFixed,
                        const graph::Structure& structure) const {
    const std::vector<graph::Level>& levels = spec.factors[factor].levels;
    spec::Domain domain;
    domain.isReal = spec.factors[factor].isReal;
    if (isFixed) {
      const auto guard =
          std::find_if(structure.guards.begin(), structure.guards.end(), [&](const auto& one) { return one.first == factor; });
      domain.levels = {levels[guard->second].number.value_or(Rational{})};
    } else if (levels.size() > 1) {
      for (const graph::Level& level : levels) domain.levels.push_back(level.number.value_or(Rational{}));
      std::sort(domain.levels.begin(), domain.levels.end(),
                [](const Rational& a, const Rational& b) { return compare(a, b) < 0; });
    } else if (!spec.factors[factor].binds) {
      domain.low = 1;  // a size; a parameter without a default may be any whole number
    }
    return domain;
  }
};

/// Behind the results, where a clause may stand.
SrcRange behindResults(const ast::Callable& network) {
  const Loc end = network.results.back().range.end;
  return {end, end};
}

/// One note for each call; `told`: the calls that have one.
void report(State& state, const NetworkProof& proved, std::set<Loc>& told) {
  const std::string& name = proved.network->name.text;
  if (proved.proof.verdict == spec::Verdict::Vacuous)
    state.sink().report(diag::pre_unsatisfiable, proved.network->name.range, name);
  bool isFirst = true;
  for (const spec::SizeBreach& breach : proved.proof.breaches) {
    if (!told.insert(breach.use.begin).second) continue;
    Diagnostic& one = state.sink().report(diag::sizes_break, breach.use, breach.subject, breach.text, valuesText(breach), name);
    if (breach.range != breach.use) one.label(breach.range, "needed here");
    if (!proved.at.empty()) one.note("with " + proved.at);
    if (!isFirst || !proved.proof.remedy || proved.network->results.empty()) continue;
    isFirst = false;
    const spec::Remedy& remedy = *proved.proof.remedy;
    one.note(fmt::format("all of `{}` holds with `pre {}`{}", name, remedy.text,
                         remedy.isExact ? ", and at no other size" : "; it may leave out sizes that work"));
    one.fix(behindResults(*proved.network), "\n  pre " + remedy.text);
  }
}

std::string headline(const NetworkProof& proved) {
  std::string text = "network " + proved.network->name.text;
  if (!proved.at.empty()) text += " with " + proved.at;
  return text + ": " + word(proved.proof.verdict);
}

}  // namespace

std::vector<NetworkProof> proveNetworks(State& state, std::string_view only) {
  std::vector<NetworkProof> all;
  for (const ast::Callable* callable : state.workspace->all<ast::Callable>()) {
    if (callable->callable != ast::CallableKind::Network || (!only.empty() && callable->name.text != only)) continue;
    std::set<Loc> told;
    for (NetworkProof& one : Prover(state, *callable).run()) {
      report(state, one, told);
      all.push_back(std::move(one));
    }
  }
  return all;
}

void printNetworkProof(const State& state, const NetworkProof& proved) {
  const spec::SizeProof& proof = proved.proof;
  if (!state.options.json) {
    std::string text = headline(proved);
    if (!proved.reason.empty()) {
      text += ": " + proved.reason;
    } else {
      text += fmt::format(" for all {} ({} condition{})", proved.sizes.empty() ? "sizes" : proved.sizes, proof.conditions,
                          proof.conditions == 1 ? "" : "s");
    }
    fmt::print("{}\n", text);
    for (const spec::SizeBreach& breach : proof.breaches)
      fmt::print("  refuted  `{}`: `{}`: {}\n", breach.subject, breach.text, valuesText(breach));
    for (const spec::Doubt& doubt : proof.doubts)
      fmt::print("  residual `{}`: `{}`: {}; checked when it is built\n", doubt.subject, doubt.text, doubt.reason);
    if (proof.remedy) fmt::print("  holds with  pre {}\n", proof.remedy->text);
    return;
  }
  Json breaches = Json::array();
  for (const spec::SizeBreach& one : proof.breaches) {
    Json values = Json::object();
    for (const auto& [name, value] : one.values) values[name] = jsonNumber(value);
    breaches.push_back({{"subject", one.subject}, {"condition", one.text}, {"values", values}});
  }
  Json doubts = Json::array();
  for (const spec::Doubt& one : proof.doubts)
    doubts.push_back({{"subject", one.subject}, {"condition", one.text}, {"reason", one.reason}});
  Json fields = {{"network", proved.network->name.text},
                 {"at", proved.at},
                 {"sizes", proved.sizes},
                 {"verdict", word(proof.verdict)},
                 {"conditions", proof.conditions},
                 {"breaches", breaches},
                 {"checked_at_run_time", doubts}};
  if (proof.remedy) fields["pre"] = proof.remedy->text;
  if (!proved.reason.empty()) fields["reason"] = proved.reason;
  printJson("network", std::move(fields));
}

}  // namespace tbem::driver
