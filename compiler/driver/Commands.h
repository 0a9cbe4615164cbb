// One function a command, each in a file of its name (Estimate.cpp, Measure.cpp, ...). They print results on standard output and
// diagnostics on standard error, and return an exit status.
#pragma once

#include "compiler/driver/Options.h"

namespace tbem::driver {

int runProgram(const Options& options);  // run
int runCheck(const Options& options);
int runDesign(const Options& options);
int runEstimate(const Options& options);
int runFit(const Options& options);
int runWhatIf(const Options& options);  // what-if
int runScreen(const Options& options);
int runSpec(const Options& options);
int runSpecTests(const Options& options);  // spec --tests
int runStep(const Options& options);
int runWeights(const Options& options);
int runMeasure(const Options& options);
int runTrain(const Options& options);
int runRegress(const Options& options);
int runPredict(const Options& options);
int runEmit(const Options& options);
int runPlan(const Options& options);  // PlanTool.cpp
int runReplay(const Options& options);
int runFormat(const Options& options);  // fmt
int runExplain(const Options& options);
int runDoc(const Options& options);
int runDocOperators(const Options& options);
int runDocDevices(const Options& options);
int runDoctor(const Options& options);
/// Hidden: measures one row in this process and prints its result as one JSON line.
int runWorker(const Options& options);

}  // namespace tbem::driver
