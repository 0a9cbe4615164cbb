// What a process must fulfil (Liu, Nakajima 2010; Liu, Tamai, Nakajima 2007): guards exclude each other, together they cover
// `pre`, each definition can be met.
#include "compiler/diagnostics/tables/Specification.h"
#include "compiler/spec/prove/Scenarios.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::spec {

using sema::ExprOp;

namespace {

/// Proves what a process must fulfil. One class: each question is asked under what those before it have proved.
class Checker {
public:
  Checker(Session& session, CheckedProcess& checked, Work* work)
      : session(session),
        checked(checked),
        model(checked.model),
        prover(model.pool, model.domains, limitsWith(work)),
        name(model.decl->name.text) {}

  void run() {
    context = model.axioms;
    context.push_back(model.pre);
    if (!checkPreconditions()) return;
    if (!checkDefined()) return;  // what has no value somewhere is neither met nor missed there
    if (!checked.scenarios.empty()) {
      dropUnreachable();
      checkScenarios();
    }
    noteQuotients();
  }

private:
  Session& session;
  CheckedProcess& checked;
  ProcessModel& model;
  Prover prover;
  const std::string& name;
  std::vector<ExprId> context;  ///< what holds of every input

  std::vector<ExprId> with(ExprId more) const {
    std::vector<ExprId> all = context;
    all.push_back(more);
    return all;
  }
  ExprId isNot(ExprId expr) { return model.pool.make(ExprOp::Not, expr); }

  Finding& add(Finding::Kind kind, Proof proof, std::string text) {
    Finding finding;
    finding.kind = kind;
    finding.verdict = proof.verdict;
    finding.proof = std::move(proof);
    finding.text = std::move(text);
    if (finding.verdict == Verdict::Residual)
      session.sink.report(diag::proof_residual, model.decl->name.range, finding.text, finding.proof.reason);
    checked.findings.push_back(std::move(finding));
    return checked.findings.back();
  }
  /// What was shown of sequences and sets of so many elements at most is shown of all where it rests on nothing that is said of
  /// longer ones.
  Proof proveOne(const Goal& goal) { return prove({goal}).front(); }
  std::vector<Proof> prove(const std::vector<Goal>& goals) {
    std::vector<Proof> proofs = prover.prove(goals);
    for (std::size_t i = 0; i < goals.size(); ++i) {
      if (proofs[i].verdict != Verdict::Proved && proofs[i].verdict != Verdict::Vacuous) continue;
      std::vector<ExprId> all = goals[i].hypotheses;
      all.push_back(goals[i].claim);
      const Variable* const cut = model.cutIn(all);
      if (cut == nullptr) continue;
      Goal less{{}, goals[i].claim};
      for (const ExprId one : goals[i].hypotheses) {
        if (model.cutIn(std::vector{one}) == nullptr) less.hypotheses.push_back(one);
      }
      if (model.cutIn(std::vector{less.claim}) == nullptr) {
        Proof again = prover.prove(less);
        if (again.verdict == Verdict::Proved || again.verdict == Verdict::Vacuous) continue;
      }
      proofs[i].verdict = Verdict::Residual;
      proofs[i].reason = fmt::format("shown for {} elements of `{}` at most", cut->looked(), cut->name);
      if (!cut->bound.empty())
        proofs[i].reason +=
            fmt::format("; `{}` may bound them: `{}` before all else", cut->isOutput ? "post" : "pre", cut->bound);
    }
    return proofs;
  }
  /// A question for values: proved where some were found.
  static Proof existence(Proof proof) {
    if (proof.verdict == Verdict::Refuted)
      proof.verdict = Verdict::Proved;
    else if (proof.verdict == Verdict::Proved || proof.verdict == Verdict::Vacuous)
      proof.verdict = Verdict::Refuted;
    return proof;
  }

