// The frameworks in which a design's rows are measured. A framework is a row of the table, and a class of its name in
// tools/runners/framework.py, which runs what `emit` has written.
#pragma once

#include "compiler/emit/pytorch/PyTorch.h"

#include <span>
#include <string_view>

namespace tbem::foreign {

/// What a framework computes with, where one can choose: what Keras calls its backend.
struct Engine {
  const char* name;                       ///< in a program, and in the runner: "jax"
  std::span<const char* const> packages;  ///< of Python
};

/// One that has several engines has a row for each.
struct Framework {
  const char* name;     ///< of the backend in a program, and in the runner
  const char* title;    ///< in messages
  const char* package;  ///< of Python, whose version is part of a row's identity
  /// The row's network as a program of the framework. The row's structure has its calls (ExperimentOptions::recordCalls).
  tl::expected<emit::Emitted, emit::Refusal> (*emit)(const graph::Row& row, const emit::StepClauses& clauses);
  const Engine* engine = nullptr;  ///< nullptr: it computes itself
};

std::span<const Framework> frameworks();
/// The first of this name; nullptr: none has it.
const Framework* frameworkOf(std::string_view name);
/// The framework of this one's name that computes with the engine of that name; nullptr: there is none.
const Framework* withEngine(const Framework& framework, std::string_view engine);

}  // namespace tbem::foreign
