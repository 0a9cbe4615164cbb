// The loop over the cases of a campaign. What it keeps it keeps through the functions it is given: it knows no store, no
// network and no backend.
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tbem::measure {

/// What is known of a (identity, repeat) from before.
struct Known {
  runtime::Status status{};
  double timeLimit = 0;
};

/// Where a campaign stands: given before a case starts (`last` null) and after it is committed.
struct Standing {
  std::size_t done = 0;    ///< cases finished now
  std::size_t total = 0;   ///< cases that this campaign will run
  std::size_t reused = 0;  ///< cases that were finished before
  double elapsed = 0;      ///< seconds
  double left = -1;        ///< seconds, by cost of what is left; negative where nothing is known yet
  const runtime::Case* current = nullptr;
  const runtime::Measurement* last = nullptr;
};

struct Hooks {
  /// Is it there? Asked once for each case, before anything runs. An error ends the campaign.
  std::function<tl::expected<std::optional<Known>, std::string>(const runtime::Case&)> known;
  /// Runs one case. The limit is that of a row, 0: none. `lane`: below CampaignSettings::lanes; a lane runs one
  /// case at a time, each on a thread of its own, the first on that of the caller, and cases that run alone there. Nothing: it
  /// was interrupted, and so is the campaign; what it throws is an error that ends it.
  std::function<std::optional<runtime::Measurement>(const runtime::Case&, double timeLimit, std::size_t lane)> run;
  /// Whether a case may run while other lanes run such ones; may be empty: none may.
  std::function<bool(const runtime::Case&)> beside;
  /// Keeps it; the lane's next case starts only when this has returned. One at a time, as `progress`. An error (say, disk full)
  /// ends the campaign.
  std::function<tl::expected<void, std::string>(const runtime::Case&, const runtime::Measurement&)> commit;
  std::function<void(const Standing&)> progress;  ///< may be empty
};

struct CampaignSettings {
  std::uint64_t seed = 0;                                       ///< of the order
  double maxSeconds = std::numeric_limits<double>::infinity();  ///< no case starts later than this (`--max-time`)
  std::size_t maxRows =
      std::numeric_limits<std::size_t>::max();  ///< unfinished rows, of all designs, that are taken up (`--max-rows`)
  double rowSeconds = 0;                        ///< limit of one case; 0: none
  std::size_t lanes = 1;                        ///< cases that run side by side at most
  bool fresh = false;               ///< run also what is finished; `commit` then has to replace it (store::Existing::Replace)
  std::function<bool()> stop = {};  ///< asked before each case: true ends the campaign; may be empty
};

enum class End : std::uint8_t { Complete, Interrupted, TimeSpent, RowsSpent, Error };

struct CampaignResult {
  End end = End::Complete;
  std::string error;                                                  ///< of a hook, where end is Error
  std::size_t ok = 0, oom = 0, failed = 0, timeout = 0, skipped = 0;  ///< of the cases run now
  std::size_t reused = 0;                                             ///< finished before
  std::size_t left = 0;                                               ///< neither
  std::vector<runtime::Case> ran;                                     ///< in the order in which they ran
};

/// The order: repeat by repeat, within each repeat all rows and backends shuffled anew (Fisher-Yates on SplitMix64 of seed
/// and repeat), so that a drift of the machine falls on no level of a factor. The same seed gives the same order everywhere.
/// Of cases with equal (identity, repeat) the first stays: it is one experiment.
std::vector<runtime::Case> ordered(std::vector<runtime::Case> cases, std::uint64_t seed);

CampaignResult runCampaign(std::vector<runtime::Case> cases, const Hooks& hooks, const CampaignSettings& settings);

}  // namespace tbem::measure
