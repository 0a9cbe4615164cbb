// What gates did with samples: as a line for people, and as JSON.
#pragma once

#include "compiler/show/Out.h"
#include "runtime/core/Decisions.h"

#include <span>
#include <string>

namespace tbem::driver {

/// "unit[3].skip: 4 of 16 skipped".
std::string gateText(const runtime::GateCount& gate);
Json gatesJson(std::span<const runtime::GateCount> gates);

}  // namespace tbem::driver