  bool checkPreconditions() {
    const Finding& found =
        add(Finding::Kind::Preconditions, existence(proveOne({context, model.pool.constant(0)})), "something meets `pre`");
    if (found.verdict != Verdict::Refuted) return true;
    const SrcRange range = model.process->pre != nullptr ? model.process->pre->range : model.decl->name.range;
    session.sink.report(diag::pre_unsatisfiable, range, name);
    return false;
  }

  bool checkDefined() {
    bool good = true;
    const Proof pre = proveOne({model.axioms, definedness(model.pool, model.pre)});
    const Proof post = proveOne({context, definedness(model.pool, model.post.expr)});
    for (const bool isPost : {false, true}) {
      const ast::Expr* text = isPost ? model.process->post : model.process->pre;
      if (text == nullptr) continue;
      const char* clause = isPost ? "post" : "pre";
      const Finding& found =
          add(Finding::Kind::Defined, isPost ? post : pre, fmt::format("`{}` has a value wherever it is read", clause));
      if (found.verdict != Verdict::Refuted) continue;
      session.sink.report(diag::condition_undefined, text->range, clause, name)
          .note("a division by 0, a negative exponent or an element that is not there with " +
                model.describe(inputsOf(found.proof)));
      good = false;
    }
    return good;
  }

  std::vector<std::pair<SymbolId, Rational>> inputsOf(const Proof& proof) const {
    std::vector<std::pair<SymbolId, Rational>> values;
    for (const auto& one : proof.values) {
      if (!model.unknowns[static_cast<std::size_t>(one.first)].isOutput) values.push_back(one);
    }
    return values;
  }

  /// Conjunctions that the derivation made of conditions that exclude each other are no scenarios.
  void dropUnreachable() {
    if (checked.scenarios.size() < 2) return;
    std::vector<Goal> goals;
    for (const Scenario& one : checked.scenarios) goals.push_back({with(one.guard), model.pool.constant(0)});
    const std::vector<Proof> proofs = prove(goals);
    std::vector<Scenario> kept;
    for (std::size_t i = 0; i < proofs.size(); ++i) {
      if (proofs[i].verdict == Verdict::Refuted || proofs[i].verdict == Verdict::Residual)
        kept.push_back(checked.scenarios[i]);
      else
        ++checked.unreachable;
    }
    checked.scenarios = std::move(kept);
  }

  void checkScenarios() {
    const std::vector<Scenario>& scenarios = checked.scenarios;
    std::vector<Goal> goals;
    std::vector<Finding> open;
    ExprId any = model.pool.constant(0);
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      any = model.pool.make(ExprOp::Or, any, scenarios[i].guard);
      for (std::size_t k = i + 1; k < scenarios.size(); ++k) {
        goals.push_back({with(scenarios[i].guard), isNot(scenarios[k].guard)});
        open.push_back(
            {Finding::Kind::Exclusive, i, k, {}, {}, fmt::format("scenarios {} and {} exclude each other", i + 1, k + 1)});
      }
    }
    goals.push_back({context, any});
    open.push_back({Finding::Kind::Complete, 0, 0, {}, {}, "some scenario applies wherever `pre` holds"});
    for (std::size_t i = 0; i < scenarios.size(); ++i) {
      std::vector<ExprId> all = with(scenarios[i].guard);
      all.push_back(scenarios[i].definition);
      goals.push_back({all, model.pool.constant(0)});
      open.push_back({Finding::Kind::Satisfiable, i, 0, {}, {}, fmt::format("the definition of scenario {} can be met", i + 1)});
    }
    std::vector<Proof> proofs = prove(goals);
    for (std::size_t i = 0; i < open.size(); ++i) {
      Proof proof = open[i].kind == Finding::Kind::Satisfiable ? existence(std::move(proofs[i])) : std::move(proofs[i]);
      if (proof.verdict == Verdict::Vacuous)
        proof.verdict = Verdict::Proved;  // a guard alone is never met: they exclude each other
      Finding& found = add(open[i].kind, std::move(proof), open[i].text);
      found.first = open[i].first;
      found.second = open[i].second;
      report(found);
    }
  }

