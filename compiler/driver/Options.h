// What the command line asks for. Plain data; every command reads the same struct.
#pragma once

#include "compiler/devices/EngineRequest.h"
#include "compiler/experiment/Request.h"
#include "compiler/pytorch/rows/EagerRequest.h"
#include "compiler/show/Out.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

struct StageRequest {
  std::string emitStage, printAfter;  ///< `--emit STAGE`, `--print-after STAGE`
  bool time = false;
};

struct Options : Request {
  std::string command;  ///< "run", "check", ...
  CampaignRequest campaign;
  EagerRequest eager;
  EngineRequest engines;
  StageRequest stages;
  show::Display display;

  std::string out;  ///< `--out DIR`
  bool noPlots = false;
  std::string point;  ///< predict: `--at LEVELS`
  std::string maxMemory;            ///< `estimate --max 22GiB`, `fit --max 22GiB`
  std::string reserve;              ///< `--reserve 600MiB`: of `--max` and of what-if's devices, not the allocator's
  std::string vary = "batch";       ///< `fit --vary FACTOR`
  bool every = false;               ///< `fit --every`: try all levels
  std::string roofline;             ///< `estimate --roofline a100`
  std::string explain;              ///< `estimate --explain workspace`
  std::string workspaceLimit;       ///< --explain workspace: of each convolution
  std::string convention = "flop";  ///< of counting FLOPs
  std::string gates;                ///< `estimate --gates 0.3`: assumed probabilities that gates' conditions are met

  // Of single commands
  std::string save, load;                                  ///< step
  bool profile = false;                                    ///< step
  unsigned steps = 1;                                      ///< step
  std::string names;                                       ///< step: whose names --load's file has
  bool partial = false;                                    ///< step: take what fits
  std::string as;                                          ///< emit: json, dot, llvm
  bool csv = false;                                        ///< design, spec --tests
  bool tests = false;                                      ///< spec: make tests
  bool strict = false;                                     ///< spec: what is left to a check at run time ends with 5
  std::size_t cases = 256;                                 ///< spec --tests: of a scenario, at most
  std::int64_t step = 1, distance = 4;                     ///< spec --tests: from case to case, and where it turns back
  std::string answering;                                  ///< spec --tests: `--run COMMAND`
  std::size_t rank = 2;                                    ///< spec --tests: dimensions of `..s`
  double caseTime = 10;                                    ///< spec --tests: seconds that a case may take
  std::uint64_t grid = 256;                                ///< screen: rows up to which a full grid replaces the array
  double cutoff = 0.01;                                    ///< screen: share below which a factor does not matter
  bool fix = false;                                        ///< check
  bool measureMachine = false;                             ///< doctor --measure
  bool write = false, checkOnly = false, upgrade = false;  ///< fmt
  std::string word;                                        ///< explain CODE, doc NAME
  std::string capacity;                                    ///< plan: a plan that fits is enough
  std::uint64_t align = 1;                                 ///< plan: of offsets, bytes
  std::uint64_t effort = 20'000'000;                       ///< plan: placements that search tries; spec: work of proofs
  bool verifyPlan = false, planDiff = false;               ///< plan
  std::optional<std::string> recordedConf;                 ///< replay: the options of the recording
  std::string card;                                        ///< replay: memory of the card
  std::string traceName;                    ///< replay: only histories whose name has this
  bool operators = false, devices = false;  ///< doc

  /// Whether a run prints each row once: its other tables are those of --verbose.
  bool brief() const { return command == "run" && !display.verbose && !display.json; }

  // Of the hidden worker
  unsigned workerRow = 0;
  std::string workerIdentity;
  std::string cacheDir;  ///< of compiled objects; empty: the default
};

/// One command: its name, one line of help, and what it does.
struct Command {
  const char* name;
  const char* help;
  int (*run)(show::Out& out, const Options& options);
};

/// The commands that are there, in the order of `--help`.
const std::vector<Command>& commands();
/// The commands that are planned, with one line each: asked for, they say that they are not there yet.
const std::vector<std::pair<const char*, const char*>>& laterCommands();

}  // namespace tbem::driver
