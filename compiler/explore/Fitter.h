// The search for the largest levels of one factor, design by design. Internal to this folder.
#pragma once

#include "compiler/explore/Fit.h"
#include "compiler/pytorch/rows/EagerSteps.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tbem::driver {

/// Of a state that has passed `design`.
class Fitter {
public:
  /// Opens the backend of a state, or eager PyTorch. `state` and `request` must outlive it.
  static tl::expected<Fitter, Failed> open(State& state, const FitRequest& request);

  /// Errors: the factor is none of numbers, or there is none.
  tl::expected<FitDesign, Failed> fit(DesignRun& run);
  /// Notes of all designs. Errors: what cuDNN was asked cannot be kept.
  tl::expected<void, Failed> finish();
  /// Whether what was looked for is there.
  ExitCode verdict() const { return unestimated ? kProgramErrors : none && !absent ? kVerdictAgainst : kOk; }

  const FitLimit& limit() const { return memory; }

private:
  /// What ended the estimate of a level that the language accepts: of a number that leaves its range, or of the whole network.
  using Refusal = std::variant<estimate::NoValue, estimate::LowerError>;

  Fitter(State& state, const FitRequest& request, FitLimit memory) : state(state), wanted(request), memory(std::move(memory)) {}
  bool inPyTorch() const { return eager.has_value(); }
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
