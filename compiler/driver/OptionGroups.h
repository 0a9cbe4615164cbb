// Options that several commands have. Their texts differ where a command makes something else of them.
#pragma once

#include "compiler/devices/EngineRequest.h"
#include "compiler/driver/Command.h"
#include "compiler/pytorch/rows/EagerRequest.h"

#include <string>
#include <vector>

namespace tbem::driver {

struct ProgramTexts {
  const char* files = "the program; - is standard input";
  const char* text = "the program's text itself; a network is a design of one row. Beside a FILE: one of its networks";
  bool inputs = true;  ///< --input and --task: a program without a design gets one
};
/// FILE, -e, --input, --task, --emit, --print-after, --time.
void addProgram(OptionList& list, CommandOptions& options, const ProgramTexts& texts = {});

inline constexpr const char* kTextInPlace = "the program's text itself, in place of a FILE; a network is a design of one row";
inline constexpr const char* kSarif = "findings as one SARIF 2.1.0 log on standard output, nothing else there";
/// Of commands that look at a device only where a stage behind them is shown.
inline constexpr const char* kPlanned = "with --emit lower or code: ";
inline constexpr const char* kPlannedBackends = "with --emit lower or code: backend: cpu (default), cuda, ref or fake";
inline constexpr const char* kOwnBackends = "backend: cpu (default), cuda, ref or fake";
inline constexpr const char* kProgramBackends =
    "backends, instead of the program's: cpu (default where it names none), ref, fake, pytorch, or others as the clause `on` has "
    "them";
struct RowTexts {
  bool choice = true;  ///< --design and --at
  const char* at = "only rows with these levels, or with one of each factor this row: depth=16,batch=64";
  std::string* point = nullptr;  ///< where --at goes, if not to the request
  std::string on = kOwnBackends;
  const char* planned = "";  ///< "with --as llvm: ": when a device is looked at
};
/// --design, --at, --on, --threads, --tune, --dtype.
void addRows(OptionList& list, CommandOptions& options, const RowTexts& texts = {});

void addStore(OptionList& list, std::string& into);
/// --python: of rows that a framework measures.
void addPython(OptionList& list, std::string& into);
void addSeed(OptionList& list, CommandOptions& options, const char* text);
/// --dry-run, --fresh, --max-time, --max-rows, --row-time, --repeat.
void addCampaign(OptionList& list, CampaignRequest& request, const char* fresh);

struct PyTorchTexts {
  std::string eager = "with --on pytorch: ";  ///< when the options are looked at
  std::string cudnn = "with --on pytorch: ";
  const char* device;
};
/// --update, --alloc-conf, --torch, --device, --cudnn, --layout, --tf32.
void addPyTorch(OptionList& list, EagerRequest& eager, EngineRequest& engines, const PyTorchTexts& texts);
void addVary(OptionList& list, std::string& into);
void addReserve(OptionList& list, std::string& into, const std::string& when);
void addKeepGradients(OptionList& list, CommandOptions& options, const std::string& when);
/// --gates, --convention.
void addCounting(OptionList& list, std::string& gates, std::string& convention);
void addRoofline(OptionList& list, std::string& into);

struct DisplayTexts {
  const char* width = "columns of diagnostics (default, and 0: the terminal's, else 100)";  ///< nullptr: no such option
  bool json = true;                                                                         ///< listed; else it is refused
};
/// --json, --quiet, --color, --width.
void addDisplay(OptionList& list, CommandOptions& options, const DisplayTexts& texts = {});

/// What a command with rows does not look at.
struct RowsHeed {
  /// It plans no step for a device: what it says of options of one (" does not: --emit lower and --emit code do"); "": it does.
  std::string notPlanned;
  /// Of those options, beside --threads and --tune.
  std::vector<const char*> ofPlan = {"--on"};
  bool card = false;          ///< it is of PyTorch on a GPU, whatever --on says
  bool asksCudnn = false;     ///< it asks about cuDNN's convolutions, whatever --on says
  bool everyBackend = false;  ///< it has parts of its own steps beside those in PyTorch
  const char* cudnnToo = "";  ///< what else asks: ", or --explain workspace"
};
/// RowsHeed::notPlanned of such a command.
std::string notPlanned(const char* command);
/// Why an option of rows, a device or PyTorch would be passed over, or "".
std::string unheededRows(const Given& given, const CommandOptions& options, const RowsHeed& heed);
/// Of --at: one factor has one level.
std::string levelTwice(const std::string& at);
/// Of what is no program: options of programs. `kind`: "a file of arrays".
std::string unheededProgram(const Given& given, const CommandOptions& options, const char* kind);
/// Of an option that writes to files which were read from standard input or a pipe.
std::string unwritable(const CommandOptions& options, const char* option);

}  // namespace tbem::driver
