// What one run of the compiler owns: sources and diagnostics. Stages are given it; none keeps state elsewhere.
#pragma once

#include "compiler/support/Diagnostics.h"
#include "compiler/support/Source.h"

namespace tbem {

struct Session {
  SourceManager sources;
  DiagnosticSink sink;

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

}  // namespace tbem
