// The `measure` declarations of a program as campaigns: what is known of their cases, and where results are kept.
#pragma once

#include "compiler/experiment/designs/Designs.h"
#include "compiler/experiment/trainings/MeasuredExamples.h"
#include "compiler/foreign/Backend.h"
#include "compiler/support/PrivateFolder.h"
#include "runtime/core/ExecutableFile.h"
#include "runtime/measure/Protocol.h"
#include "runtime/store/Store.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

/// One `measure` declaration with its design, or a file of rows that were measured elsewhere.
struct MeasurePlan {
  const ast::Measure* decl = nullptr;  ///< null where the program has none and its designs are measured once, and of a file
  std::string file;                    ///< as the program names it; "": measured here
  DesignRun* run = nullptr;
  std::vector<foreign::Asked> backends;
  unsigned repeats = 1;
  Tuning tuning;  ///< --tune, else its own clause, else off
  bool wantsMemory = true, wantsLatency = true, wantsEnergy = false;
  bool countsEnergy = false;  ///< some `measure` of the design wants energy: all of them run its rows under one protocol
  std::optional<MeasuredExamples> examples;  ///< rows are run over these, here; nothing: over stand-in data, in processes
};

/// Whether this machine counts the energy of its processors' packages, which is looked for once.
bool countsPackages();

/// Whether it asks for the energy of steps or of examples.
bool asksForEnergy(const MeasurePlan& plan);

/// The campaigns of a program; mistakes go to the session. `designs` and `trainings` must outlive them.
std::vector<MeasurePlan> readMeasures(Workspace& workspace, Designs& designs,
                                      const std::vector<std::unique_ptr<TrainingRun>>& trainings, const Request& request);

/// A row on a backend, as far as it is known before it runs.
struct CaseRow {
  const MeasurePlan* plan = nullptr;
  std::size_t row = 0;
  std::string backend;
  const foreign::Backend* foreign = nullptr;  ///< of the plan, where another program measures it; there is no plan of memory then
  std::string identity;
  std::string
      examples;  ///< of a row that is run over examples: hash of these and the weights, once it is known (examples/RunExamples.h)
  std::string skip;  ///< why it cannot run here; empty: it can
  std::uint64_t staticMemory = 0, live = 0, arena = 0;
  std::string arenaKinds;               ///< what the arena is made of: estimate::kindsJson
  std::uint32_t unknownWorkspaces = 0;  ///< as in estimate::Program
  double flops = 0;                     ///< of a step
  double parameters = 0;
  std::vector<runtime::LibraryDesc> libraries;  ///< of own operators: they are part of the identity
  std::string machine, versions;
  std::string algorithms;  ///< algorithmsText

  /// Whether a process of ours measures it.
  bool isOurs() const { return foreign == nullptr && plan->file.empty(); }
  /// Whether its memory is planned here.
  bool isPlanned() const { return skip.empty() && isOurs(); }
};

/// The protocol of a row that a process measures, ours or another: part of its identity. Where energy is wanted, and can be
/// counted, steps run for as long as its counters need.
measure::Settings protocolOf(const CaseRow& row);

/// Where a program's results are kept: --store, or NAME.tbemdb beside the program; for -e and standard input a temporary file
/// that goes when this does.
class StoreFile {
public:
  StoreFile(const Workspace& workspace, const std::string& store);
  const std::string& path() const { return file; }
  /// "" or why there is no place for it; `path` is "" then.
  const std::string& problem() const { return missing; }
  bool exists() const;

private:
  std::string file, missing;
  std::optional<TemporaryFolder> temporary;  ///< of a store that no program names
};

}  // namespace tbem::driver
