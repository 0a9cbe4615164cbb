// The `measure` declarations of a program as campaigns: which cases there are, how one is run, where results are kept.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/run/Backends.h"
#include "compiler/run/Lowered.h"
#include "compiler/support/PrivateFolder.h"
#include "runtime/measure/Campaign.h"
#include "runtime/measure/Protocol.h"
#include "runtime/store/Store.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// The protocol of every measurement: part of a row's identity.
measure::Settings protocolSettings();

/// One `measure` declaration with its design.
struct MeasurePlan {
  const ast::Measure* decl = nullptr;  ///< null where the program has none and its designs are measured once
  DesignRun* run = nullptr;
  std::vector<std::string> backends;
  unsigned repeats = 1;
  Tuning tuning;  ///< --tune, else its own clause, else off
  bool wantsMemory = true, wantsLatency = true, wantsEnergy = false;
};

/// The campaigns that the options ask for; mistakes go to the session. `designs` must outlive them.
std::vector<MeasurePlan> readMeasures(Workspace& workspace, Designs& designs, const Options& options);

/// A row on a backend, as far as it is known before it runs.
struct CaseRow {
  const MeasurePlan* plan = nullptr;
  std::size_t row = 0;
  std::string backend;
  std::string identity;
  std::string skip;  ///< why it cannot run here; empty: it can
  std::uint64_t staticMemory = 0, live = 0, arena = 0;
  std::uint32_t unknownWorkspaces = 0;  ///< as in estimate::Program
  double flops = 0;                     ///< of a step
  double parameters = 0;
  std::string machine, versions;
  std::string algorithms;  ///< algorithmsText
};

/// All rows of the campaigns on all their backends, elaborated and estimated. Mistakes go to the session. Rows of one
/// identity and backend may be several. `timing`: algorithms that were never timed on this machine are timed first.
std::vector<CaseRow> caseRows(Events& events, Workspace& workspace, const std::vector<MeasurePlan>& plans, const Options& options,
                              bool timing);

/// Where a program's results are kept: --store, or NAME.tbemdb beside the program; for -e and standard input a temporary file
/// that goes when this does.
class StoreFile {
public:
  StoreFile(const Workspace& workspace, const Options& options);
  const std::string& path() const { return file; }
  /// "" or why there is no place for it; `path` is "" then.
  const std::string& problem() const { return missing; }
  bool exists() const;

private:
  std::string file, missing;
  std::optional<TemporaryFolder> temporary;  ///< of a store that no program names
};

/// Runs the campaigns into the store with progress on standard error; rows that are finished are reported as they are. The exit
/// status: kOk, kRunFailed, kEnvironment (nothing could run, or the store cannot be written), kInterrupted.
int runCampaigns(show::Out& out, Workspace& workspace, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows,
                 const StoreFile& file, const Options& options);

/// `--dry-run`: rows, time, memory and disk that the campaigns would take.
int describeCampaigns(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows,
                      const StoreFile& file, const Options& options);

}  // namespace tbem::driver
