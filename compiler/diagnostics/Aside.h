// What is tried out must not leave its messages behind.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"

#include <deque>

namespace tbem {

/// What `work()` reports, which is taken out of the sink again.
template <class Work>
std::deque<Diagnostic> reportsOf(DiagnosticSink& sink, Work&& work) {
  const std::deque<Diagnostic> before = sink.all();
  sink.clear();
  work();
  std::deque<Diagnostic> made = sink.all();
  sink.clear();
  for (const Diagnostic& one : before) sink.append(one);
  return made;
}

}  // namespace tbem
