#include "compiler/experiment/trainings/MeasuredExamples.h"

#include "compiler/diagnostics/Aside.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/experiment/trainings/Ball.h"
#include "compiler/experiment/trainings/Examples.h"
#include "compiler/sema/Walk.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace tbem::driver {

namespace {

constexpr const char* kClause = "examples";

using Shape = std::vector<std::int64_t>;

Shape shapeIn(const graph::Row& row, const graph::Tensor& tensor) {
  Shape shape;
  for (const sema::ExprId dim : tensor.shape) shape.push_back(row.values[dim].num);
  return shape;
}

std::string textOf(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// What a training learns and a row reads, with its shape.
std::map<std::string, Shape> weightsOf(const graph::Row& row) {
  std::map<std::string, Shape> weights;
  const graph::Graph& graph = row.structure->graph;
  for (const graph::Tensor& tensor : graph.tensors) {
    const graph::Storage& storage = graph[tensor.storage];
    const bool isLearned = storage.kind == graph::StorageClass::Weight || storage.kind == graph::StorageClass::Buffer;
    // A tensor that an update writes into the same storage has the same shape.
    if (isLearned) weights.try_emplace(storage.path, shapeIn(row, tensor));
  }
  return weights;
}

/// Whether the row reads examples of the data set as they are.
bool takesExamples(DiagnosticSink& sink, const MeasuredExamples& examples, const graph::Row& row) {
  const graph::Graph& graph = row.structure->graph;
  const std::vector<data::Feature>& inputs = examples.about.inputs;
  if (graph.inputs.size() != 1 || inputs.size() != 1 || !tbem_is_floating(graph[graph.inputs.front()].dtype)) {
    sink.report(diag::wrong_tensor, examples.spec.range, "`examples`",
                fmt::format("a network with one input of a floating type, found `{}` with {}, and {} in the data", graph.network,
                            graph.inputs.size(), inputs.size()));
    return false;
  }
  const Shape shape = shapeIn(row, graph[graph.inputs.front()]);
  const Shape& wanted = inputs.front().shape;
  if (!shape.empty() && std::ranges::equal(shape.begin() + 1, shape.end(), wanted.begin(), wanted.end())) return true;
  sink.report(diag::design_clause_value, examples.spec.data.range, kClause,
              fmt::format("examples of the shape of the design's input, {} behind the batch",
                          textOf({shape.begin() + (shape.empty() ? 0 : 1), shape.end()})),
              textOf(wanted));
  return false;
}

/// The factors that the clause names, with their levels in the row: for reports.
std::vector<std::pair<std::string, std::string>> levelsNamed(const ast::Clause& clause, const DesignRun& run, std::size_t row) {
  std::set<std::string> named;
  for (const ast::Argument& item : clause.items) {
    if (item.value == nullptr) continue;
    sema::forEachInside(*item.value, [&](const ast::Expr& inner) {
      if (const auto* name = ast::dynCast<ast::NameRef>(&inner)) named.insert(name->name.text);
    });
  }
  std::vector<std::pair<std::string, std::string>> levels;
  for (std::size_t f = 0; f < run.spec.factors.size(); ++f) {
    const graph::FactorSpec& factor = run.spec.factors[f];
    if (named.contains(factor.name)) levels.emplace_back(factor.name, factor.levels[run.rows[row][f]].text);
  }
  return levels;
}

/// Without comments, and with one space where there are several or a new line.
std::string onOneLine(std::string_view text) {
  std::string line;
  const auto addSpace = [&] {
    if (!line.empty() && line.back() != ' ') line += ' ';
  };
  bool inString = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool isComment = !inString && text[i] == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*');
    if (isComment) {
      const bool toEnd = text[i + 1] == '/';
      i = std::min(text.find(toEnd ? "\n" : "*/", i + 2), text.size() - 1);
      if (!toEnd) ++i;
      addSpace();
      continue;
    }
    inString = inString != (text[i] == '"');
    if (inString || std::isspace(static_cast<unsigned char>(text[i])) == 0)
      line += text[i];
    else
      addSpace();
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

/// The clause as each row has it. False after a report, of the first row that it is wrong in.
bool readAttacks(Workspace& workspace, const ast::Clause& clause, const DesignRun& run, MeasuredExamples& examples) {
  examples.attackClause = &clause;
  for (const ast::Argument& item : clause.items)
    examples.attack += (examples.attack.empty() ? "attack " : ", ") + onOneLine(workspace.session.sources.text(item.range));
  for (const std::size_t row : run.chosen) {
    std::optional<graph::Attack> attack;
    reportingAt(workspace.session.sink, clause, run, row,
                [&] { attack = graph::readAttack(workspace.session, *workspace.program, clause, run.spec, run.rows[row]); });
    if (!attack) return false;
    RowAttack of{std::move(*attack), examples.plan, {}, {}, {}, {}, {}, {}};
    takeBall(of.plan, of.spec.ball);
    of.plan.keepLabel = of.spec.keepLabel;
    of.plan.repeats = 0;
    of.plan.energySeconds = 0;
    examples.attacks.emplace(row, std::move(of));
  }
  return true;
}

}  // namespace

std::string MeasuredExamples::examplesText(const std::string& weights) const {
  const std::string repeats = spec.repeats == graph::kUsualRepeats ? "" : fmt::format(", {} repeats", spec.repeats);
  const std::string energy = spec.energySeconds == 0 ? "" : fmt::format(", energy of {} s", spec.energySeconds);
  return spec.data.name + " by " + weights + repeats + energy;
}

const TrainingRun& MeasuredExamples::trainingOf(std::span<const std::uint32_t> levels) const {
  return *trainings.at(spec.chosenBy ? levels[*spec.chosenBy] : 0);
}

std::string MeasuredExamples::text() const { return examplesText(spec.weightsText) + (attack.empty() ? "" : ", " + attack); }

void reportingAt(DiagnosticSink& sink, const ast::Clause& clause, const DesignRun& run, std::size_t row,
                 const std::function<void()>& work) {
  for (Diagnostic each : reportsOf(sink, work)) {
    if (each.levels.empty()) each.levels = levelsNamed(clause, run, row);
    sink.append(std::move(each));
  }
}

std::optional<MeasuredExamples> readMeasuredExamples(Workspace& workspace,
                                                     const std::vector<std::unique_ptr<TrainingRun>>& trainings,
                                                     const ast::Clause& clause, const ast::Clause* attack, const DesignRun& run) {
  DiagnosticSink& sink = workspace.session.sink;
  if (run.spec.task != graph::Task::Infer) {
    sink.report(diag::design_clause_value, clause.range, kClause, "a design of an inference, without a `task`", "`task train`")
        .label(run.spec.range, "the design");
    return std::nullopt;
  }
  auto spec = graph::readExamples(workspace.session, *workspace.program, clause, run.spec);
  if (!spec) return std::nullopt;
  MeasuredExamples examples;
  examples.spec = std::move(*spec);
  for (const ast::Name& name : examples.spec.weights) {
    const TrainingRun* training = findTraining(workspace, trainings, name, "`weights` are those that a `train` ends with");
    if (training == nullptr) return std::nullopt;
    examples.trainings.push_back(training);
  }
  auto data = describeExamples(workspace, examples.spec.data, *examples.spec.pool);
  if (!data) return std::nullopt;
  examples.reader = data->reader;
  examples.settings = std::move(data->settings);
  examples.about = std::move(data->about);
  if (!takeExamples(workspace, examples.spec.data, examples.about, examples.plan)) return std::nullopt;
  examples.plan.repeats = examples.spec.repeats;
  examples.plan.energySeconds = examples.spec.energySeconds;
  examples.plan.low = -std::numeric_limits<double>::infinity();
  examples.plan.high = std::numeric_limits<double>::infinity();
  if (attack != nullptr && !readAttacks(workspace, *attack, run, examples)) return std::nullopt;
  return examples;
}

bool makeAttackGraphs(Workspace& workspace, const Target& target, MeasuredExamples& examples, const DesignRun& run,
                      std::size_t row, const graph::Row& elaborated) {
  RowAttack& attack = examples.attacks.at(row);
  const graph::Graph& graph = elaborated.graph();
  const graph::Tensor& input = graph[graph.inputs.front()];
  const Shape dims = shapeIn(elaborated, input);
  attack.plan.batch = dims.front();
  attack.plan.seed = attack.spec.seed.value_or(target.seed);
  if (!canLearn(workspace.session.sink, attack.spec.method, examples.about, attack.plan.batch)) return false;
  const auto graphOf = [&](graph::Task task) {
    graph::InputSpec read{graph[input.storage].path, run.spec.range, nullptr, dims};
    return oneRowOf(workspace, graph::attackOf(run.spec, attack.spec, task, std::move(read)), target, run.rows[row]);
  };
  if (attack.spec.method.epochs > 0) attack.learner = graphOf(graph::Task::Learn);
  if (attack.spec.method.search.discriminator != nullptr) attack.discriminator = graphOf(graph::Task::Discriminate);
  attack.mover = graphOf(graph::Task::Move);
  return true;
}

bool rowFits(DiagnosticSink& sink, const MeasuredExamples& examples, const DesignRun& run, std::size_t row,
             const graph::Row& elaborated, const graph::Row& trained) {
  if (!takesExamples(sink, examples, elaborated)) return false;
  if (!costsByExample(sink, examples.spec.range, elaborated)) return false;
  const std::map<std::string, Shape> wanted = weightsOf(elaborated), there = weightsOf(trained);
  std::vector<std::string> wrong;
  for (const auto& [path, shape] : wanted) {
    const auto found = there.find(path);
    if (found == there.end())
      wrong.push_back(fmt::format("`{}` {} is no weight of the training", path, textOf(shape)));
    else if (found->second != shape)
      wrong.push_back(fmt::format("`{}` is {} here, and {} in the training", path, textOf(shape), textOf(found->second)));
  }
  for (const auto& [path, shape] : there) {
    if (!wanted.contains(path)) wrong.push_back(fmt::format("`{}` {} of the training has no place here", path, textOf(shape)));
  }
  if (wrong.empty()) return true;
  constexpr std::size_t kMostShown = 4;
  const std::string& training = examples.trainingOf(run.rows[row]).spec.decl->name.text;
  Diagnostic& d = sink.report(diag::weights_do_not_fit, examples.spec.weightsRange, training, run.spec.name, run.levelsText(row));
  for (std::size_t i = 0; i < std::min(wrong.size(), kMostShown); ++i) d.note(wrong[i]);
  if (wrong.size() > kMostShown) d.note(fmt::format("{} more differ", wrong.size() - kMostShown));
  return false;
}

}  // namespace tbem::driver
