// The places of a program's buffers, as a plan that can be written and compared.
#pragma once

#include "compiler/lower/program/Program.h"
#include "compiler/plan/PlanFile.h"

namespace tbem::estimate {

/// The places that the compiler gives the buffers of a row's step. Buffers of one name are numbered.
PlanFile planOf(const Program& program);

}  // namespace tbem::estimate
