// A training on the page of `tbemc report`: what its checkpoint has of its epochs.
#include "compiler/experiment/OutFolder.h"
#include "compiler/show/Out.h"
#include "compiler/show/measured/TrainReport.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Svg.h"
#include "runtime/train/Checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::driver {

namespace {

using Reports = std::vector<train::EpochReport>;

report::Table epochsTable(const std::string& name, const Reports& epochs) {
  const auto any = [&](auto has) { return std::ranges::any_of(epochs, has); };
  const bool accuracy = any([](const train::EpochReport& epoch) { return epoch.train.accuracy.has_value(); });
  const bool validation = any([](const train::EpochReport& epoch) { return epoch.validation.has_value(); });
  const bool rate = any([](const train::EpochReport& epoch) { return epoch.rate.has_value(); });
  report::Table table;
  table.title = fmt::format("epochs of {}", name);
  const auto column = [&](const char* title) { table.columns.push_back({title, report::Align::Right}); };
  for (const char* title : {"epoch", "steps", "loss"}) column(title);
  if (accuracy) column("accuracy");
  if (validation) column("validation loss");
  if (validation && accuracy) column("validation accuracy");
  if (rate) column("lr");
  column("time");
  column("examples/s");
  const auto loss = [](const std::optional<train::Score>& score) { return score ? fmt::format("{:.4f}", score->loss) : "-"; };
  const auto share = [](const std::optional<train::Score>& score) {
    return score && score->accuracy ? fmt::format("{:.2f} %", 100 * *score->accuracy) : std::string("-");
  };
  for (const train::EpochReport& epoch : epochs) {
    std::vector<report::Cell> cells = {std::to_string(epoch.epoch), report::grouped(epoch.steps), loss(epoch.train)};
    if (accuracy) cells.emplace_back(share(epoch.train));
    if (validation) cells.emplace_back(loss(epoch.validation), epoch.best ? report::Tone::Good : report::Tone::Plain);
    if (validation && accuracy) cells.emplace_back(share(epoch.validation));
    if (rate) cells.emplace_back(epoch.rate ? fmt::format("{:.4g}", *epoch.rate) : "-");
    cells.emplace_back(report::seconds(epoch.seconds));
    cells.emplace_back(report::grouped(std::llround(epoch.examplesPerSecond)));
    table.add(std::move(cells));
  }
  return table;
}

/// A value of each epoch, of the training and of its validation; nothing where none has it.
template <class Value>
std::optional<report::Plot> curves(const std::string& title, const char* what, const Reports& epochs, Value value) {
  std::vector<report::Series> series;
  const auto add = [&](const char* name, auto scoreOf) {
    report::Series one{name, {}};
    for (const train::EpochReport& epoch : epochs) {
      const std::optional<train::Score> score = scoreOf(epoch);
      const std::optional<double> y = score ? value(*score) : std::nullopt;
      if (y)
        one.points.push_back(
            {static_cast<double>(epoch.epoch), *y, {}, {}, {}, {}, fmt::format("epoch {}: {:.4g}", epoch.epoch, *y)});
    }
    if (!one.points.empty()) series.push_back(std::move(one));
  };
  add("training", [](const train::EpochReport& epoch) { return std::optional(epoch.train); });
  add("validation", [](const train::EpochReport& epoch) { return epoch.validation; });
  if (series.empty()) return std::nullopt;
  return report::linesByFactor(title, {"epoch"}, {what}, std::move(series));
}

/// How far it came, and what goes on from there.
std::string standing(const train::Progress& progress) {
  const std::string so =
      fmt::format("{} epoch{}, {} steps", progress.epoch, progress.epoch == 1 ? "" : "s", report::grouped(progress.step));
  if (progress.early)
    return fmt::format("{}: stopped early, with no better validation since epoch {}, whose weights are kept", so,
                       progress.bestEpoch);
  return progress.ended ? so + ": finished" : so + ": not finished (tbemc train goes on)";
}

/// What a checkpoint says of itself and the program says now: of what is known without the data and a device.
std::string changes(State& state, const TrainingRun& training, std::vector<std::pair<std::string, std::string>> was) {
  const RowState* step = state.rowOf(training.step.get());
  if (step == nullptr) return {};
  auto is = identityOf(training, *step->elaborated, "", 0);
  for (auto* list : {&was, &is}) {
    std::erase_if(*list, [](const auto& entry) {
      return entry.first == "backend" || entry.first == "its content" || entry.first == kStartHash;
    });
  }
  return train::differences(was, is);
}

}  // namespace

void printHistory(show::Out& out, State& state, const TrainingRun& training, const std::string& folder) {
  const std::string& name = training.spec.decl->name.text;
  const std::string path = checkpointPath(*state.workspace, training, folder);
  const auto read = train::readCheckpoint(path);
  out.say("{}\n", trainingTitle(training));
  if (!read) return out.say("{}\n", read.error());
  if (!*read) return out.say("not trained yet: {} is not there (tbemc train)\n", path);
  const train::Progress& progress = (*read)->progress;
  out.say("{}\n", standing(progress));
  if (progress.test) out.say("test: {}\n", scoreText(*progress.test));
  out.say("weights in {}\n", path);
  if (const std::string changed = changes(state, training, (*read)->identity); !changed.empty())
    out.say("the program has changed since: {}\n", changed);
  if (progress.epochs.empty()) return;
  out.table(epochsTable(name, progress.epochs));
  const auto loss =
      curves("loss of " + name, "loss", progress.epochs, [](const train::Score& score) { return std::optional(score.loss); });
  const auto accuracy =
      curves("accuracy of " + name, "accuracy", progress.epochs, [](const train::Score& score) { return score.accuracy; });
  for (const auto& [plot, what] : {std::pair(&loss, "loss"), std::pair(&accuracy, "accuracy")}) {
    if (*plot) out.plots(folder, {{fmt::format("{}-{}.svg", name, what), report::svg(**plot)}});
  }
}

}  // namespace tbem::driver
