// What one step came to: lines for people, or a JSON object.
#pragma once

#include "compiler/run/weights/RunStep.h"
#include "compiler/show/Out.h"

#include <string>

namespace tbem::driver {

/// `saved`: the file that has its numbers; "": none.
void printStep(show::Out& out, const RowState& row, const std::string& backend, const StepOutcome& outcome,
               const std::string& saved);

}  // namespace tbem::driver
