// What a training says while it runs and when it is over: lines for people, or JSON.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/run/State.h"
#include "compiler/show/measured/RunView.h"
#include "runtime/report/Progress.h"

#include <memory>
#include <string>
#include <utility>

namespace tbem::driver {

/// "loss 0.1234, accuracy 98.76 %".
std::string scoreText(const train::Score& score);
/// "train net: tiny() on clouds".
std::string trainingTitle(const TrainingRun& training);

class TrainReport final : public RunView {
public:
  /// `out` must outlive this.
  TrainReport(show::Out& out, std::string backend) : RunView(out), backend(std::move(backend)) {}
  void trainingBegins(const TrainingRun& training, const std::string& checkpoint) override;
  void epoch(const TrainingRun& training, const train::EpochReport& report) override;
  void step(const TrainingRun& training, const train::StepReport& report) override;
  void training(const TrainingRun& training, std::int64_t done, std::int64_t total, const std::string& what,
                double left) override;
  void trainingEnds(const TrainingRun& training, const train::Outcome* outcome, const std::string& checkpoint) override;

private:
  std::string backend;
  std::unique_ptr<report::Progress> bar;
};

/// A training as its checkpoint has it, on the page that is made: its epochs as a table and as curves, how it ended, the test.
void printHistory(show::Out& out, State& state, const TrainingRun& training, const std::string& folder);

/// What a training will cost, after its step's estimate.
void printTrainingCost(show::Out& out, State& state, const TrainingRun& training, const estimate::Convention& convention);

}  // namespace tbem::driver
