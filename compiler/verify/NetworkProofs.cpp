#include "compiler/verify/NetworkProofs.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/verify/LevelProofs.h"
#include "compiler/verify/NetworkTrial.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tbem::driver {

namespace {

constexpr std::size_t kMaxCombinations = 64;
/// Operators that a structure counts for that cannot be built.
constexpr std::size_t kUnbuilt = 100;

class Prover {
public:
  Prover(State& state, const TrialSubject& subject) : state(state), subject(subject) {}

  std::vector<NetworkProof> run() {
    if (state.proofs.isSpent()) return {notLookedAt(spec::Work::kReason)};
    std::string why;
    std::optional<NetworkProof> refuted;
    for (const std::size_t length : kTrialLengths) {
      for (const int size : kTrialSizes) {
        auto written = trialOf(subject, state.workspace->session.sources, size, TrialSizes::Factors, length);
        if (!written) return {notLookedAt(written.error())};
        trial = std::move(*written);
        std::unique_ptr<TrialDesign> design;
        const std::deque<Diagnostic> made = reportsOf(state.sink(), [&] {
          design = designOf(*state.workspace, trial, state.request.target);
          if (design != nullptr) prove(*design);
        });
        if (!proofs.empty()) return std::move(proofs);
        if (state.proofs.isSpent()) return {notLookedAt(spec::Work::kReason)};
        if (why.empty()) why = made.empty() ? "nothing builds it with " + trial.sizes : made.front().message;
        if (!refuted) refuted = refutedBy(made);
      }
      if (trial.lengths.empty()) break;
    }
    return {refuted ? std::move(*refuted) : notLookedAt(why)};
  }

private:
  State& state;
  const TrialSubject& subject;
  Trial trial;
  std::vector<NetworkProof> proofs;

  /// What a factor of the trial stands for.
  const std::string& nameOf(const std::string& factor) const {
    const auto element = trial.elements.find(factor);
    return element == trial.elements.end() ? factor : element->second;
  }

  /// Every word of the text that is a factor of the trial, as what it stands for.
  void nameElements(std::string& text) const {
    for (const auto& [factor, element] : trial.elements) {
      for (std::size_t at = findWord(text, factor); at != std::string::npos; at = findWord(text, factor, at + element.size()))
        text.replace(at, factor.size(), element);
    }
  }
  void nameElements(spec::SizeProof& proof) const {
    for (spec::SizeBreach& breach : proof.breaches) {
      nameElements(breach.text);
      for (auto& [name, value] : breach.values) name = nameOf(name);
    }
    for (spec::Doubt& doubt : proof.doubts) nameElements(doubt.text);
    if (proof.remedy) nameElements(proof.remedy->text);
  }

  NetworkProof proofOf() const {
    NetworkProof one;
    one.network = subject.callable;
    one.name = subject.call;
    return one;
  }

  NetworkProof notLookedAt(std::string reason) const {
    NetworkProof one = proofOf();
    one.proof.verdict = spec::Verdict::Residual;
    one.reason = std::move(reason);
    return one;
  }

  /// The sizes of the trial as values that refute: what breaks stands in a body, and is not what the network asks of its caller.
  std::optional<NetworkProof> refutedBy(const std::deque<Diagnostic>& made) const {
    const auto first =
        std::find_if(made.begin(), made.end(), [](const Diagnostic& one) { return one.severity == Severity::Error; });
    if (first == made.end() || !dependsOnSizes(first->kind) || trial.sizes.empty()) return std::nullopt;
    const Source* const within = state.workspace->session.sources.find(first->range.begin);
    if (within == nullptr || within->name == kTrialFile) return std::nullopt;
    NetworkProof one = proofOf();
    one.proof.verdict = spec::Verdict::Refuted;
    one.at = trial.lengths.empty() ? trial.sizes : trial.lengths + ", " + trial.sizes;
    one.reason = first->message;
    one.broken = *first;
    nameElements(one.at);
    nameElements(one.reason);
    return one;
  }

