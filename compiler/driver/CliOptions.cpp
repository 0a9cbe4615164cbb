#include "compiler/driver/CliOptions.h"

#include "compiler/driver/OptionTexts.h"
#include "compiler/backends/Tuning.h"
#include "compiler/spec/prove/Work.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace tbem::driver {

namespace {

/// A check that says why a text is refused, or "".
template <class Check>
CLI::Validator validator(Check check) {
  return {[check](std::string& text) -> std::string { return check(text); }, ""};
}

/// Every form of a number but hexadecimals; `nan` and `inf` are none.
CLI::Validator number(double least, double most, const char* what) {
  return validator([=](const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    return read && std::isfinite(value) && value >= least && value <= most ? std::string()
                                                                           : fmt::format("`{}` is no {}", text, what);
  });
}
CLI::Validator seconds() { return number(0, 1e9, "number of seconds from 0 to 1e9"); }

/// strtoull would take -1 for the largest number, and what is larger for the largest.
CLI::Validator wholeNumber() {
  return validator([](const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size()
               ? std::string()
               : fmt::format("`{}` is no whole number from 0 to 2^64 - 1", text);
  });
}
CLI::Validator wholeNumber(std::int64_t least, std::int64_t most) {
  return validator([=](const std::string& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = error == std::errc() && end == text.data() + text.size();
    return read && value >= least && value <= most ? std::string()
                                                   : fmt::format("`{}` is no whole number from {} to {}", text, least, most);
  });
}

void addCommon(CLI::App& app, const std::string& command, Options& o) {
  CLI::Option* json = app.add_flag("--json", o.display.json, "JSON lines on standard output, nothing else there");
  if (command == "report") json->group("");  // refused with what it is of
  app.add_flag("-q,--quiet", o.display.quiet, "no progress, no notes");
  app.add_option("--color", o.display.color, "auto (default), always or never; NO_COLOR is heeded")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  if (isOneOf(command, {"explain", "doctor", "replay"})) return;
  app.add_option("--width", o.display.width,
                 command == "doc" ? "columns of a module's list (default, and 0: the terminal's, else 100)"
                                  : "columns of diagnostics (default, and 0: the terminal's, else 100)")
      ->check(wholeNumber(0, 100'000));
}

void addProgram(CLI::App& app, const std::string& command, Options& o) {
  app.add_option("FILE", o.program.files, whatFiles(command));
  app.add_option("-e", o.program.text,
                 command == "train" ? "the program's text itself, in place of a FILE"
                 : takesSeveral(command)
                     ? "the program's text itself, in place of a FILE; a network is a design of one row"
                     : "the program's text itself; a network is a design of one row. Beside a FILE: one of its networks")
      ->type_name("TEXT");
  if (command != "train") {
    app.add_option("--input", o.program.inputs, "shape of an input where the program has no design: image=16,3,224,224")
        ->type_name("NAME=DIMS")
        ->check(validator([](const std::string& text) {
          const std::size_t equals = text.find('=');
          const bool named = equals != 0 && equals != std::string::npos;
          return named ? std::string() : text + ": give a name and its dimensions, such as image=16,3,224,224";
        }))
        ->allow_extra_args(false);
    app.add_option(
        "--task", o.program.task,
        "task where the program has no design (default: infer): 'train(loss: cross_entropy, optimizer: sgd(lr: 0.01))'");
  }
  app.add_option("--emit", o.stages.emitStage, "print what this stage made, and stop: load, names, design, graph, lower, code")
      ->type_name("STAGE");
  app.add_option("--print-after", o.stages.printAfter, "print what this stage made, and go on")->type_name("STAGE");
  app.add_flag("--time", o.stages.time, "time of each stage, on standard error");
}

void addRow(CLI::App& app, const std::string& command, Options& o) {
  if (command != "train") {
    app.add_option("--design", o.rows.design, "only this design");
    app.add_option("--at", command == "predict" ? o.point : o.rows.at,
                   command == "predict" ? "predict at this point, instead of the program's: depth=16,batch=64"
                                        : "only rows with these levels, or with one of each factor this row: depth=16,batch=64")
        ->type_name("LEVELS");
  }
  const std::string backends = whatBackends(command);
  app.add_option("--on", o.target.backend, isOneOf(command, {"what-if", "emit"}) ? backends : ofPlans(command, backends));
  app.add_option("--threads", o.target.threads,
                 ofPlans(command, "threads of the backend, at most 1024 (default, and 0: all processors)"))
      ->check(wholeNumber(0, 1024));
  app.add_option("--tune", o.target.tune,
                 ofPlans(command,
                         "algorithms: off (default: the backend's own), on (the fastest as timed on this machine; commands that "
                         "measure time what is missing), or 'within 10 %' (on, while the arena grows by that at most)"))
      ->check(validator([](const std::string& text) {
        return parseTuning(text) ? std::string() : fmt::format("`{}` is none of off, on, 'within 10 %'", text);
      }));
  app.add_option("--dtype", o.target.dtype, "element type of floating tensors, instead of the program's: f32, or f64 (on ref)")
      ->check(CLI::IsMember({"f32", "f64"}));
  if (isOneOf(command, {"run", "measure", "regress", "predict", "report"}))
    app.add_option("--store", o.campaign.store, "store of finished rows (default: NAME.tbemdb beside the program)");
  if (isOneOf(command, {"run", "train", "estimate", "screen", "regress", "report"}))
    app.add_option("--out", o.out, whatOut(command))->type_name("DIR");
  if (isOneOf(command, {"run", "measure", "train", "step", "regress", "predict", "report", "worker"}))
    app.add_option("--seed", o.target.seed, whatSeed(command))->check(wholeNumber());
}

void addCampaign(CLI::App& app, const std::string& command, Options& o) {
  CLI::Option* dryRun = app.add_flag("--dry-run", o.campaign.dryRun, "say what would run: rows, time, memory, disk");
  app.add_flag("--fresh", o.campaign.fresh, command == "run" ? "run finished rows and trainings anew" : "run finished rows anew");
  app.add_option("--max-time", o.campaign.maxTime, "seconds after which no further row starts")
      ->default_str("no limit")
      ->check(seconds())
      ->excludes(dryRun);
  app.add_option("--max-rows", o.campaign.maxRows, "take up so many unfinished rows at most")
      ->default_str("all")
      ->check(wholeNumber())
      ->excludes(dryRun);
  app.add_option("--row-time", o.campaign.rowTime, "seconds that one row may take; 0: no limit")->capture_default_str()->check(seconds());
  app.add_option("--repeat", o.campaign.repeat, "processes for each row, instead of the program's number (default there: 1)")
      ->check(wholeNumber(1, 1000));
  if (command == "run") app.add_flag("--no-plots", o.noPlots, "write no plots");
}

void addSpec(CLI::App& app, Options& o) {
  CLI::Option* tests =
      app.add_flag("--tests", o.tests, "test cases from the functional scenarios, towards each boundary and away from it")
          ->excludes("--sarif");
  app.add_flag("--strict", o.strict, "exit 5 also where something is left to a check at run time (`residual`)")->excludes(tests);
  o.effort = spec::Work::kAll;
  app.add_option("--effort", o.effort,
                 "work of all proofs together, after which what is left is `residual`: expressions evaluated")
      ->check(wholeNumber())
      ->capture_default_str();
  app.add_option("--cases", o.cases, "so many cases a scenario, at most")
      ->check(wholeNumber(1, 1'000'000))
      ->capture_default_str()
      ->needs(tests);
  app.add_option("--step", o.step, "by how much the distance to a boundary grows from case to case")
      ->check(wholeNumber(1, 1'000'000))
      ->capture_default_str()
      ->needs(tests);
  app.add_option("--distance", o.distance, "the distance at which cases turn back to the boundary")
      ->check(wholeNumber(1, 1'000'000'000))
      ->capture_default_str()
      ->needs(tests);
  app.add_option("--seed", o.target.seed, "seed of what a case leaves open")->check(wholeNumber())->capture_default_str()->needs(tests);
  CLI::Option* csv = app.add_flag("--csv", o.csv, "the cases of one declaration as CSV on standard output")->needs(tests);
  CLI::Option* run =
      app.add_option("--run", o.answering, "run this command on each case (a JSON object in, one out) and judge what it answers")
          ->type_name("COMMAND")
          ->needs(tests)
          ->excludes(csv);
  app.add_option("--rank", o.rank, "dimensions that `..s` stands for in a network, block or operator")
      ->check(wholeNumber(1, 8))
      ->capture_default_str()
      ->needs(tests);
  app.add_option("--timeout", o.caseTime, "seconds that the command may take for a case")
      ->check(number(0.001, 86400, "number of seconds from 0.001 to 86400"))
      ->capture_default_str()
      ->needs(run);
}

void addPyTorch(CLI::App& app, const std::string& command, Options& o) {
  const std::string eager = command == "what-if"  ? ""
                            : command == "report" ? "with --device or --on pytorch: "
                                                  : "with --on pytorch: ";
  const std::string cudnn = command == "estimate" ? "with --on pytorch or --explain workspace: " : eager;
  app.add_option("--update", o.eager.update, eager + "how PyTorch's optimiser runs (default: as torch.optim chooses)")
      ->check(CLI::IsMember({"foreach", "fused", "loop"}));
  app.add_option("--alloc-conf", o.eager.allocConf, eager + "the allocator's options, as in PYTORCH_ALLOC_CONF")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_option("--torch", o.eager.torch, eager + "this PyTorch's rules (default: the newest that are known)")->type_name("VERSION");
  app.add_option("--device", o.engines.device, whatDevice(command));
  app.add_option("--cudnn", o.engines.cudnn,
                 cudnn +
                     "the folder of the cuDNN to ask, or none (default: the CUDA toolkit's; for PyTorch first that of the Python "
                     "environment)")
      ->type_name("DIR");
  app.add_option("--layout", o.engines.layout, cudnn + "of images: nchw or nhwc")
      ->check(CLI::IsMember({"nchw", "nhwc"}))
      ->capture_default_str();
  app.add_option("--tf32", o.engines.tf32, cudnn + "whether f32 convolutions may round their inputs to TF32: on or off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
}

void addEstimate(CLI::App& app, const std::string& command, Options& o) {
  if (command == "fit") {
    app.add_option("--max", o.maxMemory,
                   "the memory that there is: 22GiB, or a device: h100; with --on pytorch h100:upper counts what may be taken, "
                   "h100:reserved what the allocator reserves where it may")
        ->type_name("SIZE")
        ->required();
    app.add_flag("--every", o.every, "try every level from 1 on: certain, and slower");
  }
  if (isOneOf(command, {"fit", "what-if"}))
    app.add_option("--vary", o.vary, "the factor whose largest level is looked for")->capture_default_str();
  if (command == "estimate")
    app.add_option("--max", o.maxMemory,
                   "exit with 5 if a row does not run in so much memory: 22GiB, or a device: h100; with --on pytorch "
                   "22GiB:upper is of the upper bound, 22GiB:reserved of what the allocator reserves where it may")
        ->type_name("SIZE");
  if (isOneOf(command, {"estimate", "fit", "what-if"}))
    app.add_option("--reserve", o.reserve,
                   std::string(command == "what-if" ? "" : "with --on pytorch: ") +
                       "what a card holds beside the allocator, other processes too: 1GiB")
        ->type_name("SIZE");
  if (isOneOf(command, {"estimate", "fit", "what-if", "report"})) addPyTorch(app, command, o);
  if (isOneOf(command, {"estimate", "emit", "fit"}))
    app.add_flag("--keep-gradients", o.target.keepGradients,
                 std::string(command == "emit" ? "with --as llvm: " : "") +
                     "of our own training steps: all gradients stay to the end of the step, as `step` keeps them");
  if (isOneOf(command, {"estimate", "report"})) {
    app.add_option("--gates", o.gates, "how likely a gate's condition is met, for expected FLOPs: 0.3, or PATH=0.3,..")
        ->type_name("P");
    app.add_option("--convention", o.convention,
                   "how FLOPs are counted: flop (a multiply-add is 2), mac, or mac2: 2 x multiply-adds alone")
        ->check(CLI::IsMember({"flop", "mac", "mac2"}))
        ->capture_default_str();
  }
  if (command == "estimate") {
    app.add_option(
           "--explain", o.explain,
           "workspace: the engines of each convolution on a GPU that need not be here, as cuDNN says; gradients: how long they"
           " live, and the arena if all were kept")
        ->check(CLI::IsMember({"workspace", "gradients"}));
    app.add_option("--workspace-limit", o.workspaceLimit,
                   "with --explain workspace: what memory would be if no convolution took more: 256MiB")
        ->type_name("SIZE");
    app.add_flag("--nondeterministic", o.engines.nondeterministic,
                 "with --explain workspace: take engines whose sums change from run to run too");
  }
  if (isOneOf(command, {"estimate", "screen", "report"}))
    app.add_option(
           "--roofline", o.roofline,
           "bytes moved and least time on a device: a100, h200, rtx4090, .. (tbemc doc --devices), cpu, or a record of the"
           " program; a100:tf32 for products in TF32")
        ->type_name("DEVICE");
  if (command == "screen") {
    app.add_option("--grid", o.grid, "take every combination of levels if there are so many at most, else the design's rows")
        ->check(wholeNumber())
        ->capture_default_str();
    app.add_option("--cutoff", o.cutoff, "share of the variation below which a factor is left out")
        ->check(number(0, 1, "share from 0 to 1"))
        ->capture_default_str();
  }
}

void addStep(CLI::App& app, Options& o) {
  app.add_option("--save", o.save, "write inputs, weights, gradients, outputs and loss to this .npz or .safetensors file")
      ->type_name("FILE");
  app.add_option("--repeat", o.campaign.repeat, "time the step so many times more")->check(wholeNumber(1, 1'000'000));
  app.add_option("--steps", o.steps,
                 "so many steps on the same inputs (default: 1); gradients, outputs and loss are those of the last")
      ->check(wholeNumber(1, 1'000'000));
  CLI::Option* load =
      app.add_option("--load", o.load, "start from the inputs, weights and buffers of this .npz or .safetensors file")
          ->type_name("FILE");
  app.add_option("--names", o.names, "whose names the file of --load has: torchvision, or a table of names (docs/weights.md)")
      ->type_name("SET")
      ->needs(load);
  app.add_flag("--partial", o.partial, "take what fits from the file of --load, leave the rest as initialised")->needs(load);
  app.add_flag("--profile", o.profile, "time each operator and loop of the step");
}

void addPlan(CLI::App& app, Options& o) {
  CLI::Option* capacity = app.add_option("--capacity", o.capacity,
                                         "exit with 5 where no plan that fits was found: 1MiB; of a "
                                         "file's buffers a plan that fits is enough")
                              ->type_name("SIZE");
  CLI::Option* align = app.add_option("--align", o.align, "offsets of a file's buffers are multiples of so many bytes")
                           ->check(wholeNumber(1, 1 << 30))
                           ->capture_default_str();
  CLI::Option* effort = app.add_option("--effort", o.effort, "placements that the complete search for a file's buffers tries")
                            ->check(wholeNumber())
                            ->capture_default_str();
  app.add_flag("--verify", o.verifyPlan, "check the offsets that the file has; exit with 5 where two buffers share bytes")
      ->excludes(effort);
  app.add_flag("--diff", o.planDiff, "compare two plans; exit with 5 where the second takes more")
      ->excludes("--verify")
      ->excludes(capacity)
      ->excludes(align)
      ->excludes(effort);
}

void addReplay(CLI::App& app, Options& o) {
  app.add_option("FILE", o.program.files, "snapshots of torch.cuda.memory, or histories as JSON lines; plain or .gz")->required();
  app.add_option("--alloc-conf", o.eager.allocConf, "options to compare, as in PYTORCH_ALLOC_CONF; again for more")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  app.add_option("--capacity", o.capacity, "what the card can hand out (default: what an out of memory tells, else no end)")
      ->type_name("SIZE");
  app.add_option("--card", o.card, "memory of the card, which per_process_memory_fraction is a share of (default: --capacity)")
      ->type_name("SIZE");
  app.add_option("--recorded-conf", o.recordedConf, "the options of the recording, where it does not say them")
      ->type_name("TEXT");
  app.add_option("--torch", o.eager.torch, "rules of this PyTorch (default: the recording's, else the newest)")->type_name("VERSION");
  app.add_option("--trace", o.traceName, "only the histories whose name has this: 'card 1', 'resnet50 f32'")->type_name("TEXT");
}

void addOwn(CLI::App& app, const std::string& command, Options& o) {
  if (isOneOf(command, {"check", "spec"}))
    app.add_flag("--sarif", o.display.sarif, "findings as one SARIF 2.1.0 log on standard output, nothing else there");
  if (command == "check")
    app.add_flag("--fix", o.fix, "apply the certain fixes to the files")->excludes("--sarif")->excludes("-e");
  if (command == "run")
    app.add_flag("--verbose", o.display.verbose,
                 "every table and every column, whatever the width: also memory by kind, and coefficients in the factors' units");
  if (command == "estimate") app.add_flag("--verbose", o.display.verbose, "every column, whatever the width");
  if (command == "design") app.add_flag("--csv", o.csv, "the array as CSV on standard output");
  if (command == "spec") addSpec(app, o);
  if (isOneOf(command, {"estimate", "fit", "what-if", "screen", "emit", "report"})) addEstimate(app, command, o);
  if (command == "doctor") app.add_flag("--measure", o.measureMachine, "measure this machine's rates, for --roofline cpu");
  if (command == "step") addStep(app, o);
  if (command == "train") app.add_flag("--fresh", o.campaign.fresh, "train anew, whatever the checkpoint has");
  if (command == "emit")
    app.add_option("--as", o.as, "json, dot or llvm")->check(CLI::IsMember({"json", "dot", "llvm"}))->excludes("--emit");
  if (command == "plan") addPlan(app, o);
  if (command == "replay") addReplay(app, o);
  if (command == "fmt") {
    app.add_option("FILE", o.program.files, "programs; - is standard input")->required();
    CLI::Option* write = app.add_flag("-w,--write", o.write, "write the result back to the files");
    app.add_flag("--check", o.checkOnly, "exit with 1 if a file is not formatted")->excludes(write);
    app.add_flag("--upgrade", o.upgrade, "rewrite old forms (there is one version so far: nothing to rewrite)");
  }
  if (command == "explain") app.add_option("CODE", o.word, "the diagnostic's code: E0101")->required();
  if (command == "doc") {
    CLI::Option* name = app.add_option("NAME", o.word, "conv2d, std.vision.resnet, std.nn, ...");
    CLI::Option* operators =
        app.add_flag("--operators", o.operators, "all operators in one table (Markdown): where they run, gradients, cost")
            ->excludes(name);
    app.add_flag("--devices", o.devices, "all devices of std.devices, and the fields of a device, in tables (Markdown)")
        ->excludes(name)
        ->excludes(operators);
  }
  if (command == "worker") {
    app.add_option("--row", o.workerRow)->required();
    app.add_option("--identity", o.workerIdentity)->required();
    app.add_option("--cache-dir", o.cacheDir);
  }
}

/// A text of options may be empty: no option is set. Nothing else is said by an empty text.
void refuseEmpty(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_type_size() == 0 || option->check_lname("alloc-conf") || option->check_lname("recorded-conf")) continue;
    option->check(validator([](const std::string& text) { return text.empty() ? "it is empty" : ""; }));
  }
}

}  // namespace

Needs needsOf(std::string_view command) {
  if (isOneOf(command, {"run", "measure"})) return {true, true, true, true};
  if (isOneOf(command, {"worker", "step", "train"})) return {true, true, true, false};
  if (isOneOf(command, {"estimate", "fit", "what-if", "screen", "emit", "report", "design", "check", "weights", "regress",
                        "predict", "plan"}))
    return {true, true, false, false};
  if (command == "spec") return {true, false, false, false};
  return {};
}

bool takesSeveral(std::string_view command) { return isOneOf(command, {"check", "spec", "plan"}); }

void addOptions(CLI::App& app, const std::string& command, Options& options) {
  const Needs needs = needsOf(command);
  if (needs.program) addProgram(app, command, options);
  if (needs.row) addRow(app, command, options);
  if (needs.campaign) addCampaign(app, command, options);
  addOwn(app, command, options);
  addCommon(app, command, options);
  for (const char* form : {"--sarif", "--csv"}) {
    if (CLI::Option* option = app.get_option_no_throw(form); option != nullptr) option->excludes("--json");
  }
  refuseEmpty(app);
}

}  // namespace tbem::driver
