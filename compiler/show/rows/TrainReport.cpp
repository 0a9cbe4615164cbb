#include "compiler/show/rows/TrainReport.h"
#include "compiler/show/Out.h"

#include "compiler/count/Flops.h"
#include "compiler/run/Interrupt.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace tbem::driver {

std::string scoreText(const train::Score& score) {
  std::string text = fmt::format("loss {:.4f}", score.loss);
  if (const std::string what = report::notFinite(score.loss); !what.empty()) text = fmt::format("loss not finite ({})", what);
  if (score.accuracy) text += fmt::format(", accuracy {:.2f} %", 100 * *score.accuracy);
  return text;
}

std::string trainingTitle(const TrainingRun& training) {
  return fmt::format("train {}: {} on {}", training.spec.decl->name.text, training.spec.networkText, training.spec.data.name);
}

namespace {

Json scoreJson(const std::optional<train::Score>& score, bool accuracy) {
  if (!score) return {};
  return accuracy ? (score->accuracy ? Json(*score->accuracy) : Json()) : Json(score->loss);
}

Json numberOrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

std::string rateText(const std::optional<double>& rate) { return rate ? fmt::format("; lr {:.4g}", *rate) : ""; }

const char* statusText(train::Outcome::Status status) {
  switch (status) {
    case train::Outcome::Status::Finished:
      return "finished";
    case train::Outcome::Status::StoppedEarly:
      return "stopped_early";
    case train::Outcome::Status::Interrupted:
      return "interrupted";
  }
  return "";
}

std::string countOf(std::int64_t count, const char* word) {
  return fmt::format("{} {}{}", report::grouped(count), word, count == 1 ? "" : "s");
}

std::string sizesText(const train::Sizes& sizes, const train::Plan& plan) {
  std::string text = fmt::format("{}, {} of {} an epoch, {} in all", countOf(sizes.train, "example"),
                                 countOf(sizes.stepsPerEpoch, "step"), plan.batch, report::grouped(sizes.total));
  if (sizes.validation > 0) text += fmt::format("; {} for validation", report::grouped(sizes.validation));
  if (sizes.test > 0) text += fmt::format("; {} for the test", report::grouped(sizes.test));
  return text;
}

}  // namespace

TrainReport::TrainReport(show::Out& out, State& state, const TrainingRun& training)
    : out(out), state(state), training(training), name(training.spec.decl->name.text) {}

void TrainReport::begin(const std::string& checkpoint) {
  if (!state.options.json) {
    out.print("{}, {}\n", trainingTitle(training), sizesText(training.sizes, training.plan));
    out.flush();
  }
  if (checkpoint.empty()) out.note("no checkpoint is kept: the program is no file; --out DIR keeps it there");
  progress = out.progressBar();
}

train::Observer TrainReport::observer() {
  train::Observer observer;
  observer.epoch = [this](const train::EpochReport& report) { epoch(report); };
  observer.step = [this](const train::StepReport& step) {
    if (state.options.json)
      out.json("train_step",
               {{"name", name}, {"step", step.step}, {"loss", step.loss}, {"learning_rate", numberOrNull(step.rate)}});
    else if (!state.options.quiet)
      progress->note(fmt::format("step {}: loss {:.6g}{}", step.step, step.loss, rateText(step.rate)));
  };
  observer.progress = [this](std::int64_t done, std::int64_t total, const std::string& what, double left) {
    progress->update(static_cast<std::size_t>(done), static_cast<std::size_t>(total), name + " " + what, left);
  };
  observer.stop = [] { return *interruptFlag() != 0; };
  return observer;
}

