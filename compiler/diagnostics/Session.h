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

/// All sources of a Session, other than the library's, one after the other: what a BugContext (Bug.h) says of it.
std::string programOf(const void* session);
/// Writes a program (Bug::program) into a file in the temporary folder. Its name, or "" where it cannot be written.
std::string writeReproducer(const std::string& program);

}  // namespace tbem
