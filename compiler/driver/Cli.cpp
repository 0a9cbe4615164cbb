#include "compiler/driver/Cli.h"
#include "compiler/driver/SearchProgress.h"

#include "compiler/driver/Heap.h"
#include "compiler/driver/OpenMp.h"
#include "compiler/driver/Options.h"
#include "compiler/driver/Tuning.h"
#include "compiler/driver/Version.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/support/Render.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>

namespace tbem::driver {

namespace {

struct Needs {
  bool program = false;   ///< takes FILE or -e
  bool row = false;       ///< picks rows
  bool runs = false;      ///< runs native code
  bool campaign = false;  ///< measures many rows
};

Needs needsOf(std::string_view command) {
  if (command == "run" || command == "measure") return {true, true, true, true};
  if (command == "worker" || command == "step" || command == "train") return {true, true, true, false};
  if (command == "estimate" || command == "fit" || command == "what-if" || command == "screen" || command == "emit" ||
      command == "report" || command == "design" || command == "check" || command == "weights")
    return {true, true, false, false};
  if (command == "regress" || command == "predict") return {true, true, false, false};
  if (command == "plan") return {true, true, false, false};
  if (command == "spec") return {true, false, false, false};
  return {};
}

CLI::Validator notEmpty() {
  return {[](std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); }, ""};
}

CLI::Validator notNegative() {
  return {[](std::string& text) {
            const bool number = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
            return number ? std::string() : fmt::format("`{}` is no number of 0 or more", text);
          },
          ""};
}

/// strtoull would take -1 for the largest number, and what is larger for the largest.
CLI::Validator wholeNumber() {
  return {[](std::string& text) {
            std::uint64_t number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            return error == std::errc() && end == text.data() + text.size()
                       ? std::string()
                       : fmt::format("`{}` is no whole number from 0 to 2^64 - 1", text);
          },
          ""};
}

void addCommon(CLI::App& app, Options& o) {
  app.add_flag("--json", o.json, "JSON lines on standard output, nothing else there");
  app.add_flag("-q,--quiet", o.quiet, "no progress, no notes");
  app.add_option("--color", o.color, "auto, always or never (NO_COLOR is heeded)")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  app.add_option("--width", o.width, "columns of diagnostics (default: the terminal's, else 80)");
}

const char* whatFiles(std::string_view command) {
  if (command == "check") return "programs; - is standard input";
  if (command == "plan")
    return "buffers or a plan as CSV (id,lower,upper,size[,offset]; - is standard input), or a program (.tbem)";
  if (command == "spec")
    return "the program, - is standard input; then, if wanted, the name of one of its processes or networks (with --tests, "
           "declarations)";
  return "the program; - is standard input";
}

void addProgram(CLI::App& app, Options& o, const char* what) {
  app.add_option("FILE", o.files, what);
  app.add_option("-e", o.text, "the program's text itself; a network is a design of one row. Beside a FILE: one of its networks")
      ->type_name("TEXT");
  app.add_option("--input", o.inputs, "shape of an input where the program has no design: image=16,3,224,224")
      ->type_name("NAME=DIMS")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const std::size_t equals = text.find('=');
            const bool named = equals != 0 && equals != std::string::npos;
            return named ? std::string() : text + ": give a name and its dimensions, such as image=16,3,224,224";
          },
          ""));
  app.add_option("--task", o.task,
                 "task where the program has no design: 'train(loss: cross_entropy, optimizer: sgd(lr: 0.01))'");
  app.add_option("--emit", o.emitStage, "print what this stage made, and stop: load, names, design, graph, lower, code")
      ->type_name("STAGE");
  app.add_option("--print-after", o.printAfter, "print what this stage made, and go on")->type_name("STAGE");
  app.add_flag("--time", o.time, "time of each stage, on standard error");
}

