// The commands, each in a file of its name (Estimate.cpp, Measure.cpp, ...).
#pragma once

#include "compiler/driver/Command.h"

#include <functional>
#include <utility>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace tbem::driver {

extern const Command kRun, kCheck, kDesign, kEstimate, kFit, kWhatIf, kScreen, kSpec, kStep, kWeights, kMeasure, kTrain, kPerturb,
    kRegress, kPredict, kReport, kEmit, kImport, kPlan, kReplay, kNew, kFormat, kExplain, kDoc, kDoctor, kLsp, kRepl, kCompletion;

/// The commands that are there, in the order of `--help`.
const std::vector<const Command*>& commands();
/// Whether it takes one program and no more.
bool takesOne(const Command& command);
/// Each of them with its options, which are there during the call.
void forEachCommand(const std::function<void(const Command& command, const CLI::App& options)>& visit);
/// The commands that are planned, with one line each: asked for, they say that they are not there yet.
const std::vector<std::pair<const char*, const char*>>& laterCommands();

}  // namespace tbem::driver
