// A recorded history of PyTorch's CUDA caching allocator under the options it was recorded with, and under others.
#pragma once

#include "compiler/pytorch/allocator/ReplayTrace.h"
#include "compiler/pytorch/rows/EagerRequest.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct ReplayRequest {
  EagerRequest eager;                       ///< options to compare, and the version whose rules hold
  std::string capacity, card;               ///< of the card
  std::optional<std::string> recordedConf;  ///< the options of the recording
  std::string traceName;                    ///< only histories whose name has this
};

/// What is asked for, read.
struct ReplayWish {
  std::optional<std::uint64_t> capacity, card;
  const estimate::AllocatorVersion* version = nullptr;  ///< nullptr: each trace's own
};
/// Errors: kUsage, a message for each text that is not understood.
tl::expected<ReplayWish, Failed> readReplay(const ReplayRequest& request);

/// One history under one text of options.
struct ReplayedOptions {
  std::string text;
  bool recorded = false;  ///< as it was
  estimate::Replay replay;
  std::vector<std::string> ignored;  ///< options that are not simulated
};

/// One history under the options it was recorded with, and under others.
struct ReplayedTrace {
  const TraceFile* file = nullptr;
  const estimate::AllocatorTrace* trace = nullptr;
  estimate::AllocatorHistory history;
  estimate::TraceCheck check;
  estimate::CardMemory card;
  std::string rules;  ///< the version of PyTorch whose rules hold
  std::vector<ReplayedOptions> replays;
};

/// The histories of a file that are asked for. Errors: there is none, with those there are.
tl::expected<std::vector<const estimate::AllocatorTrace*>, Failed> tracesOf(const TraceFile& file, const std::string& path,
                                                                            const ReplayRequest& request);

/// Errors: options that are not understood (kUsage), or a recording of unknown rules.
tl::expected<ReplayedTrace, Failed> replayRecorded(const TraceFile& file, const estimate::AllocatorTrace& trace,
                                                   const std::string& path, const ReplayWish& wish, const ReplayRequest& request);

}  // namespace tbem::driver
