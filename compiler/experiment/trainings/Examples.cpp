#include "compiler/experiment/trainings/Examples.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/samples/GateSamples.h"
#include "compiler/sema/Suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// A parameter's value as its reader takes it. The declaration's type decides, so a real without a fraction stays a real.
std::optional<data::Setting> settingOf(const sema::ExprPool& pool, const sema::Value& value) {
  const auto number = [&](const sema::Value& one) { return pool.constantValue(one.expr); };
  switch (value.kind) {
    case sema::ValueKind::Number: {
      const auto known = number(value);
      if (!known) return std::nullopt;
      return known->isInt() && !value.isReal ? data::Setting(known->num) : data::Setting(known->toDouble());
    }
    case sema::ValueKind::Bool: {
      const auto known = number(value);
      return known ? std::optional<data::Setting>(known->num != 0) : std::nullopt;
    }
    case sema::ValueKind::String:
      return data::Setting(value.text());
    case sema::ValueKind::List: {
      std::vector<double> numbers;
      std::vector<std::string> texts;
      for (const sema::Value& item : value.items) {
        const auto known = item.is(sema::ValueKind::Number) ? number(item) : std::nullopt;
        if (known) numbers.push_back(known->toDouble());
        if (item.is(sema::ValueKind::String)) texts.push_back(item.text());
      }
      return texts.empty() ? data::Setting(std::move(numbers)) : data::Setting(std::move(texts));
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

graph::DataShape shapeOf(const data::Description& about) {
  graph::DataShape shape;
  for (const data::Feature& input : about.inputs) shape.inputs.push_back(input.shape);
  shape.target = about.target.shape;
  shape.classes = about.classes;
  return shape;
}

std::optional<Examples> describeExamples(Workspace& workspace, const graph::DataSpec& data, const sema::ExprPool& pool) {
  DiagnosticSink& sink = workspace.session.sink;
  Examples examples;
  examples.reader = data::findReader(data.reader);
  if (examples.reader == nullptr) {
    sink.report(diag::unknown_reader, data.declaration->name.range, data.reader).label(data.callRange, "used here");
    return std::nullopt;
  }
  if (!workspace.path.empty() && workspace.path != "-")
    examples.settings.folder = std::filesystem::path(workspace.path).parent_path().string();
  for (const auto& [name, value] : data.settings) {
    if (auto setting = settingOf(pool, value)) examples.settings.values.emplace(name, std::move(*setting));
  }
  auto about = examples.reader->describe(examples.settings);
  if (!about) {
    sink.report(diag::dataset_refused, data.callRange, about.error());
    return std::nullopt;
  }
  examples.about = std::move(*about);
  return examples;
}

const TrainingRun* findTraining(Workspace& workspace, const std::vector<std::unique_ptr<TrainingRun>>& trainings,
                                const ast::Name& name, const char* whatFor) {
  const auto same = [&](const auto& training) { return training->spec.decl->name.text == name.text; };
  if (const auto training = std::ranges::find_if(trainings, same); training != trainings.end()) return training->get();
  std::vector<std::string> names;
  for (const ast::Train* decl : workspace.all<ast::Train>()) {
    if (decl->name.text == name.text) return nullptr;  // it has a mistake, which was reported
    names.push_back(decl->name.text);
  }
  Diagnostic& d = workspace.session.sink.report(diag::unknown_training, name.range, name.text);
  const std::string near = nearest(name.text, names);
  if (!near.empty())
    d.note("did you mean `" + near + "`?").fix(name.range, near);
  else
    d.note(whatFor);
  return nullptr;
}

bool costsByExample(DiagnosticSink& sink, SrcRange at, const graph::Row& network) {
  const graph::Graph& graph = network.graph();
  const graph::Branches branches = graph::branchesOf(graph);
  if (!branches.gated()) return true;
  const graph::GateSamples samples = graph::gateSamples(graph, network.values, branches);
  for (std::size_t b = 1; b < branches.list.size(); ++b) {
    const graph::GateSamples::InBranch& branch = samples.branches[b];
    const std::string& gate = graph[branches.list[b].gate].path;
    if (branch.ofEachSample == 0) {
      sink.report(diag::example_without_cost, at, graph.network, gate, branch.samples, samples.batch);
      return false;
    }
  }
  return true;
}

bool takeExamples(Workspace& workspace, const graph::DataSpec& data, const data::Description& about, perturb::Plan& plan) {
  plan.split = data.test ? data::Split::Test : data::Split::Train;
  const std::int64_t all = about.count(plan.split);
  plan.count = data.count.value_or(all);
  if (plan.count <= all && all > 0) return true;
  if (all == 0) {
    workspace.session.sink
        .report(diag::design_clause_value, data.range, data.test ? "test" : "train", "a split that has examples", "none")
        .note(fmt::format("the dataset declares no {} examples", data.test ? "test" : "training"));
    return false;
  }
  workspace.session.sink.report(diag::design_clause_value, data.range, "count",
                                fmt::format("from 1 to the {} examples that there are", all), fmt::format("{}", plan.count));
  return false;
}

bool canLearn(DiagnosticSink& sink, const graph::MethodSpec& method, const data::Description& about, std::int64_t batch) {
  if (method.epochs == 0) return true;
  const std::int64_t examples = method.examples.value_or(about.train);
  if (examples >= batch && examples <= about.train) return true;
  sink.report(diag::design_clause_value, method.range, "examples",
              fmt::format("from a batch of {} to the {} examples of the training split", batch, about.train),
              fmt::format("{}", examples));
  return false;
}

std::unique_ptr<DesignRun> oneRowOf(Workspace& workspace, graph::ExperimentSpec experiment, const Target& target,
                                    LevelIndices levels) {
  graph::DesignSpec spec;
  static_cast<graph::ExperimentSpec&>(spec) = std::move(experiment);
  auto run = std::make_unique<DesignRun>(std::move(spec));
  run->keepsOutputs = true;
  run->array.name = "one row";
  levels.resize(run->spec.factors.size());
  run->rows.push_back(std::move(levels));
  run->chosen.push_back(0);
  run->experiment = makeExperiment(workspace, run->spec, target);
  return run;
}

}  // namespace tbem::driver
