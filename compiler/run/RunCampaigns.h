// Campaigns: which cases there are, and each run in a process of its own.
#pragma once

#include "compiler/experiment/Campaigns.h"
#include "compiler/run/Rows.h"
#include "compiler/show/Out.h"

#include <vector>

namespace tbem::driver {

/// All rows of the campaigns on all their backends, lowered and estimated. Mistakes go to the sink. Rows of one identity and
/// backend may be several. `timing`: algorithms that were never timed on this machine are timed first.
std::vector<CaseRow> caseRows(RowTable& table, DiagnosticSink& sink, const std::vector<MeasurePlan>& plans,
                              const Options& options, bool timing);

/// Runs the campaigns into the store with progress on standard error; rows that are finished are reported as they are. `table`:
/// of which `rows` were made. The exit status: kOk, kRunFailed, kEnvironment (nothing could run, or the store cannot be
/// written), kInterrupted.
int runCampaigns(show::Out& out, Workspace& workspace, RowTable& table, const std::vector<MeasurePlan>& plans,
                 const std::vector<CaseRow>& rows, const StoreFile& file, const Options& options);

/// `--dry-run`: rows, time, memory and disk that the campaigns would take.
int describeCampaigns(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows,
                      const StoreFile& file, const Options& options);

}  // namespace tbem::driver