void addRow(CLI::App& app, Options& o) {
  app.add_option("--design", o.design, "only this design");
  app.add_option("--at", o.at, "only this row: depth=16,batch=64")->type_name("LEVELS");
  app.add_option("--on", o.backend,
                 "backend: cpu (default), ref, fake; estimate and fit: also pytorch, pytorch-cpu; estimate: none");
  app.add_option("--threads", o.threads, "threads of the backend, at most 1024 (default, and 0: all processors)")
      ->check(CLI::Range(0, 1024));
  app.add_option("--tune", o.tune,
                 "algorithms: off (default: the backend's own), on (the fastest as timed on this machine; commands that measure"
                 " time what is missing), or 'within 10 %' (on, while the arena grows by that at most)")
      ->check(CLI::Validator(
          [](const std::string& text) {
            return parseTuning(text) ? std::string() : fmt::format("`{}` is none of off, on, 'within 10 %'", text);
          },
          ""));
  app.add_option("--dtype", o.dtype, "element type of floating tensors: f32 (default), f64 (on ref)")
      ->check(CLI::IsMember({"f32", "f64"}));
  app.add_option("--store", o.store, "store of finished rows (default: NAME.tbemdb beside the program)");
  app.add_option("--out", o.out, "folder for plots and checkpoints (default: NAME.out beside the program)");
  app.add_option("--seed", o.seed, "seed of inputs, weights and the order of rows")->check(wholeNumber());
}

void addCampaign(CLI::App& app, Options& o) {
  app.add_flag("--dry-run", o.dryRun, "say what would run: rows, time, memory, disk");
  app.add_flag("--fresh", o.fresh, "run finished rows and trainings anew");
  app.add_option("--max-time", o.maxTime, "seconds after which no further row starts")->check(notNegative());
  app.add_option("--max-rows", o.maxRows, "so many rows at most")->check(notNegative());
  app.add_option("--row-time", o.rowTime, "seconds that one row may take; 0: no limit")->capture_default_str();
  app.add_option("--repeat", o.repeat, "repeats, instead of the program's")->check(CLI::Range(1, 1000));
  app.add_flag("--no-plots", o.noPlots, "write no plots");
}

/// `tbemc FILE` and `tbemc -e TEXT` are `tbemc run ...`.
std::vector<std::string> withCommand(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty()) return {"--help"};
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "--version") return arguments;
  const bool known = std::any_of(commands().begin(), commands().end(), [&](const Command& c) { return first == c.name; });
  const bool later =
      std::any_of(laterCommands().begin(), laterCommands().end(), [&](const auto& row) { return first == row.first; });
  if (!known && !later) arguments.insert(arguments.begin(), "run");
  return arguments;
}

/// A first word that is neither a command nor a file, and does not look like one: why, or "".
std::string notACommand(int argc, char** argv) {
  if (argc < 2) return {};
  const std::string word = argv[1];
  std::error_code ignored;
  if (word.empty() || word.front() == '-' || word.find_first_of("./") != std::string::npos ||
      std::filesystem::exists(word, ignored))
    return {};
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (word == command.name) return {};
    if (command.help != nullptr) names.emplace_back(command.name);
  }
  for (const auto& [name, help] : laterCommands()) {
    if (word == name) return {};
  }
  const std::string close = nearest(word, names);
  return fmt::format("no command or file is called `{}`{}", word,
                     close.empty() ? " (tbemc --help lists the commands)" : fmt::format(": did you mean `{}`?", close));
}