  void report(const Finding& found) {
    if (found.verdict != Verdict::Refuted) return;
    const std::vector<Scenario>& scenarios = checked.scenarios;
    const std::string values = model.describe(found.proof.values);
    switch (found.kind) {
      case Finding::Kind::Exclusive:
        session.sink.report(diag::scenarios_overlap, scenarios[found.second].range, found.first + 1, found.second + 1, name)
            .label(scenarios[found.first].range, fmt::format("scenario {}", found.first + 1))
            .note("with " + values);
        break;
      case Finding::Kind::Complete:
        session.sink.report(diag::scenarios_incomplete, model.process->post->range, name).note("with " + values);
        break;
      case Finding::Kind::Satisfiable:
        session.sink.report(diag::definition_unsatisfiable, scenarios[found.first].range, found.first + 1, name)
            .note("it is `" + scenarios[found.first].definitionText + "`");
        break;
      default:
        break;
    }
  }

  /// `/` whose quotient is a fraction for some inputs, told once for equal quotients.
  void noteQuotients() {
    std::vector<std::pair<ExprId, ExprId>> told;
    for (const ProcessModel::Quotient& one : model.quotients) {
      const std::pair<ExprId, ExprId> key{one.left, one.right};
      if (std::find(told.begin(), told.end(), key) != told.end()) continue;
      told.push_back(key);
      const ExprId rest = model.pool.make(ExprOp::Mod, one.left, one.right);
      std::vector<ExprId> facts = context;
      facts.push_back(isNot(model.pool.make(ExprOp::Equal, one.right, model.pool.constant(0))));
      const Proof proof = prover.prove(Goal{facts, model.pool.make(ExprOp::Equal, rest, model.pool.constant(0))});
      if (proof.verdict != Verdict::Refuted) continue;
      const std::string text = sourceText(session.sources, one.text->range);
      Diagnostic& note = session.sink.report(diag::division_exact, one.text->opRange, text);
      note.note(fmt::format("with {} it is {}", model.describe(valuesFor(one, proof)), quotientAt(one, proof)));
      note.note("a dimension that floors is written `div`").fix(one.text->opRange, "div");
    }
  }

  /// Values of the symbols of the quotient alone.
  std::vector<std::pair<SymbolId, Rational>> valuesFor(const ProcessModel::Quotient& one, const Proof& proof) const {
    std::vector<std::pair<SymbolId, Rational>> values;
    for (const auto& [symbol, value] : proof.values) {
      for (const ExprId side : {one.left, one.right}) {
        const std::vector<SymbolId> used = model.pool.symbolsOf(side);
        if (std::find(used.begin(), used.end(), symbol) == used.end()) continue;
        values.emplace_back(symbol, value);
        break;
      }
    }
    return values;
  }

  std::string quotientAt(const ProcessModel::Quotient& one, const Proof& proof) {
    std::vector<std::optional<Rational>> assignment(model.pool.symbolCount());
    for (const auto& [symbol, value] : proof.values) assignment[static_cast<std::size_t>(symbol)] = value;
    const ExprId quotient = model.pool.make(ExprOp::Divide, one.left, one.right);
    return model.pool.evaluate(assignment)[quotient].str();
  }
};

}  // namespace

bool CheckedProcess::refuted() const {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& one) { return one.verdict == Verdict::Refuted; });
}

std::optional<CheckedProcess> checkProcess(Session& session, const sema::Program& program, const sema::Module& module,
                                           const ast::Process& process, Work* work) {
  std::optional<ProcessModel> model = readProcess(session, program, module, process);
  if (!model) return std::nullopt;
  CheckedProcess checked;
  checked.model = std::move(*model);
  const std::size_t errors = session.sink.errorCount();
  checked.scenarios = deriveScenarios(session, checked.model);
  if (session.sink.errorCount() != errors) return std::nullopt;
  checked.parenthesesLost = reportLostParentheses(session, process);
  if (!checked.parenthesesLost) Checker(session, checked, work).run();
  return checked;
}

}  // namespace tbem::spec
