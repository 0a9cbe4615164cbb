// The largest level of a factor such that it and all smaller ones fit a memory (FitSearch.h says how it is looked for), for each
// combination of the other factors' levels of a design.
#pragma once

#include "compiler/devices/EngineRequest.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/explore/FitSearch.h"
#include "compiler/pytorch/rows/EagerRequest.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tbem::driver {

struct FitRequest {
  EagerRequest eager;
  EngineRequest engines;           ///< no device: that of the memory
  std::string maxMemory, reserve;  ///< as in FitLimit.h
  std::string vary = "batch";      ///< the factor
  bool every = false;              ///< every level is tried
};

/// What makes no sense together, with the way out; "": nothing.
std::string wrongFit(const FitRequest& request, const Target& target);

/// Of one combination of the other factors' levels.
struct FitRow {
  LevelIndices levels;  ///< that of the factor is the first
  Fit fit;
  std::uint64_t bytes = 0;              ///< of the largest
  std::string whyFails;                 ///< the first that does not fit
  std::string whyBound;                 ///< the bound cannot be built
  std::size_t tried = 0;                ///< levels
  std::uint32_t unknownWorkspaces = 0;  ///< as in estimate::Program, of the level tried until now that has most
};

struct FitDesign {
  const DesignRun* run = nullptr;
  std::uint32_t factor = 0;
  std::string backend;
  bool inPyTorch = false, onCard = false;
  std::vector<FitRow> rows;
  std::string refusal;  ///< no level can be estimated at all: why, where the session's diagnostics do not say it
};

/// What was looked for in the designs of a state.
struct FitAnswers {
  FitLimit limit;
  std::string vary;  ///< the factor
  std::vector<FitDesign> designs;
  ExitCode verdict = kOk;            ///< whether what was looked for is there
  tl::expected<void, Failed> ended;  ///< an error: why there are no more than these
};

/// Of a state that has passed `design`, each of its designs of a network. What is wrong with levels goes to the session.
FitAnswers fitDesigns(State& state, const FitRequest& request);

}  // namespace tbem::driver
