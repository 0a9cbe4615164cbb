// One function a command, each in a file of its name (Estimate.cpp, Measure.cpp, ...). They print results on standard output and
// diagnostics on standard error, and return an exit status.
#pragma once

#include "compiler/driver/Options.h"
#include "compiler/show/Out.h"

namespace tbem::driver {

int runProgram(show::Out& out, const Options& options);  // run
int runCheck(show::Out& out, const Options& options);
int runDesign(show::Out& out, const Options& options);
int runEstimate(show::Out& out, const Options& options);
int runFit(show::Out& out, const Options& options);
int runWhatIf(show::Out& out, const Options& options);  // what-if
int runScreen(show::Out& out, const Options& options);
int runSpec(show::Out& out, const Options& options);
int runSpecTests(show::Out& out, const Options& options);  // spec --tests
int runStep(show::Out& out, const Options& options);
int runWeights(show::Out& out, const Options& options);
int runMeasure(show::Out& out, const Options& options);
/// The measurements and regressions of what the store holds, for a page.
int reportStored(show::Out& out, const Options& options);
int runTrain(show::Out& out, const Options& options);
int runRegress(show::Out& out, const Options& options);
int runPredict(show::Out& out, const Options& options);
int runReport(show::Out& out, const Options& options);
int runEmit(show::Out& out, const Options& options);
int runPlan(show::Out& out, const Options& options);  // PlanTool.cpp
int runReplay(show::Out& out, const Options& options);
int runFormat(show::Out& out, const Options& options);  // fmt
int runExplain(show::Out& out, const Options& options);
int runDoc(show::Out& out, const Options& options);
int runDoctor(show::Out& out, const Options& options);
/// Hidden: measures one row in this process and prints its result as one JSON line.
int runWorker(show::Out& out, const Options& options);

}  // namespace tbem::driver
