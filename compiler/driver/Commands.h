// The commands, each in a file of its name (Estimate.cpp, Measure.cpp, ...).
#pragma once

#include "compiler/driver/Command.h"

#include <utility>
#include <vector>

namespace tbem::driver {

extern const Command kRun, kCheck, kDesign, kEstimate, kFit, kWhatIf, kScreen, kSpec, kStep, kWeights, kMeasure, kTrain, kRegress,
    kPredict, kReport, kEmit, kPlan, kReplay, kFormat, kExplain, kDoc, kDoctor, kLsp, kRepl, kCompletion;

/// The commands that are there, in the order of `--help`.
const std::vector<const Command*>& commands();
/// The commands that are planned, with one line each: asked for, they say that they are not there yet.
const std::vector<std::pair<const char*, const char*>>& laterCommands();

}  // namespace tbem::driver
