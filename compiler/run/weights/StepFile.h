// The numbers of one step as named arrays: what `tbemc step --save` writes, and what `step` looks through for numbers that are
// not finite.
#pragma once

#include "compiler/run/State.h"
#include "compiler/support/Failed.h"
#include "runtime/core/Executable.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tbem::driver {

/// An array of a step: which tensor of the row's graph has its numbers.
struct StepArray {
  std::string name;
  graph::TensorId tensor = graph::kNoTensor;
};
/// input/NAME, target, weight/PATH, buffer/PATH: what a step begins with, in order of definition.
std::vector<StepArray> arraysBefore(const RowState& lowered);
/// gradient/PATH, after/PATH, buffer_after/PATH, output (output_2, ... for several), loss: what it leaves. `keepsResults`: as
/// State::keepResults when the row was lowered; without it there are no gradients and no outputs.
std::vector<StepArray> arraysAfter(const RowState& lowered, bool keepsResults);

using VisitArray = std::function<void(const std::string& name, const runtime::HostTensor& value)>;

/// The arrays of `arraysBefore`, as they are before the step.
tl::expected<void, std::string> visitBefore(const RowState& lowered, const runtime::Instance& instance, const VisitArray& visit);
/// Those of `arraysAfter`, then decision/PATH of gates, as the step left them.
tl::expected<void, std::string> visitAfter(const RowState& lowered, const runtime::Instance& instance, bool keepsResults,
                                           const VisitArray& visit);

/// Whether the file of --save can be written, asked before anything runs. Errors: kUsage (its name ends like no file of arrays),
/// kEnvironment (its folder cannot be written).
tl::expected<void, Failed> canSaveArrays(const std::string& path);

/// How many numbers of a tensor of a floating type are not finite.
std::size_t countNotFinite(const runtime::HostTensor& tensor);

/// An array in which some numbers are not finite.
struct NotFinite {
  std::string array;
  std::size_t count = 0, of = 0;
};

}  // namespace tbem::driver