void TrainReport::epoch(const train::EpochReport& report) {
  if (state.options.json) {
    out.json("train", {{"name", name},
                       {"epoch", report.epoch},
                       {"steps", report.steps},
                       {"loss", report.train.loss},
                       {"accuracy", scoreJson(report.train, true)},
                       {"validation_loss", scoreJson(report.validation, false)},
                       {"validation_accuracy", scoreJson(report.validation, true)},
                       {"best", report.best},
                       {"learning_rate", numberOrNull(report.rate)},
                       {"seconds", report.seconds},
                       {"examples_per_second", report.examplesPerSecond}});
    return;
  }
  std::string text = fmt::format("epoch {:>3}: {}", report.epoch, scoreText(report.train));
  if (report.validation) text += fmt::format("; validation {}{}", scoreText(*report.validation), report.best ? " (best)" : "");
  text += fmt::format("{}; {}, {}/s", rateText(report.rate), report::seconds(report.seconds),
                      countOf(static_cast<std::int64_t>(report.examplesPerSecond), "example"));
  progress->hide();
  out.print("{}\n", text);
  out.flush();
}

void TrainReport::abandon() { progress.reset(); }

void TrainReport::end(const train::Outcome& outcome, const std::string& checkpoint) {
  progress.reset();
  if (!outcome.elsewhere.empty() && !outcome.complete)
    out.note(fmt::format("taken up elsewhere ({}): the numbers are not bit for bit those of one run", outcome.elsewhere));
  if (state.options.json) {
    out.json("trained", {{"name", name},
                         {"network", training.spec.networkText},
                         {"data", training.spec.data.name},
                         {"backend", state.backendName},
                         {"status", statusText(outcome.status)},
                         {"epochs", outcome.epochs.size()},
                         {"steps", outcome.steps},
                         {"best_epoch", outcome.bestEpoch ? Json(*outcome.bestEpoch) : Json()},
                         {"test_loss", scoreJson(outcome.test, false)},
                         {"test_accuracy", scoreJson(outcome.test, true)},
                         {"seconds", outcome.seconds},
                         {"resumed", outcome.resumed},
                         {"reused", outcome.complete},
                         {"checkpoint", checkpoint.empty() ? Json() : Json(checkpoint)}});
    return;
  }
  if (outcome.complete)
    out.print("trained before: {} epochs, {} steps (--fresh trains anew)\n", outcome.epochs.size(), outcome.steps);
  if (outcome.status == train::Outcome::Status::StoppedEarly && outcome.bestEpoch)
    out.print("stopped early: no better validation since epoch {}, whose weights are kept\n", *outcome.bestEpoch);
  if (outcome.status == train::Outcome::Status::StoppedEarly && !outcome.bestEpoch)
    out.print("stopped early: the validation loss of no epoch was finite\n");
  if (outcome.test) out.print("test: {}\n", scoreText(*outcome.test));
  if (outcome.status == train::Outcome::Status::Interrupted) {
    out.print("stopped after step {}{}\n", outcome.steps,
              checkpoint.empty() ? "" : fmt::format("; {} has it, and the same command goes on", checkpoint));
  } else if (!checkpoint.empty()) {
    out.print("weights in {}\n", checkpoint);
  }
  out.flush();
}

void printTrainingCost(show::Out& out, State& state, const TrainingRun& training) {
  const RowState* step = state.rowOf(training.step.get());
  if (step == nullptr) return;
  const auto flops = estimate::countFlops(step->elaborated->graph(), step->elaborated->values,
                                          *estimate::findConvention(state.options.convention));
  if (!flops) return;  // told with the step's own estimate
  const double total = estimate::toDouble(flops->most.step()) * static_cast<double>(training.sizes.total);
  const std::string& name = training.spec.decl->name.text;
  if (state.options.json) {
    out.json("training", {{"name", name},
                          {"network", training.spec.networkText},
                          {"data", training.spec.data.name},
                          {"batch", training.plan.batch},
                          {"examples", training.sizes.train},
                          {"validation", training.sizes.validation},
                          {"test", training.sizes.test},
                          {"steps_per_epoch", training.sizes.stepsPerEpoch},
                          {"steps", training.sizes.total},
                          {"flops", total}});
    return;
  }
  out.say("train {}: {}; {} without validation and test\n", name, sizesText(training.sizes, training.plan), report::flops(total));
}

}  // namespace tbem::driver
