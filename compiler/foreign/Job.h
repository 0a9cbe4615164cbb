// A row on its way to a program that measures it: what its process is given, and how its answer is read.
#pragma once

#include "compiler/foreign/Python.h"
#include "runtime/core/Measurement.h"
#include "runtime/core/ProtocolSettings.h"
#include "runtime/measure/Child.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace tbem::foreign {

/// What a row's process is told beside its case.
struct Terms {
  runtime::ProtocolSettings protocol;
  std::uint64_t seed = 0;
  unsigned threads = 1;
  double timeLimit = 0;  ///< seconds; 0: none
};

/// The process of a command. It runs in the program's folder.
measure::Command commandJob(const Backend& backend, const Surroundings& surroundings, const runtime::Case& key,
                            const Terms& terms);
/// The process of a framework: our runner, which takes the steps of `program`, a file that the framework's `emit` wrote.
measure::Command frameworkJob(const Backend& backend, const Surroundings& surroundings, const std::string& program,
                              const runtime::Case& key, const Terms& terms);

/// What of the backend can change a measurement, as a text for the row's identity: of a command its text and the contents of the
/// files that its words name; of a framework the program, the runner, and what the Python has.
std::string identityOfCommand(const Backend& backend, const Surroundings& surroundings, const std::string& levels);
std::string identityOfProgram(const Backend& backend, const std::string& program, const std::string& versions);

/// Runs the process to its end; an answer that is none is a failed row with the end of what it said to standard error.
runtime::Measurement run(const measure::Command& job);

}  // namespace tbem::foreign
