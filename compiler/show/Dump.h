// What each stage made, as text: for --emit and --print-after.
#pragma once

#include <string>

namespace tbem::driver {

struct State;

std::string dumpSyntax(const State& state);
std::string dumpNames(const State& state);
std::string dumpDesigns(const State& state);
std::string dumpGraphs(const State& state);
std::string dumpPrograms(const State& state);
std::string dumpCode(const State& state);
std::string dumpCases(const State& state);
std::string dumpStored(const State& state);
std::string dumpFits(const State& state);
std::string dumpPredictions(const State& state);
std::string dumpTrained(const State& state);

}  // namespace tbem::driver
