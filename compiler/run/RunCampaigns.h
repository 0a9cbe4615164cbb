// Campaigns: which cases there are, and each run in a process of its own, or in this one over its examples.
#pragma once

#include "compiler/experiment/Observations.h"
#include "compiler/run/ForeignRows.h"
#include "compiler/run/Rows.h"
#include "compiler/run/RunEvents.h"
#include "compiler/run/examples/RunExamples.h"
#include "compiler/support/Failed.h"
#include "runtime/measure/Campaign.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tbem::driver {

/// Of what the rows of campaigns are made; all must outlive them.
struct CaseInput {
  RowTable& table;
  ForeignRows& foreign;
  const std::vector<MeasurePlan>& plans;
  const Target& target;
};
/// All rows of the campaigns on all their backends, lowered and estimated. Mistakes go to the sink. Rows of one identity and
/// backend may be several. `timing`: algorithms that were never timed on this machine are timed first.
std::vector<CaseRow> caseRows(const CaseInput& input, DiagnosticSink& sink, bool timing);

/// A row that was measured elsewhere, with what is estimated of it; nothing after a report.
std::optional<CaseRow> caseElsewhere(const RowTable& table, DiagnosticSink& sink, CaseRow asked);

struct CampaignInput {
  RowTable& table;  ///< of which the rows were made, as `foreign`, by the same request
  ForeignRows& foreign;
  const std::vector<CaseRow>& rows;
  const StoreFile& file;
  CheckpointOf checkpointOf;  ///< of rows that are run over examples
};

struct CampaignOutcome {
  measure::CampaignResult result;
  StoredRows stored;  ///< what the store has of the rows now
  /// kRunFailed: rows failed. kEnvironment: no row could run, or the store could not be written. kInterrupted.
  tl::expected<void, Failed> verdict;
};
/// Runs the campaigns into the store; rows that are finished stay.
/// Errors: the store cannot be opened or read.
tl::expected<CampaignOutcome, Failed> runCampaigns(RunEvents& events, const CampaignInput& input, const Request& request);

/// What campaigns would take, roughly.
struct CampaignOutlook {
  std::size_t cases = 0, skipped = 0;
  std::size_t finished = 0;  ///< that the store has, and are not run
  double seconds = 0;
  std::uint64_t memory = 0;             ///< bytes of the largest arena
  std::uint64_t disk = 0;               ///< bytes
  std::uint32_t unknownWorkspaces = 0;  ///< as in estimate::Program, of the row that has most
};
/// Errors: the store, which is there, cannot be read.
tl::expected<CampaignOutlook, Failed> outlookOf(const std::vector<CaseRow>& rows, const StoreFile& file,
                                                const CampaignRequest& how);

}  // namespace tbem::driver
