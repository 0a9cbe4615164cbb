// What the plan of a lowered step would be if its calls needed other workspaces than those it was lowered with.
#pragma once

#include "compiler/lower/program/Program.h"

#include <cstdint>
#include <span>

namespace tbem::estimate {

struct WorkspacePeak {
  std::uint64_t live = 0;   ///< largest sum of live bytes, persistent ones included
  std::uint64_t arena = 0;  ///< of the plan
  std::uint32_t step = 0;   ///< at which `live` is reached
};

/// `workspace[i]`: bytes of `program.calls[i]` while it runs, instead of its own.
WorkspacePeak planWithWorkspaces(const Program& program, std::span<const std::uint64_t> workspace);

}  // namespace tbem::estimate
