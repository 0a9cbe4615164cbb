#include "compiler/experiment/trainings/Trainings.h"

#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/experiment/Identity.h"
#include "compiler/experiment/trainings/Examples.h"
#include "compiler/graph/perturb/Perturbation.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

train::Schedule scheduleOf(const graph::ScheduleSpec& spec, const train::Sizes& sizes) {
  train::Schedule schedule;
  switch (spec.kind) {
    case graph::ScheduleSpec::Kind::Constant:
      schedule.kind = train::Schedule::Kind::Constant;
      break;
    case graph::ScheduleSpec::Kind::Linear:
      schedule.kind = train::Schedule::Kind::Linear;
      break;
    case graph::ScheduleSpec::Kind::Cosine:
      schedule.kind = train::Schedule::Kind::Cosine;
      break;
    case graph::ScheduleSpec::Kind::Step:
      schedule.kind = train::Schedule::Kind::Step;
      break;
  }
  const auto epoch = static_cast<double>(sizes.stepsPerEpoch);
  schedule.warmup = spec.warmup * epoch;
  schedule.total = static_cast<double>(sizes.total);
  schedule.floor = spec.floor;
  schedule.every = spec.every * epoch;
  schedule.factor = spec.factor;
  return schedule;
}

/// Whether `augment` has images to move, and a target of which it is known what becomes of it then.
bool checkAugmentation(Workspace& workspace, const TrainingRun& training) {
  const graph::TrainingSpec& spec = training.spec;
  const auto refuse = [&](const char* role, const data::Feature& found) -> Diagnostic& {
    return workspace.session.sink.report(diag::augments_no_image, spec.augmentation, spec.data.name,
                                         fmt::format("{}`{}` [{}]", role, found.name, fmt::join(found.shape, ", ")));
  };
  const std::vector<data::Feature>& inputs = training.about.inputs;
  const data::Feature& target = training.about.target;
  const auto isImage = [](const data::Feature& input) { return input.shape.size() == 3; };
  if (std::ranges::none_of(inputs, isImage)) {
    refuse("", inputs.front());
    return false;
  }
  const auto liesBelow = [&](const data::Feature& input) {
    return isImage(input) && target.shape.size() >= 2 &&
           std::equal(target.shape.end() - 2, target.shape.end(), input.shape.end() - 2);
  };
  // Numbers along the only row of an image may lie on it or not.
  const auto mayLieBelow = [&](const data::Feature& input) {
    return isImage(input) && target.shape.size() == 1 && input.shape[1] == 1 && input.shape[2] == target.shape.front();
  };
  for (const data::Feature& input : inputs) {
    if (!isImage(input) || spec.crop < std::min(input.shape[1], input.shape[2])) continue;
    workspace.session.sink
        .report(diag::design_clause_value, spec.augmentation, "crop",
                fmt::format("fewer pixels than `{}` [{}] has on a side", input.name, fmt::join(input.shape, ", ")),
                fmt::format("{}", spec.crop))
        .note("so many are added on all sides, and a piece of the image's size is cut out: it would have nothing of the image");
    return false;
  }
  if (target.shape.size() < 2 && std::ranges::none_of(inputs, mayLieBelow)) return true;
  if (std::ranges::none_of(inputs, liesBelow)) {
    const data::Feature& image = *std::ranges::find_if(inputs, isImage);
    refuse("the target ", target)
        .note(fmt::format("its last two dimensions are not those of `{}` [{}], so it is not known how it moves with it",
                          image.name, fmt::join(image.shape, ", ")));
    return false;
  }
  if (spec.crop == 0) return true;
  refuse("the target ", target).note("it is flipped with its image; `crop` would leave places without a target");
  return false;
}

/// Numbers of the training against those of its dataset.
bool checkLengths(Workspace& workspace, const TrainingRun& training) {
  const graph::TrainingSpec& spec = training.spec;
  const train::Sizes& sizes = training.sizes;
  const auto refuse = [&](SrcRange range, const char* clause, const std::string& wants, const std::string& found) {
    workspace.session.sink.report(diag::design_clause_value, range, clause, wants, found);
    return false;
  };
  if (const std::int64_t all = training.about.count(training.plan.split); spec.data.count && *spec.data.count > all)
    return refuse(spec.data.range, "count", fmt::format("at most the {} examples that there are", all),
                  fmt::format("{}", *spec.data.count));
  const double epochs = static_cast<double>(sizes.total) / static_cast<double>(std::max<std::int64_t>(sizes.stepsPerEpoch, 1));
  if (sizes.stepsPerEpoch > 0 && spec.schedule.warmup > epochs)
    return refuse(spec.schedule.range, "warmup", fmt::format("at most the {:.4g} epochs of the training", epochs),
                  fmt::format("{}", spec.schedule.warmup));
  return true;
}

