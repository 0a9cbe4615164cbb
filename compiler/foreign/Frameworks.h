// The frameworks in which a design's rows are measured. A framework is a row of the table, and a class of its name in
// tools/runners/framework.py, which runs what `emit` has written.
#pragma once

#include "compiler/emit/pytorch/PyTorch.h"

#include <span>
#include <string_view>

namespace tbem::foreign {

struct Framework {
  const char* name;     ///< of the backend in a program, and in the runner
  const char* title;    ///< in messages
  const char* package;  ///< of Python, whose version is part of a row's identity
  /// The row's network as a program of the framework. The row's structure has its calls (ExperimentOptions::recordCalls).
  tl::expected<emit::Emitted, emit::Refusal> (*emit)(const graph::Row& row, const emit::StepClauses& clauses);
};

std::span<const Framework> frameworks();
/// nullptr: none has this name.
const Framework* frameworkOf(std::string_view name);

}  // namespace tbem::foreign
