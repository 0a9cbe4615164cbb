// The largest level of a factor such that it and all smaller ones fit a memory (FitSearch.h says how it is looked for), for each
// combination of the other factors' levels of a design.
#pragma once

#include "compiler/explore/FitLimit.h"
#include "compiler/explore/FitSearch.h"
#include "compiler/pytorch/rows/EagerSteps.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
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

/// Of a state that has passed `design`.
class Fitter {
public:
  /// Without PyTorch the state needs its backend. `state` and `request` must outlive it.
  static tl::expected<Fitter, Failed> open(State& state, const FitRequest& request);

  /// Errors: the factor is none of numbers, or there is none.
  tl::expected<FitDesign, Failed> fit(DesignRun& run);
  /// Notes of all designs. Errors: what cuDNN was asked cannot be kept.
  tl::expected<void, Failed> finish();
  /// Whether what was looked for is there.
  ExitCode verdict() const { return unestimated ? kProgramErrors : none && !absent ? kVerdictAgainst : kOk; }

  const FitLimit& limit() const { return memory; }
  const FitRequest& request() const { return wanted; }
  bool inPyTorch() const { return eager.has_value(); }

private:
  /// What ended the estimate of a level that the language accepts: of a number that leaves its range, or of the whole network.
  using Refusal = std::variant<estimate::NoValue, estimate::LowerError>;

  Fitter(State& state, const FitRequest& request, FitLimit memory) : state(state), wanted(request), memory(std::move(memory)) {}
  bool onCard() const { return eager && eager->onCuda(); }
  bool addRow(FitDesign& design, DesignRun& run, const LevelIndices& levels);
  Fit search(LevelSearch& searcher, VariedRows& rows);
  Fit searchCard(LevelSearch& searcher, VariedRows& rows);
  LevelTrial trialOf(const DesignRun& run, const graph::Row* row, std::uint64_t level);
  LevelTrial tryLowered(const DesignRun& run, graph::Row row, std::uint64_t level);
  std::string refuse(const DesignRun& run, const Refusal& refusal);
  std::string boundText(VariedRows& rows, std::uint64_t level);

  State& state;
  const FitRequest& wanted;
  FitLimit memory;
  std::optional<EagerSteps> eager;
  std::map<std::uint64_t, Refusal> refusals;  ///< of the row in hand, by level
  bool none = false;                          ///< of some row no level fits
  bool absent = false;                        ///< of some row no level exists, which was reported
  bool unestimated = false;                   ///< no level of a network can be estimated at all
  std::uint32_t unknownWorkspaces = 0;        ///< as in FitRow
};

}  // namespace tbem::driver
