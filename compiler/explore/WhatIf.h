// On which devices a row's step fits in eager PyTorch, and what changes of the step, the libraries or the allocator would save.
#pragma once

#include "compiler/devices/EngineRequest.h"
#include "compiler/pytorch/rows/EagerRequest.h"
#include "compiler/run/State.h"

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

/// Of one row.
struct RowAnswers {
  const RowState* row = nullptr;
  bool hasFactor = false;         ///< its design has the factor that varies, of whole numbers
  Answers<DeviceAnswer> devices;  ///< of each device of the library that is known well enough
  Answers<ChangeAnswer> changes;  ///< of each change of one thing, all else as it is, that suits the row
};

struct WhatIfAnswers {
  std::vector<RowAnswers> rows;      ///< the first of each design of a network
  tl::expected<void, Failed> ended;  ///< an error: why there are no more than these
};

/// Of a state that has passed `graph`.
WhatIfAnswers askWhatIf(State& state, const WhatIfRequest& request);

}  // namespace tbem::driver
