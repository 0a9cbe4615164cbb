// What the command line asks for. Plain data; every command reads the same struct.
#pragma once

#include "compiler/support/Failed.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::show {
class Out;
}

namespace tbem::driver {

struct Options {
  std::string command;              ///< "run", "check", ...
  std::vector<std::string> files;   ///< program files; "-": standard input
  std::optional<std::string> text;  ///< `-e TEXT`
  /// The program that standard input or a shell's pipe had, once it was read: a command may load it more than once. Copies
  /// share it.
  std::shared_ptr<std::optional<std::string>> inherited = std::make_shared<std::optional<std::string>>();
  std::vector<std::string> inputs;  ///< `--input image=16,3,224,224`, for -e and files without a design
  std::string task;                 ///< `--task TEXT`
  std::string design;               ///< `--design NAME`: only this one
  std::string at;                   ///< `--at depth=16,batch=64`

  // Output
  bool json = false;
  bool sarif = false;  ///< check, spec
  bool quiet = false;
  bool verbose = false;               ///< run: every table that there is
  std::string color = "auto";         ///< auto, always, never
  unsigned width = 0;                 ///< columns of diagnostics; 0: the terminal's
  std::string out;                    ///< `--out DIR`
  std::string store;                  ///< `--store PATH`
  std::string emitStage, printAfter;  ///< `--emit STAGE`, `--print-after STAGE`
  bool time = false;

  // What runs, and how
  std::string backend;   ///< `--on`: cpu, ref, fake; of estimate also pytorch, pytorch-cpu
  unsigned threads = 0;  ///< 0: all processors
  std::string dtype;     ///< f32, f64
  std::string tune;      ///< `--tune`: off, on, within 10 % (Tuning.h); empty: as the program says, else off
  std::uint64_t seed = 0;
  bool dryRun = false, fresh = false, noPlots = false;
  std::optional<double> maxTime;  ///< seconds
  std::optional<std::uint64_t> maxRows;
  double rowTime = 600;  ///< seconds a row may take; 0: no limit
  std::optional<unsigned> repeat;
  std::string maxMemory;            ///< `estimate --max 22GiB`, `fit --max 22GiB`
  std::string reserve;              ///< `--reserve 600MiB`: of `--max` and of what-if's devices, not the allocator's
  std::string vary = "batch";       ///< `fit --vary FACTOR`
  bool every = false;               ///< `fit --every`: try all levels
  std::string update;               ///< `estimate --update`: how PyTorch's optimiser runs: foreach, fused, loop
  std::string roofline;             ///< `estimate --roofline a100`
  std::string explain;              ///< `estimate --explain workspace`
  std::string device;               ///< --explain workspace (h200), --on pytorch: the GPU that is described
  std::string cudnn;                ///< --explain workspace: the folder of cuDNN
  std::string workspaceLimit;       ///< --explain workspace: of each convolution
  std::string layout = "nchw";      ///< --explain workspace: of images
  std::string tf32 = "on";          ///< --explain workspace
  bool nondeterministic = false;    ///< --explain workspace
  std::string convention = "flop";  ///< of counting FLOPs
  bool keepGradients = false;       ///< of a planned step: to its end
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
  std::string program;                                     ///< spec --tests: `--run COMMAND`
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
  std::vector<std::string> allocConf;                      ///< replay: texts of options to compare
  std::optional<std::string> recordedConf;                 ///< replay: the options of the recording
  std::string card;                                        ///< replay: memory of the card
  std::string torch;                        ///< the version of PyTorch whose rules hold; replay: default, the recording's
  std::string traceName;                    ///< replay: only histories whose name has this
  bool operators = false, devices = false;  ///< doc

  /// Whether a run prints each row once: its other tables are those of --verbose.
  bool brief() const { return command == "run" && !verbose && !json; }

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