bool makePlan(Workspace& workspace, TrainingRun& training, const Target& target) {
  const graph::TrainingSpec& spec = training.spec;
  train::Plan& plan = training.plan;
  plan.split = spec.data.test ? data::Split::Test : data::Split::Train;
  plan.count = spec.data.count;
  plan.batch = spec.batch;
  plan.epochs = spec.epochs.value_or(0);
  plan.steps = spec.steps.value_or(0);
  plan.seed = spec.seedGiven ? spec.seed : target.seed;
  plan.validate = spec.validate;
  plan.patience = spec.patience;
  plan.every = spec.every;
  plan.checkpoint = spec.checkpoint;
  if (spec.rate) plan.rate = spec.rate->toDouble();
  plan.augmentation = {spec.flip, spec.crop};
  if (plan.augmentation.any() && !checkAugmentation(workspace, training)) return false;
  training.sizes = train::sizesOf(plan, training.about);
  if (!checkLengths(workspace, training)) return false;
  if (training.sizes.stepsPerEpoch == 0) {
    Diagnostic& d =
        workspace.session.sink.report(diag::too_few_examples, spec.data.range, plan.batch, spec.data.name, training.sizes.train);
    if (training.sizes.validation > 0) d.note(fmt::format("{} more are held out for validation", training.sizes.validation));
    return false;
  }
  plan.schedule = scheduleOf(spec.schedule, training.sizes);
  return true;
}

std::unique_ptr<DesignRun> designOf(Workspace& workspace, const TrainingRun& training, graph::Task task, std::int64_t batch,
                                    const Target& target, const graph::TurnSpec* turn = nullptr) {
  std::optional<graph::ExperimentSpec> experiment =
      graph::experimentOf(workspace.session, training.spec, task, training.shape, batch, turn);
  return experiment ? oneRowOf(workspace, std::move(*experiment), target) : nullptr;
}

/// The training that clause `weights` names; false after a report.
bool findStart(Workspace& workspace, const std::vector<std::unique_ptr<TrainingRun>>& above, TrainingRun& training) {
  const std::optional<graph::StartSpec>& start = training.spec.start;
  if (!start || start->training == nullptr) return true;
  const ast::Name& name = *start->training;
  for (const ast::Train* decl : workspace.all<ast::Train>()) {
    if (decl->name.text != name.text || decl->range.begin < training.spec.decl->range.begin) continue;
    workspace.session.sink
        .report(diag::design_clause_value, name.range, "weights", "a training that stands above", "`" + name.text + "`")
        .label(decl->name.range, "declared here");
    return false;
  }
  training.startsFrom = findTraining(workspace, above, name, "the weights are those of another `train`, or of a file");
  return training.startsFrom != nullptr;
}

