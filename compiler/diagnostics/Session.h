// What one run of the compiler owns: sources and diagnostics. Stages are given it; none keeps state elsewhere.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"

#include <string>

namespace tbem {

struct Session {
  SourceManager sources;
  DiagnosticSink sink;

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

/// A ReproducerHook (Bug.h) for a Session as context: writes all its sources, other than the library's, into one file in the
/// temporary folder, and returns its name.
std::string writeReproducer(void* session);

}  // namespace tbem