  void prove(TrialDesign& design) {
    std::set<const graph::Structure*> seen;
    LevelIndices levels(design.spec.factors.size(), 0);
    bool more = true;
    for (std::size_t count = 0; more && count < kMaxCombinations; ++count) {
      if (state.proofs.isSpent()) {
        proofs.push_back(notLookedAt(spec::Work::kReason));
        return;
      }
      const graph::Structure* structure = design.experiment.structureAt(levels);
      state.proofs.spend(spec::Work::kOfOperator * (1 + (structure != nullptr ? structure->graph.ops.size() : kUnbuilt)));
      if (structure == nullptr)
        leaveUnbuilt(design, levels);
      else if (seen.insert(structure).second)
        proofs.push_back(proveOne(design.spec, *structure));
      more = nextCombination(design.spec, levels);
    }
    if (seen.empty()) {
      proofs.clear();
      LevelIndices first(design.spec.factors.size(), 0);
      design.experiment.row(first);  // says why
    } else if (more)
      proofs.push_back(notLookedAt(fmt::format("more than {} combinations of its parameters", kMaxCombinations)));
  }

  /// Levels with which it is not built at the sizes of the trial: its own conditions may exclude them; else they are left.
  void leaveUnbuilt(TrialDesign& design, const LevelIndices& levels) {
    const std::deque<Diagnostic> made = reportsOf(state.sink(), [&] { design.experiment.row(levels); });
    const auto first =
        std::find_if(made.begin(), made.end(), [](const Diagnostic& one) { return one.severity == Severity::Error; });
    if (first == made.end()) return;
    const Source* const within = state.workspace->session.sources.find(first->range.begin);
    if (within != nullptr && within->name == kTrialFile) return;
    NetworkProof one = notLookedAt(fmt::format("{} (tried with {})", first->message, trial.sizes));
    for (std::size_t f = 0; f < levels.size(); ++f) {
      const graph::FactorSpec& factor = design.spec.factors[f];
      if (factor.levels.size() > 1)
        one.at += fmt::format("{}{} = {}", one.at.empty() ? "" : ", ", nameOf(factor.name), factor.levels[levels[f]].text);
    }
    proofs.push_back(std::move(one));
  }

