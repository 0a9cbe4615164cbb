// A perturbation: its clauses and methods, and the experiments that its graphs are built from.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/perturb/Perturbation.h"
#include "compiler/graph/perturb/ReadDefences.h"
#include "compiler/graph/perturb/ReadMethod.h"
#include "compiler/graph/read/ReadDataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tbem::graph {

namespace {

/// Reads one `perturb`. One class: clauses are read in order, and methods need what the norm says.
class PerturbationReader {
public:
  PerturbationReader(Session& session, const sema::Program& program, const ast::Perturb& decl, PerturbSpec& spec)
      : e(session, program, program.main(), *spec.pool), decl(decl), spec(spec) {}

  bool run() {
    const std::size_t errors = e.sink.errorCount();
    spec.decl = &decl;
    spec.module = &e.module;
    readDataset(e, *decl.data, spec.data);
    std::map<std::string, SrcRange> seen;
    for (const ast::Clause& clause : decl.clauses) {
      const auto [first, fresh] = seen.emplace(clause.word.text, clause.word.range);
      if (fresh)
        readClause(clause);
      else
        e.sink.report(diag::argument_twice, clause.word.range, clause.word.text).label(first->second, "given here first");
    }
    // Methods take what all the clauses say.
    for (const ast::Clause& clause : decl.clauses) {
      if (clause.word.text == "by") readMethods(clause);
    }
    if (!seen.contains("by"))
      e.fail(diag::design_clause_value, decl.name.range, "by", "methods: `by random, gradient`", "nothing");
    return e.sink.errorCount() == errors;
  }

private:
  void readClause(const ast::Clause& clause) {
    const std::string& word = clause.word.text;
    if (word == "norm") {
      if (const ast::Expr* norm = e.single(clause, "`linf(0.03)` or `l2(1)`")) readNorm(e, *norm, spec.ball);
    } else if (word == "box") {
      if (const ast::Expr* box = e.single(clause, "two numbers, such as `[0, 1]`")) readBox(e, *box, spec.ball);
    } else if (word == "batch") {
      spec.batch = e.whole(clause, 1).value_or(1);
    } else if (word == "seed") {
      if (const auto seed = e.whole(clause, 0)) spec.seed = static_cast<std::uint64_t>(*seed);
    } else if (word == "keep") {
      const ast::Expr* what = e.single(clause, "`label`");
      const auto* name = what != nullptr ? ast::dynCast<ast::NameRef>(what) : nullptr;
      spec.keepLabel = name != nullptr && name->name.text == "label";
      if (what != nullptr && !spec.keepLabel) e.fail(diag::design_clause_value, what->range, word, "`label`", e.text(*what));
    } else if (word == "certify") {
      spec.certifies = true;
      if (!clause.items.empty()) spec.certify = e.whole(clause, 1);
    } else if (word == "detect") {
      spec.detect = readDetect(e, clause);
    } else if (word == "squeeze") {
      spec.squeezers = readSqueeze(e, clause);
    } else if (word == "metric") {
      std::ranges::for_each(clause.items, [&](const ast::Argument& item) { readMetric(item); });
    }
  }

  void readMetric(const ast::Argument& item) {
    const auto [name, call] = calledWord(item.value);
    if (const auto [first, fresh] = metrics.emplace(name, item.range); !fresh && !name.empty()) {
      e.sink.report(diag::argument_twice, item.range, name).label(first->second, "given here first");
      return;
    }
    if (name == "flops" && call == nullptr) return;  // always
    const bool plain = call == nullptr || call->arguments.empty();
    const ast::Argument* given = !plain && call->arguments.size() == 1 ? &call->arguments.front() : nullptr;
    const auto isOnly = [&](std::string_view argument) { return plain || (given != nullptr && given->name.text == argument); };
    if (name == "latency" && isOnly("repeats"))
      spec.repeats = plain ? 10 : e.whole("repeats", *given->value, 1).value_or(1);
    else if (name == "energy" && isOnly("seconds"))
      spec.energySeconds = plain ? 0.2 : e.countedSeconds("seconds", *given->value).value_or(0);
    else
      e.fail(diag::design_clause_value, item.range, "metric", "`flops`, `latency(repeats: 10)` and `energy(seconds: 0.2)`",
             "`" + e.text(item.range) + "`");
  }

  void readMethods(const ast::Clause& clause) {
    for (const ast::Argument& item : clause.items) {
      std::optional<MethodSpec> method = readMethod(e, item, {spec.ball, spec.keepLabel, spec.methods.size() + 1});
      if (!method) continue;
      const auto before = std::ranges::find(spec.methods, method->text, &MethodSpec::text);
      if (before == spec.methods.end())
        spec.methods.push_back(std::move(*method));
      else
        e.sink.report(diag::argument_twice, item.range, method->text).label(before->range, "given here first");
    }
  }

  ClauseReader e;
  const ast::Perturb& decl;
  PerturbSpec& spec;
  std::map<std::string, SrcRange> metrics;  ///< those that were met
};

}  // namespace

std::optional<PerturbSpec> readPerturbation(Session& session, const sema::Program& program, const ast::Perturb& decl) {
  PerturbSpec spec;
  spec.pool = std::make_unique<sema::ExprPool>();
  return PerturbationReader(session, program, decl, spec).run() ? std::optional<PerturbSpec>(std::move(spec)) : std::nullopt;
}

std::optional<ExperimentSpec> searchOf(Session& session, const ast::Name& name, const DataSpec& read,
                                       const TrainingSpec& training, const DataShape& data, const SearchGraph& graph) {
  const auto& tensors = training.network->tensors;
  if (tensors.size() != 1 || data.inputs.size() != 1) {
    session.sink.report(diag::wrong_tensor, graph.method != nullptr ? graph.method->range : read.range,
                        "a search for slow inputs",
                        fmt::format("a network with one input, found `{}` with {}", training.network->name.text, tensors.size()));
    return std::nullopt;
  }
  ExperimentSpec experiment;
  experiment.name = name.text;
  experiment.range = name.range;
  experiment.module = training.module;
  experiment.of = training.decl->network;
  experiment.task = graph.task;
  experiment.keepsFirstLayer = graph.keepsFirstLayer;
  experiment.dtype = training.dtype;
  experiment.tf32 = training.tf32;
  experiment.pool = std::make_unique<sema::ExprPool>();
  std::vector<std::int64_t> dims{graph.batch};
  dims.insert(dims.end(), data.inputs[0].begin(), data.inputs[0].end());
  experiment.inputs.push_back({tensors[0].name.text, read.range, nullptr, std::move(dims)});
  if (graph.method != nullptr) {
    experiment.search = graph.method->search;
    experiment.optimizer = graph.method->optimizer;
  }
  return experiment;
}

}  // namespace tbem::graph
