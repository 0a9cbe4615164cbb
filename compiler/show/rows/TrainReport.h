// What a training says while it runs and when it is over: lines for people, or JSON.
#pragma once

#include "compiler/driver/Pipeline.h"
#include "runtime/report/Progress.h"

#include <memory>
#include <string>

namespace tbem::driver {

/// "loss 0.1234, accuracy 98.76 %".
std::string scoreText(const train::Score& score);
/// "train net: tiny() on clouds".
std::string trainingTitle(const TrainingRun& training);

class TrainReport {
public:
  TrainReport(show::Out& out, State& state, const TrainingRun& training);
  /// What is trained on what, before it begins. `checkpoint`: "" where nothing is kept.
  void begin(const std::string& checkpoint);
  train::Observer observer();
  void end(const train::Outcome& outcome, const std::string& checkpoint);
  /// Takes the progress away, for a failure's message.
  void abandon();

private:
  void epoch(const train::EpochReport& report);

  show::Out& out;
  State& state;
  const TrainingRun& training;
  std::string name;
  std::unique_ptr<report::Progress> progress;
};

/// A training as its checkpoint has it, on the page that is made: its epochs as a table and as curves, how it ended, the test.
void printHistory(show::Out& out, State& state, const TrainingRun& training);

/// What a training will cost, after its step's estimate.
void printTrainingCost(show::Out& out, State& state, const TrainingRun& training);

}  // namespace tbem::driver