  NetworkProof proveOne(const graph::DesignSpec& spec, const graph::Structure& structure) const {
    NetworkProof made = proofOf();
    made.at = trial.lengths;
    std::vector<spec::Domain> domains(structure.pool.symbolCount());
    std::vector<bool> fixed(spec.factors.size(), false);
    for (const auto& [factor, level] : structure.guards) {
      fixed[factor] = true;
      made.at += fmt::format("{}{} = {}", made.at.empty() ? "" : ", ", nameOf(spec.factors[factor].name),
                             spec.factors[factor].levels[level].text);
    }
    for (std::size_t symbol = 0; symbol < structure.symbolFactor.size(); ++symbol) {
      const std::uint32_t factor = structure.symbolFactor[symbol];
      domains[symbol] = domainOf(spec, factor, fixed[factor], structure);
      if (!fixed[factor]) made.sizes += (made.sizes.empty() ? "" : ", ") + nameOf(spec.factors[factor].name);
    }
    made.proof = spec::proveSizes(structure, std::move(domains), spec.of->range, &state.proofs);
    if (!trial.elements.empty()) nameElements(made.proof);
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
    } else if (!spec.factors[factor].binds && trial.elements.count(spec.factors[factor].name) == 0) {
      domain.low = 1;  // a size; a parameter without a default, and an element of one, may be any whole number
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
  const std::string& name = proved.name;
  const SourceManager& sources = state.workspace->session.sources;
  const bool isOwn = sources.find(proved.network->range.begin) == state.workspace->file().source;
  if (proved.proof.verdict == spec::Verdict::Vacuous)
    state.sink().report(diag::pre_unsatisfiable, proved.network->name.range, name);
  if (proved.broken && told.insert(proved.broken->range.begin).second) {
    Diagnostic one = *proved.broken;
    one.kind = diag::sizes_break;
    one.severity = Severity::Note;
    one.message = fmt::format("{}: breaks at {} of `{}`", proved.reason, proved.at, name);
    state.sink().append(std::move(one));
  }
  bool isFirst = true;
  for (const spec::SizeBreach& breach : proved.proof.breaches) {
    // What the network itself promises is used by the trial, which is no text of the program's: the promise is the place.
    const Source* const user = sources.find(breach.use.begin);
    const SrcRange place = user != nullptr && user->name == kTrialFile ? breach.range : breach.use;
    if (!told.insert(place.begin).second) continue;
    Diagnostic& one = state.sink().report(diag::sizes_break, place, breach.subject, breach.text, valuesText(breach), name);
    if (breach.range != place) one.label(breach.range, "needed here");
    if (!proved.at.empty()) one.note("with " + proved.at);
    if (!isFirst || !proved.proof.remedy || proved.network->results.empty()) continue;
    isFirst = false;
    const spec::Remedy& remedy = *proved.proof.remedy;
    one.note(fmt::format("all of `{}` holds with `pre {}`{}", name, remedy.text,
                         remedy.isExact ? ", and at no other size" : "; it may leave out sizes that work"));
    // Proved at one length of a list, it could break the others.
    if (isOwn && !proved.at.starts_with("len(")) one.fix(behindResults(*proved.network), "\n  pre " + remedy.text);
  }
}

/// The levels that a design of the network gives to its parameters: of its factors, and those in the call itself.
std::map<std::string, std::string> levelsGiven(const State& state, const ast::Callable& network) {
  const SourceManager& sources = state.workspace->session.sources;
  std::map<std::string, std::string> given;
  for (const auto& run : state.designs.runs) {
    if (run->spec.of == nullptr) continue;
    const auto* call = ast::dynCast<ast::Call>(run->spec.of);
    const auto* name = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : run->spec.of);
    if (name == nullptr || name->name.text != network.name.text) continue;
    for (const ast::Parameter& parameter : network.parameters) {
      if (parameter.defaultValue != nullptr || parameter.domain != nullptr) continue;
      std::string text;
      for (const graph::FactorSpec& factor : run->spec.factors) {
        if (factor.name != parameter.name.text || factor.parent) continue;
        for (const graph::Level& level : factor.values())
          text +=
              (text.empty() ? "" : ", ") + (level.expr != nullptr ? std::string(sources.text(level.expr->range)) : level.text);
      }
      for (std::size_t a = 0; call != nullptr && a < call->arguments.size(); ++a) {
        const ast::Argument& argument = call->arguments[a];
        if (argument.name.text == parameter.name.text && argument.value != nullptr)
          text = std::string(sources.text(argument.value->range));
      }
      if (!text.empty()) given.emplace(parameter.name.text, std::move(text));
    }
  }
  return given;
}

bool isLookedAt(const std::vector<NetworkProof>& proofs) {
  return proofs.size() != 1 || proofs.front().proof.verdict != spec::Verdict::Residual || proofs.front().proof.conditions != 0;
}

void prove(State& state, TrialSubject subject, std::vector<NetworkProof>& all) {
  const std::string text = "proving the conditions of network " + subject.callable->name.text;
  state.proofs.told = [&] { state.events.progress(all.size(), 0, text); };
  state.proofs.tell();
  std::vector<NetworkProof> proofs = Prover(state, subject).run();
  if (!isLookedAt(proofs)) {
    subject.levels = levelsGiven(state, *subject.callable);
    if (!subject.levels.empty()) {
      std::vector<NetworkProof> again = Prover(state, subject).run();
      if (isLookedAt(again)) proofs = std::move(again);
    }
  }
  state.proofs.told = nullptr;
  std::set<Loc> told;
  for (NetworkProof& one : proofs) {
    report(state, one, told);
    all.push_back(std::move(one));
  }
}

}  // namespace

std::string valuesText(const spec::SizeBreach& breach) {
  std::string text;
  for (const auto& [name, value] : breach.values) text += (text.empty() ? "" : ", ") + name + " = " + value.str();
  return text.empty() ? "every size" : text;
}

std::vector<NetworkProof> proveNetworks(State& state, std::string_view only) {
  std::vector<NetworkProof> all;
  for (const ast::Callable* callable : state.workspace->all<ast::Callable>()) {
    if (callable->callable != ast::CallableKind::Network || (!only.empty() && callable->name.text != only)) continue;
    prove(state, TrialSubject::of(*callable), all);
  }
  return all;
}

std::vector<NetworkProof> proveExpression(State& state) {
  std::vector<NetworkProof> all;
  const std::vector<const ast::Design*> around = state.workspace->all<ast::Design>();
  const std::optional<TrialSubject> subject = subjectOf(*state.workspace, *around.front()->of);
  if (subject) prove(state, *subject, all);
  return all;
}

}  // namespace tbem::driver
