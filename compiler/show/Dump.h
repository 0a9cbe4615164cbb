// What each stage made, as text: for --emit and --print-after.
#pragma once

#include <string>

namespace tbem::driver {

struct State;
class Workspace;
struct FitAnswers;
struct Proofs;
struct Screening;
struct WhatIfAnswers;
struct WhatIfRequest;

std::string dumpSyntax(const State& state);
std::string dumpNames(const State& state);
std::string dumpDesigns(const State& state);
std::string dumpGraphs(const State& state);
std::string dumpPrograms(const State& state);
std::string dumpCode(const State& state);
std::string dumpCases(const State& state);
std::string dumpStored(const State& state);
std::string dumpRegressions(const State& state);
std::string dumpPredictions(const State& state);
std::string dumpTrained(const State& state);
std::string dumpPerturbed(const State& state);

std::string dumpProofs(const Workspace& workspace, const Proofs& proofs);
std::string dumpScreening(const State& state, const Screening& screening);
std::string dumpFits(const FitAnswers& answers);
std::string dumpWhatIf(const WhatIfRequest& request, const WhatIfAnswers& answers);

}  // namespace tbem::driver