void addOwnOptions(CLI::App& app, const std::string& command, Options& o) {
  if (command == "check" || command == "spec")
    app.add_flag("--sarif", o.sarif, "findings as one SARIF 2.1.0 log on standard output, nothing else there");
  if (command == "check") app.add_flag("--fix", o.fix, "apply the certain fixes to the files")->excludes("--sarif");
  if (command == "run" || command == "estimate" || command == "measure")
    app.add_flag(
        "--verbose", o.verbose,
        "every table and every column, whatever the width; of run also memory by kind and coefficients in the factors' units");
  if (command == "design") app.add_flag("--csv", o.csv, "the array as CSV on standard output");
  if (command == "spec") {
    app.add_flag("--tests", o.tests, "test cases from the functional scenarios, towards each boundary and away from it")
        ->excludes("--sarif");
    app.add_flag("--strict", o.strict, "exit 5 also where something is left to a check at run time (`residual`)");
    app.add_option("--cases", o.cases, "so many cases a scenario, at most")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--step", o.step, "by how much the distance to a boundary grows from case to case")
        ->check(CLI::Range(1, 1'000'000))
        ->capture_default_str();
    app.add_option("--distance", o.distance, "the distance at which cases turn back to the boundary")
        ->check(CLI::Range(1, 1'000'000'000))
        ->capture_default_str();
    app.add_option("--seed", o.seed, "seed of what a case leaves open")->check(wholeNumber())->capture_default_str();
    app.add_flag("--csv", o.csv, "the cases of one declaration as CSV on standard output");
    app.add_option("--run", o.program, "run this command on each case (a JSON object in, one out) and judge what it answers")
        ->type_name("COMMAND");
    app.add_option("--rank", o.rank, "dimensions that `..s` stands for in a network, block or operator")
        ->check(CLI::Range(1, 8))
        ->capture_default_str();
    app.add_option("--timeout", o.caseTime, "seconds that the command may take for a case")
        ->check(CLI::Range(0.001, 86400.0))
        ->capture_default_str();
  }
  if (command == "fit") {
    app.add_option("--max", o.maxMemory,
                   "the memory that there is: 22GiB, or a device: h100; with --on pytorch h100:upper counts what may be taken, "
                   "h100:reserved what the allocator reserves where it may")
        ->type_name("SIZE")
        ->check(notEmpty())
        ->required();
    app.add_flag("--every", o.every, "try every level from 1 on: certain, and slower");
  }
  if (command == "fit" || command == "what-if")
    app.add_option("--vary", o.vary, "the factor whose largest level is looked for")->capture_default_str();
  if (command == "estimate")
    app.add_option("--max", o.maxMemory,
                   "exit with 5 if a row does not run in so much memory: 22GiB, or a device: h100; with --on pytorch "
                   "22GiB:upper is of the upper bound, 22GiB:reserved of what the allocator reserves where it may")
        ->type_name("SIZE")
        ->check(notEmpty());
  if (command == "estimate" || command == "fit" || command == "what-if")
    app.add_option("--reserve", o.reserve, "with --on pytorch: what a card holds beside the allocator, other processes too: 1GiB")
        ->type_name("SIZE")
        ->check(notEmpty());
  if (command == "estimate" || command == "fit" || command == "what-if" || command == "report") {
    app.add_option("--update", o.update, "with --on pytorch: how its optimiser runs (default: as torch.optim chooses)")
        ->check(CLI::IsMember({"foreach", "fused", "loop"}));
    app.add_option("--alloc-conf", o.allocConf, "with --on pytorch: the allocator's options, as in PYTORCH_ALLOC_CONF")
        ->type_name("TEXT")
        ->allow_extra_args(false);
    app.add_option("--torch", o.torch, "with --on pytorch: this PyTorch's rules (default: the newest that are known)")
        ->type_name("VERSION");
    app.add_option(
        "--device", o.device,
        "the GPU of --explain workspace (default: h200), and with --on pytorch the one whose workspaces are counted: a100,"
        " h200, rtx4090, .., or a record of the program");
    app.add_option("--cudnn", o.cudnn,
                   "the cuDNN to ask (default: the CUDA toolkit's; with --on pytorch, the Python environment's)")
        ->type_name("DIR");
    app.add_option("--layout", o.layout, "of images: nchw or nhwc")
        ->check(CLI::IsMember({"nchw", "nhwc"}))
        ->capture_default_str();
    app.add_option("--tf32", o.tf32, "whether f32 convolutions may round their inputs to TF32: on or off")
        ->check(CLI::IsMember({"on", "off"}))
        ->capture_default_str();
  }
  if (command == "estimate" || command == "emit" || command == "fit")
    app.add_flag("--keep-gradients", o.keepGradients,
                 "of our own training steps: all gradients stay to the end of the step, as `step` keeps them");
  if (command == "estimate" || command == "report") {
    app.add_option("--gates", o.gates, "how likely a gate's condition is met, for expected FLOPs: 0.3, or PATH=0.3,..")
        ->type_name("P");
    app.add_option("--convention", o.convention,
                   "how FLOPs are counted: flop (a multiply-add is 2), mac, or mac2 (2 x multiply-adds alone)")
        ->check(CLI::IsMember({"flop", "mac", "mac2"}));
  }
  if (command == "estimate") {
    app.add_option(
           "--explain", o.explain,
           "workspace: the engines of each convolution on a GPU that need not be here, as cuDNN says; gradients: how long they"
           " live, and the arena if all were kept")
        ->check(CLI::IsMember({"workspace", "gradients"}));
    app.add_option("--workspace-limit", o.workspaceLimit, "what memory would be if no convolution took more: 256MiB")
        ->type_name("SIZE");
    app.add_flag("--nondeterministic", o.nondeterministic, "take engines whose sums change from run to run too");
  }
  if (command == "estimate" || command == "screen" || command == "report") {
    app.add_option(
           "--roofline", o.roofline,
           "bytes moved and least time on a device: a100, h200, rtx4090, .. (tbemc doc --devices), cpu, or a record of the"
           " program; a100:tf32 for products in TF32")
        ->type_name("DEVICE");
  }
  if (command == "screen") {
    app.add_option("--grid", o.grid, "take every combination of levels if there are so many at most, else the design's rows")
        ->check(wholeNumber())
        ->capture_default_str();
    app.add_option("--cutoff", o.cutoff, "share of the variation below which a factor is left out")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
  }
  if (command == "doctor") app.add_flag("--measure", o.measureMachine, "measure this machine's rates, for --roofline cpu");
  if (command == "step") {
    app.add_option("--save", o.save, "write inputs, weights, gradients, outputs to this .npz or .safetensors file")
        ->type_name("FILE");
    app.add_option("--repeat", o.repeat, "time the step so many times more")->check(CLI::Range(1, 1000000));
    app.add_option("--steps", o.steps, "so many steps on the same inputs; gradients, outputs and loss are those of the last")
        ->check(CLI::Range(1U, 1'000'000U));
    app.add_option("--load", o.load, "start from the inputs, weights and buffers of this .npz or .safetensors file")
        ->type_name("FILE");
    app.add_option("--names", o.names, "whose names the file of --load has: torchvision, or a table of names (docs/weights.md)")
        ->type_name("SET");
    app.add_flag("--partial", o.partial, "take what fits from the file of --load, leave the rest as initialised");
  }
  if (command == "step") app.add_flag("--profile", o.profile, "time each operator and loop of the step");
  if (command == "train") app.add_flag("--fresh", o.fresh, "train anew, whatever the checkpoint has");
  if (command == "emit") app.add_option("--as", o.as, "json, dot or llvm")->check(CLI::IsMember({"json", "dot", "llvm"}));
  if (command == "plan") {
    app.add_option("--capacity", o.capacity, "a plan that fits is enough; exit with 5 where none was found: 1MiB")
        ->type_name("SIZE");
    app.add_option("--align", o.align, "offsets are multiples of so many bytes")
        ->check(CLI::Range(1U, 1U << 30))
        ->capture_default_str();
    app.add_option("--effort", o.effort, "placements that the complete search tries")
        ->check(wholeNumber())
        ->capture_default_str();
    app.add_flag("--verify", o.verifyPlan, "check the offsets that the file has; exit with 5 where two buffers share bytes");
    app.add_flag("--diff", o.planDiff, "compare two plans; exit with 5 where the second takes more");
  }
  if (command == "replay") {
    app.add_option("FILE", o.files, "snapshots of torch.cuda.memory, or histories as JSON lines; plain or .gz")->required();
    app.add_option("--alloc-conf", o.allocConf, "options to compare, as in PYTORCH_ALLOC_CONF; again for more")
        ->type_name("TEXT")
        ->allow_extra_args(false);
    app.add_option("--capacity", o.capacity, "what the card can hand out (default: what an out of memory tells, else no end)")
        ->type_name("SIZE");
    app.add_option("--card", o.card, "memory of the card, which per_process_memory_fraction is a share of (default: --capacity)")
        ->type_name("SIZE");
    app.add_option("--recorded-conf", o.recordedConf, "the options of the recording, where it does not say them")
        ->type_name("TEXT");
    app.add_option("--torch", o.torch, "rules of this PyTorch (default: the recording's, else the newest)")->type_name("VERSION");
    app.add_option("--trace", o.traceName, "only the histories whose name has this: 'card 1', 'resnet50 f32'")->type_name("TEXT");
  }
  if (command == "fmt") {
    app.add_option("FILE", o.files, "programs; - is standard input")->required();
    app.add_flag("-w,--write", o.write, "write the result back to the files");
    app.add_flag("--check", o.checkOnly, "exit with 1 if a file is not formatted");
    app.add_flag("--upgrade", o.upgrade, "rewrite old forms (there is one version so far: nothing to rewrite)");
  }
  if (command == "explain") app.add_option("CODE", o.word, "the diagnostic's code: E0101")->required();
  if (command == "doc") {
    app.add_option("NAME", o.word, "conv2d, std.vision.resnet, ...");
    app.add_flag("--operators", o.operators, "all operators in one table (Markdown): where they run, gradients, cost");
    app.add_flag("--devices", o.devices, "all devices of std.devices, and the fields of a device, in tables (Markdown)");
  }
  if (command == "worker") {
    app.add_option("--row", o.workerRow)->required();
    app.add_option("--identity", o.workerIdentity)->required();
    app.add_option("--cache-dir", o.cacheDir);
  }
}

std::string laterText() {
  std::string text = "Not there yet:";
  for (const auto& [name, help] : laterCommands()) text += fmt::format(" {}", name);
  return text;
}

/// Exceptions do not cross a folder; one that does is our bug, but for memory that the machine lacks.
int runGuarded(const Command& command, const Options& options) {
  try {
    const SearchScope scope(options);
    return command.run(options);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tbemc: out of memory\n");
    return kEnvironment;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tbemc: a bug of ours: {}\n", error.what());
    return kInternal;
  }
}

int dispatch(int argc, char** argv) {
  const std::vector<std::string> arguments = withCommand(argc, argv);
  if (!needsOf(arguments.front()).runs) growHeapInLargeSteps();  // else its own memory is looked at
  for (const auto& [name, help] : laterCommands()) {
    if (arguments.front() == name) {
      fmt::print(stderr, "tbemc: `tbemc {}` ({}) is not there yet\n", name, help);
      return kUsage;
    }
  }
  if (const std::string problem = notACommand(argc, argv); !problem.empty()) {
    fmt::print(stderr, "tbemc: {}\n", problem);
    return kUsage;
  }
  Options options;
  CLI::App app("Knows what a neural network will cost before it runs, and proves it by test.", "tbemc");
  app.set_version_flag("--version", versionText());
  app.require_subcommand(1);
  app.footer("tbemc FILE is tbemc run FILE.\n" + laterText());
  for (const Command& command : commands()) {
    CLI::App* sub = app.add_subcommand(command.name, command.help != nullptr ? command.help : "");
    if (command.help == nullptr) sub->group("");
    if (std::ranges::find(arguments, command.name) == arguments.end()) continue;  // no command line of it: spared the options
    const Needs needs = needsOf(command.name);
    if (needs.program) addProgram(*sub, options, whatFiles(command.name));
    if (needs.row) addRow(*sub, options);
    if (needs.campaign) addCampaign(*sub, options);
    addOwnOptions(*sub, command.name, options);
    addCommon(*sub, options);
  }
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return kUsage;
  }
  for (const Command& command : commands()) {
    if (!app.got_subcommand(command.name)) continue;
    options.command = command.name;
    const bool several = std::strcmp(command.name, "check") == 0 || std::strcmp(command.name, "spec") == 0 ||
                         std::strcmp(command.name, "plan") == 0;
    if (!several && needsOf(command.name).program && options.files.size() > 1) {
      fmt::print(stderr, "tbemc {}: one program at a time, found {}\n", command.name, fmt::join(options.files, " "));
      return kUsage;
    }
    if (several && options.text && !options.files.empty()) {
      fmt::print(stderr, "tbemc {}: -e TEXT or a FILE, not both\n", command.name);
      return kUsage;
    }
    if (needsOf(command.name).program && options.files.empty() && !options.text) {
      fmt::print(stderr, "tbemc {}: no program: give a FILE, - for standard input, or -e TEXT\n", command.name);
      return kUsage;
    }
    if (needsOf(command.name).runs) limitSpinning(argv);
    if (!options.sarif) return runGuarded(command, options);
    options.sarifRuns = std::make_shared<std::vector<std::string>>();
    const int status = runGuarded(command, options);
    fmt::print("{}\n", sarifLog(*options.sarifRuns));
    return status;
  }
  return kUsage;
}

}  // namespace

int runCommandLine(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a limit of file size is an error of a write, told as a full disk is
  const int status = dispatch(argc, argv);
  // What was printed may still be on its way: a full disk or a closed output loses nothing in silence.
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  // Of a write that failed earlier the reason is gone.
  const std::string why =
      errno != 0 ? fmt::format("{} (errno {})", std::strerror(errno), errno) : "is its disk full, or is it closed?";
  fmt::print(stderr, "tbemc: cannot write the output: {}\n", why);
  return status == kOk ? kEnvironment : status;
}

}  // namespace tbem::driver
