// On which devices a row's step fits in eager PyTorch, and what changes of the step, the libraries or the allocator would save.
#pragma once

#include "compiler/explore/FitSearch.h"
#include "compiler/pytorch/rows/EagerSteps.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct WhatIfRequest {
  EagerRequest eager;
  EngineRequest engines;       ///< the device: of the changes
  std::string reserve;         ///< as wrongReserve takes it
  std::string vary = "batch";  ///< the factor whose largest level is looked for
};

/// The device of the changes.
std::string changedOn(const WhatIfRequest& request);

/// What a row takes of a device; bytes.
struct TakenMemory {
  std::uint64_t allocated = 0, reserved = 0, device = 0;
  bool complete = false;  ///< nothing of the device is left out
};

struct DeviceAnswer {
  std::string device;
  std::uint64_t memory = 0;  ///< that it has
  TakenMemory taken;
  struct Largest {
    std::uint64_t level = 0;
    std::string bound;  ///< why the next level cannot be built; "": memory ends it, or nothing does
  };
  std::optional<Largest> largest;  ///< of the factor that varies; nothing: no level fits

  bool fits() const { return taken.device <= memory; }
  std::int64_t headroom() const { return static_cast<std::int64_t>(memory) - static_cast<std::int64_t>(taken.device); }
};

struct ChangeAnswer {
  std::string change;  ///< "the optimiser were fused"; the first: "nothing"
  TakenMemory taken;
  std::int64_t difference = 0;  ///< of the device, from the first
};

/// The answers of one kind, in order.
template <class Answer>
struct Answers {
  std::vector<Answer> all;
  tl::expected<void, Failed> ended;  ///< an error: why there are no more than these
};

/// The questions of one row of a state that has passed `graph`.
class WhatIf {
public:
  /// All must outlive this.
  WhatIf(State& state, RowState& row, const WhatIfRequest& request);

  /// Of each device of the library that is known well enough.
  Answers<DeviceAnswer> devices();
  /// Of each change of one thing, all else as it is; those that do not suit the row are left out.
  Answers<ChangeAnswer> changes();

  const RowState& row() const { return asked; }
  const WhatIfRequest& request() const { return wanted; }
  /// Whether the row's design has the factor that varies, of whole numbers.
  bool hasFactor() const { return factor.has_value(); }

private:
  struct Change;
  struct Otherwise;

  tl::expected<DeviceAnswer, Failed> on(const std::string& name, const estimate::Device& device);
  /// Nothing: the change does not suit the row.
  tl::expected<std::optional<TakenMemory>, Failed> with(const Change& change);
  std::optional<DeviceAnswer::Largest> largestOn(EagerSteps& steps, std::uint64_t limit, const std::string& device);
  std::string boundText(std::uint64_t level);
  const graph::Row* rowUnder(const graph::ExperimentOptions& clauses, Otherwise& otherwise);
  tl::expected<TakenMemory, Failed> takenBy(const graph::Row& elaborated, EagerSteps& steps, estimate::EagerEngines engines);
  std::vector<Change> changesOf() const;
  graph::ExperimentOptions& clausesOf(Change& change) const;
  bool isSingle() const;
  std::uint64_t levelNow() const;

  State& state;
  RowState& asked;
  DesignRun& run;
  const WhatIfRequest& wanted;
  std::uint64_t reserve;
  std::optional<std::uint32_t> factor;
  std::optional<VariedRows> varied;
};

}  // namespace tbem::driver
