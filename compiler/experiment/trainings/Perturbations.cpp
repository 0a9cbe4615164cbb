#include "compiler/experiment/trainings/Perturbations.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/experiment/trainings/Ball.h"
#include "compiler/experiment/trainings/Examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tbem::driver {

namespace {

/// Makes one perturbation. One class: all parts report into one session.
class Maker {
public:
  Maker(Workspace& workspace, const std::vector<std::unique_ptr<TrainingRun>>& trainings, const Target& target,
        PerturbationRun& run)
      : workspace(workspace), trainings(trainings), target(target), made(run), spec(run.spec) {}

  bool run() { return findTraining() && readExamples() && makePlan() && makeGraphs(); }

private:
  DiagnosticSink& sink() { return workspace.session.sink; }

  bool findTraining() {
    made.training = driver::findTraining(workspace, trainings, spec.decl->target,
                                         "a perturbation is of the network and weights of a `train`");
    return made.training != nullptr;
  }

  bool readExamples() {
    std::optional<Examples> examples = describeExamples(workspace, spec.data, *spec.pool);
    if (!examples) return false;
    made.reader = examples->reader;
    made.settings = std::move(examples->settings);
    made.about = std::move(examples->about);
    const graph::DataShape shape = shapeOf(made.about);
    if (shape.inputs == made.training->shape.inputs) return true;
    sink()
        .report(diag::design_clause_value, spec.data.range, "on", "examples of the shape that the network was trained on",
                fmt::format("[{}]", fmt::join(shape.inputs.front(), ", ")))
        .label(made.training->spec.data.range, fmt::format("[{}]", fmt::join(made.training->shape.inputs.front(), ", ")));
    return false;
  }

  bool makePlan() {
    perturb::Plan& plan = made.plan;
    if (!takeExamples(workspace, spec.data, made.about, plan)) return false;
    plan.batch = std::min(spec.batch, plan.count);
    plan.seed = spec.seed.value_or(target.seed);
    takeBall(plan, spec.ball);
    plan.keepLabel = spec.keepLabel;
    if (plan.keepLabel && made.about.classes == 0) {
      sink()
          .report(diag::design_clause_value, spec.decl->name.range, "keep", "a dataset with classes", "one without")
          .note("a label is the largest output of a network that predicts classes");
      return false;
    }
    plan.repeats = spec.repeats;
    plan.energySeconds = spec.energySeconds;
    if (!planDefences()) return false;
    return std::ranges::all_of(spec.methods,
                               [&](const graph::MethodSpec& method) { return canLearn(sink(), method, made.about, plan.batch); });
  }

  /// What clauses `detect` and `squeeze` want of the examples.
  bool planDefences() {
    constexpr std::int64_t kDetected = 2000;  // as many as Chen et al. take (section 6.3), half of them to learn from
    made.plan.keepInputs = spec.detect.has_value() || !spec.squeezers.empty();
    if (spec.detect) {
      made.detector = {std::min(spec.detect->examples.value_or(kDetected), made.plan.count), spec.detect->folds,
                       spec.detect->cost};
      if (made.detector->count < made.detector->folds) {
        sink().report(diag::design_clause_value, spec.detect->range, "detect",
                      fmt::format("at least one example for each of {} folds", made.detector->folds),
                      std::to_string(made.detector->count));
        return false;
      }
    }
    for (const graph::SqueezeSpec& squeezer : spec.squeezers) {
      const bool isMedian = squeezer.kind == graph::SqueezeSpec::Kind::Median;
      const std::vector<std::int64_t>& shape = made.about.inputs.front().shape;
      if (isMedian && shape.size() != 3) {
        sink().report(diag::design_clause_value, squeezer.range, "median", "images, [channels, height, width]",
                      fmt::format("[{}]", fmt::join(shape, ", ")));
        return false;
      }
      made.squeezers.push_back(
          {isMedian ? perturb::Squeezer::Kind::Median : perturb::Squeezer::Kind::Bits, squeezer.size, squeezer.text});
    }
    return true;
  }

  std::unique_ptr<DesignRun> graphOf(graph::Task task, const graph::MethodSpec* method, std::int64_t batch,
                                     bool keepsFirstLayer = false) {
    std::optional<graph::ExperimentSpec> experiment =
        graph::searchOf(workspace.session, spec.decl->name, spec.data, made.training->spec, shapeOf(made.about),
                        {task, method, batch, keepsFirstLayer});
    return experiment ? oneRowOf(workspace, std::move(*experiment), target) : nullptr;
  }

  bool makeGraphs() {
    made.victim = graphOf(graph::Task::Infer, nullptr, made.plan.batch);
    if (made.victim == nullptr) return false;
    if (made.plan.repeats > 0 || made.plan.energySeconds > 0 || spec.certifies) {
      made.single = graphOf(graph::Task::Infer, nullptr, 1);
      made.single->storagesOf = made.victim.get();
    }
    if (made.detector) {
      made.layer = graphOf(graph::Task::Infer, nullptr, 1, true);
      made.layer->storagesOf = made.victim.get();
    }
    for (const graph::MethodSpec& method : spec.methods) {
      MethodRun& of = made.methods.emplace_back();
      of.spec = method;
      if (method.epochs > 0) {
        of.learner = graphOf(graph::Task::Learn, &method, made.plan.batch);
        of.learner->storagesOf = made.victim.get();
      }
      if (method.search.discriminator != nullptr) {
        of.discriminator = graphOf(graph::Task::Discriminate, &method, made.plan.batch);
        of.discriminator->storagesOf = of.learner.get();
      }
      of.mover = graphOf(graph::Task::Move, &method, made.plan.batch);
      of.mover->storagesOf = of.learner != nullptr ? of.learner.get() : made.victim.get();
    }
    return true;
  }

  Workspace& workspace;
  const std::vector<std::unique_ptr<TrainingRun>>& trainings;
  const Target& target;
  PerturbationRun& made;
  graph::PerturbSpec& spec;
};

}  // namespace

std::vector<std::unique_ptr<PerturbationRun>> makePerturbations(Workspace& workspace,
                                                                const std::vector<std::unique_ptr<TrainingRun>>& trainings,
                                                                const Target& target) {
  std::vector<std::unique_ptr<PerturbationRun>> runs;
  for (const ast::Perturb* decl : workspace.all<ast::Perturb>()) {
    std::optional<graph::PerturbSpec> spec = graph::readPerturbation(workspace.session, *workspace.program, *decl);
    if (!spec) continue;
    auto run = std::make_unique<PerturbationRun>(std::move(*spec));
    if (Maker(workspace, trainings, target, *run).run()) runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace tbem::driver
