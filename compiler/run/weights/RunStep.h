// One row's step, in this process: from numbers of a file or of a seed, with its numbers kept in a file.
#pragma once

#include "compiler/run/State.h"
#include "compiler/run/weights/StepFile.h"
#include "runtime/core/Decisions.h"
#include "runtime/data/ArrayFile.h"

#include <tl/expected.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct StepRequest {
  std::string save, load;  ///< files of arrays
  std::string names;       ///< whose names the file of `load` has
  bool partial = false;    ///< take what fits
  unsigned steps = 1;
  std::optional<unsigned> repeat;  ///< steps that are timed
};

struct StepOutcome {
  std::optional<double> loss;
  double seconds = 0;
  std::vector<runtime::Decision> decisions;  ///< of the network's gates
  std::optional<std::string> flops;          ///< executed, where there are gates
  std::vector<double> again;                 ///< seconds of each repeat, ascending
  std::vector<NotFinite> notFinite;          ///< of the arrays that are there after the step, and of those that `load` gave
};

/// What a step left beside its arrays: the loss, what gates decided, and the FLOPs that were left to do. Errors: in words.
tl::expected<void, std::string> readOutcome(const RowState& row, const runtime::Instance& instance, StepOutcome& outcome);

/// The file of `load`; nothing: there is none. Errors: a file cannot be read, or cannot be written later.
tl::expected<std::optional<data::ArrayFile>, Failed> openStepFiles(const StepRequest& request);

/// Of a row of a state that has passed `code`. `given`: the file of `load`. A note tells what was taken from it.
tl::expected<StepOutcome, Failed> runStep(State& state, const RowState& row, const std::optional<data::ArrayFile>& given,
                                          const StepRequest& request);

}  // namespace tbem::driver