std::string placesText(const std::vector<graph::WeightPlace>& places) {
  std::vector<std::string> texts;
  for (const graph::WeightPlace& place : places) texts.push_back(place.text);
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

std::vector<std::unique_ptr<TrainingRun>> makeTrainings(Workspace& workspace, const Target& target) {
  std::vector<std::unique_ptr<TrainingRun>> trainings;
  for (const ast::Train* decl : workspace.all<ast::Train>()) {
    std::optional<graph::TrainingSpec> spec = graph::readTraining(workspace.session, *workspace.program, *decl);
    if (!spec) continue;
    auto training = std::make_unique<TrainingRun>(std::move(*spec));
    std::optional<Examples> examples = describeExamples(workspace, training->spec.data, *training->spec.pool);
    if (!examples) continue;
    training->reader = examples->reader;
    training->settings = std::move(examples->settings);
    training->about = std::move(examples->about);
    training->shape = shapeOf(training->about);
    if (!makePlan(workspace, *training, target)) continue;
    training->step = designOf(workspace, *training, graph::Task::Train, training->plan.batch, target);
    if (training->step == nullptr) continue;
    const ast::Clause* clause = training->spec.tune;
    std::optional<Tuning> tuning =
        clause == nullptr ? Tuning{} : readTuning(*clause, workspace.session.sink, workspace.session.sources);
    if (!tuning) continue;
    if (const auto asked = parseTuning(target.tune)) tuning = asked;
    training->step->tuning = *tuning;
    bool hasTurns = true;
    for (const graph::TurnSpec& turn : training->spec.turns) {
      auto step = designOf(workspace, *training, graph::Task::Train, training->plan.batch, target, &turn);
      hasTurns = hasTurns && step != nullptr;
      if (step == nullptr) continue;
      step->tuning = *tuning;
      step->storagesOf = training->step.get();
      training->turns.push_back(std::move(step));
    }
    if (!hasTurns) continue;
    for (const std::int64_t batch : training->sizes.evaluationBatches) {
      auto evaluation = designOf(workspace, *training, graph::Task::Evaluate, batch, target);
      if (evaluation != nullptr) {
        evaluation->tuning = *tuning;
        evaluation->storagesOf = training->step.get();
      }
      training->evaluation.emplace(batch, std::move(evaluation));
    }
    if (training->spec.harden) {
      auto mover = graph::searchOf(workspace.session, decl->name, training->spec.data, training->spec, training->shape,
                                   {graph::Task::Move, &training->spec.harden->method, training->plan.batch});
      if (!mover) continue;
      training->mover = oneRowOf(workspace, std::move(*mover), target);
      if (training->mover == nullptr) continue;
      training->mover->tuning = *tuning;
      training->mover->storagesOf = training->step.get();
    }
    if (!findStart(workspace, trainings, *training)) continue;
    trainings.push_back(std::move(training));
  }
  return trainings;
}

std::vector<std::pair<std::string, std::string>> identityOf(const TrainingRun& training, const graph::Row& step,
                                                            const std::string& backend, std::uint64_t fingerprint) {
  const graph::TrainingSpec& spec = training.spec;
  const train::Plan& plan = training.plan;
  std::string data = spec.data.declaration->name.text;
  for (const auto& [name, value] : spec.data.settings) {
    const std::string text = sema::print(*spec.pool, value);
    // Younger than the checkpoints that are to be taken up: it is told where it says something.
    if (name != "ignore" || text != "-100") data += fmt::format(" {}: {}", name, text);
  }
  // A schedule that ends with the training is another one where the training is longer.
  const bool ends =
      spec.schedule.kind == graph::ScheduleSpec::Kind::Cosine || spec.schedule.kind == graph::ScheduleSpec::Kind::Linear;
  std::vector<std::pair<std::string, std::string>> identity{
      {"the network", spec.networkText},
      // Not the one with activations computed again: its numbers are the same.
      {"its graph", graphIdentity(step.structure->graph, step.values)},
      {"the dataset", data},
      {"its content", fmt::format("{:016x}", fingerprint)},
      {"the split", fmt::format("{}{}", spec.data.test ? "test" : "train", plan.count ? fmt::format(" of {}", *plan.count) : "")},
      {"batch", fmt::format("{}", plan.batch)},
      {"seed", fmt::format("{}", plan.seed)},
      {"the optimiser", spec.optimizerText},
      {"the loss", spec.loss != nullptr ? spec.lossText : ""},
      {"validate", fmt::format("{}", plan.validate)},
      {"patience", plan.patience ? fmt::format("{}", *plan.patience) : ""},
      {"schedule", spec.schedule.text},
      {"steps of the schedule", ends ? fmt::format("{}", training.sizes.total) : ""},
      {"augment", fmt::format("{}{}", plan.augmentation.flip ? "flip " : "",
                              plan.augmentation.crop > 0 ? fmt::format("crop({})", plan.augmentation.crop) : "")},
      {"backend", backend},
  };
  if (spec.start) identity.emplace_back("what it begins with", spec.start->text);
  for (const graph::ParameterGroup& group : spec.groups.groups)
    identity.emplace_back("the optimiser of " + placesText(group.places), group.text);
  if (!spec.groups.frozen.empty()) identity.emplace_back("what is frozen", placesText(spec.groups.frozen));
  for (const graph::TurnSpec& turn : spec.turns) {
    identity.emplace_back("the turn of " + placesText(turn.places),
                          fmt::format("{} by {}, {} in a row", turn.loss != nullptr ? turn.lossText : spec.lossText,
                                      turn.optimizer != nullptr ? turn.optimizerText : spec.optimizerText, turn.repeat));
  }
  if (spec.harden) {  // likewise younger
    identity.emplace_back("harden", fmt::format("{} (steps: {}, share: {})", spec.harden->text, spec.harden->method.steps,
                                                spec.harden->share.toDouble()));
  }
  return identity;
}

}  // namespace tbem::driver
