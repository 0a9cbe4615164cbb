#include "compiler/show/measured/TrainReport.h"

#include "compiler/run/RunTrainings.h"
#include "compiler/show/measured/GateCounts.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>

namespace tbem::driver {

std::string scoreText(const train::Score& score) {
  std::string text = fmt::format("loss {:.4f}", score.loss);
  if (const std::string what = report::notFinite(score.loss); !what.empty()) text = fmt::format("loss not finite ({})", what);
  if (score.accuracy) text += fmt::format(", accuracy {:.2f} %", 100 * *score.accuracy);
  if (score.flops) text += fmt::format(", {} an example", report::flops(*score.flops));
  return text;
}

std::string trainingTitle(const TrainingRun& training) {
  return fmt::format("train {}: {} on {}", training.spec.decl->name.text, training.spec.networkText, training.spec.data.name);
}

namespace {

const std::string& nameOf(const TrainingRun& training) { return training.spec.decl->name.text; }

Json scoreJson(const std::optional<train::Score>& score, bool accuracy) {
  if (!score) return {};
  return accuracy ? (score->accuracy ? Json(*score->accuracy) : Json()) : Json(score->loss);
}

bool isGated(const std::optional<train::Score>& score) { return score && score->flops; }

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

std::string addedText(const AddedCost& cost) {
  std::string text;
  if (cost.moves) text += fmt::format("; {} more harden it", report::flops(*cost.moves));
  if (cost.turns) text += fmt::format("; {} more in its turns", report::flops(*cost.turns));
  if (cost.arena) text += fmt::format(", all in an arena of {}", report::bytes(*cost.arena));
  return text;
}

}  // namespace

void TrainReport::trainingBegins(const TrainingRun& training, const std::string& checkpoint) {
  if (!out.display.json) {
    out.print("{}, {}\n", trainingTitle(training), sizesText(training.sizes, training.plan));
    out.flush();
  }
  if (checkpoint.empty()) out.note("no checkpoint is kept: the program is no file; --out DIR keeps it there");
  bar = out.progressBar();
}

void TrainReport::step(const TrainingRun& training, const train::StepReport& step) {
  if (out.display.json)
    out.json("train_step",
             {{"name", nameOf(training)}, {"step", step.step}, {"loss", step.loss}, {"learning_rate", numberOrNull(step.rate)}});
  else if (!out.display.quiet)
    bar->note(fmt::format("step {}: loss {:.6g}{}", step.step, step.loss, rateText(step.rate)));
}

void TrainReport::training(const TrainingRun& training, std::int64_t done, std::int64_t total, const std::string& what,
                           double left) {
  bar->update(static_cast<std::size_t>(done), static_cast<std::size_t>(total), nameOf(training) + " " + what, left);
}

void TrainReport::epoch(const TrainingRun& training, const train::EpochReport& report) {
  if (out.display.json) {
    Json fields{{"name", nameOf(training)},
                {"epoch", report.epoch},
                {"steps", report.steps},
                {"loss", report.train.loss},
                {"accuracy", scoreJson(report.train, true)},
                {"validation_loss", scoreJson(report.validation, false)},
                {"validation_accuracy", scoreJson(report.validation, true)}};
    if (isGated(report.validation)) fields["validation_flops"] = *report.validation->flops;
    if (!report.train.turns.empty()) fields["turns"] = report.train.turns;
    fields["best"] = report.best;
    fields["learning_rate"] = numberOrNull(report.rate);
    fields["seconds"] = report.seconds;
    fields["examples_per_second"] = report.examplesPerSecond;
    out.json("train", std::move(fields));
    return;
  }
  std::string text = fmt::format("epoch {:>3}: {}", report.epoch, scoreText(report.train));
  if (!report.train.turns.empty()) text += fmt::format("; turns {:.4f}", fmt::join(report.train.turns, ", "));
  if (report.validation) text += fmt::format("; validation {}{}", scoreText(*report.validation), report.best ? " (best)" : "");
  text += fmt::format("{}; {}, {}/s", rateText(report.rate), report::seconds(report.seconds),
                      countOf(std::llround(report.examplesPerSecond), "example"));
  bar->hide();
  out.print("{}\n", text);
  out.flush();
}

void TrainReport::trainingEnds(const TrainingRun& training, const train::Outcome* ended, const std::string& checkpoint) {
  bar.reset();
  if (ended == nullptr) return;
  const train::Outcome& outcome = *ended;
  if (!outcome.elsewhere.empty() && !outcome.complete)
    out.note(fmt::format("taken up elsewhere ({}): the numbers are not bit for bit those of one run", outcome.elsewhere));
  if (out.display.json) {
    Json fields{{"name", nameOf(training)},
                {"network", training.spec.networkText},
                {"data", training.spec.data.name},
                {"backend", backend},
                {"status", statusText(outcome.status)},
                {"epochs", outcome.epochs.size()},
                {"steps", outcome.steps},
                {"best_epoch", outcome.bestEpoch ? Json(*outcome.bestEpoch) : Json()},
                {"test_loss", scoreJson(outcome.test, false)},
                {"test_accuracy", scoreJson(outcome.test, true)}};
    if (isGated(outcome.test)) {
      fields["test_flops"] = *outcome.test->flops;
      fields["test_gates"] = gatesJson(outcome.test->gates);
    }
    if (outcome.scaling) {
      fields["loss_scale"] = outcome.scaling->scale;
      fields["overflowed_steps"] = outcome.scaling->overflowed;
    }
    fields["seconds"] = outcome.seconds;
    fields["resumed"] = outcome.resumed;
    fields["reused"] = outcome.complete;
    fields["checkpoint"] = checkpoint.empty() ? Json() : Json(checkpoint);
    out.json("trained", std::move(fields));
    return;
  }
  if (outcome.complete)
    out.print("trained before: {} epochs, {} steps (--fresh trains anew)\n", outcome.epochs.size(), outcome.steps);
  if (outcome.status == train::Outcome::Status::StoppedEarly && outcome.bestEpoch)
    out.print("stopped early: no better validation since epoch {}, whose weights are kept\n", *outcome.bestEpoch);
  if (outcome.status == train::Outcome::Status::StoppedEarly && !outcome.bestEpoch)
    out.print("stopped early: the validation loss of no epoch was finite\n");
  if (outcome.scaling) {
    out.print("the loss was scaled by {} at the end; gradients of {} overflowed, which moved nothing\n",
              report::number(outcome.scaling->scale), countOf(outcome.scaling->overflowed, "step"));
  }
  if (outcome.test) {
    out.print("test: {}\n", scoreText(*outcome.test));
    for (const runtime::GateCount& gate : outcome.test->gates) out.print("  {}\n", gateText(gate));
  }
  if (outcome.status == train::Outcome::Status::Interrupted) {
    out.print("stopped after step {}{}\n", outcome.steps,
              checkpoint.empty() ? "" : fmt::format("; {} has it, and the same command goes on", checkpoint));
  } else if (!checkpoint.empty()) {
    out.print("weights in {}\n", checkpoint);
  }
  out.flush();
}

void printTrainingCost(show::Out& out, State& state, const TrainingRun& training, const estimate::Convention& convention) {
  const RowState* step = state.rowOf(training.step.get());
  if (step == nullptr) return;
  const auto flops = estimate::countFlops(step->elaborated->graph(), step->elaborated->values, convention);
  if (!flops) return;  // told with the step's own estimate
  const double total = estimate::toDouble(flops->most.step()) * static_cast<double>(training.sizes.total);
  const std::string& name = training.spec.decl->name.text;
  const std::optional<AddedCost> added = addedCost(state, training, convention);
  if (out.display.json) {
    Json fields{{"name", name},
                {"network", training.spec.networkText},
                {"data", training.spec.data.name},
                {"batch", training.plan.batch},
                {"examples", training.sizes.train},
                {"validation", training.sizes.validation},
                {"test", training.sizes.test},
                {"steps_per_epoch", training.sizes.stepsPerEpoch},
                {"steps", training.sizes.total},
                {"flops", total}};
    if (added) {
      const Json arena = added->arena ? Json(*added->arena) : Json();
      if (added->moves) {
        fields["hardening_flops"] = *added->moves;
        fields["hardened_arena"] = arena;
      }
      if (added->turns) {
        fields["turns_flops"] = *added->turns;
        fields["turns_arena"] = arena;
      }
    }
    out.json("training", std::move(fields));
    return;
  }
  out.say("train {}: {}; {} without validation and test{}\n", name, sizesText(training.sizes, training.plan),
          report::flops(total), added ? addedText(*added) : "");
}

}  // namespace tbem::driver
