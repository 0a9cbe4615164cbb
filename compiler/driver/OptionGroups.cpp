#include "compiler/driver/OptionGroups.h"

#include "compiler/backends/Tuning.h"
#include "compiler/count/Conventions.h"
#include "compiler/experiment/AtText.h"
#include "compiler/experiment/OneRowDesign.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "runtime/files/Read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

namespace tbem::driver {

void addProgram(OptionList& list, CommandOptions& o, const ProgramTexts& texts) {
  list.add("FILE", o.program.files, texts.files);
  list.add("-e", o.program.text, texts.text).type("TEXT");
  if (texts.inputs) {
    list.add("--input", o.program.inputs, "shape of an input where the program has no design: image=16,3,224,224")
        .type("NAME=DIMS")
        .check([](const std::string& text) {
          const std::size_t equals = text.find('=');
          const bool named = equals != 0 && equals != std::string::npos;
          return named ? std::string() : text + ": give a name and its dimensions, such as image=16,3,224,224";
        })
        .single();
    list.add("--task", o.program.task,
             "task where the program has no design (default: infer): 'train(loss: cross_entropy, optimizer: sgd(lr: 0.01))'");
    list.add("--optimizer", o.program.groups, "an optimiser of some weights, beside that of --task: 'sgd(lr: 0.1) on head'")
        .type("TEXT")
        .check([](const std::string& text) {
          const bool moves = text.find(" on ") != std::string::npos;
          return moves ? std::string() : text + ": give an optimiser and what it moves, such as 'sgd(lr: 0.1) on head'";
        })
        .single();
    list.add("--freeze", o.program.freeze, "weights that stay as they are, where the program has no design: encoder, '*.bias'")
        .type("PLACE")
        .check([](const std::string& text) {
          return isPlaceText(text) ? std::string() : text + ": give the path of a block or weight, or a pattern such as '*.bias'";
        })
        .single();
  }
  list.add("--emit", o.stages.emitStage, "print what this stage made, and stop: " + stageNames()).type("STAGE");
  list.add("--print-after", o.stages.printAfter, "print what this stage made, and go on").type("STAGE");
  list.flag("--time", o.display.time, "time of each stage, on standard error");
}

void addRows(OptionList& list, CommandOptions& o, const RowTexts& texts) {
  if (texts.choice) {
    list.add("--design", o.rows.design, "only this design");
    list.add("--at", texts.point != nullptr ? *texts.point : o.rows.at, texts.at).type("LEVELS");
  }
  const std::string planned = texts.planned;
  list.add("--on", o.target.backend, texts.on);
  list.add("--threads", o.target.threads, planned + "threads of the backend, at most 1024 (default, and 0: all processors)")
      .wholeNumber(0, 1024);
  list.add("--tune", o.target.tune,
           planned +
               "algorithms: off (default: the backend's own), on (the fastest as timed on this machine; commands that "
               "measure time what is missing), or 'within 10 %' (on, while the arena grows by that at most)")
      .check([](const std::string& text) {
        return parseTuning(text) ? std::string() : fmt::format("`{}` is none of off, on, 'within 10 %'", text);
      });
  list.add("--dtype", o.target.dtype, "element type of floating tensors, instead of the program's: f32, or f64 (on ref)")
      .oneOf({"f32", "f64"});
}

void addStore(OptionList& list, std::string& into) {
  list.add("--store", into, "store of finished rows (default: NAME.tbemdb beside the program)");
}

void addPython(OptionList& list, std::string& into) {
  list.add("--python", into, "the Python of rows that a framework measures (default: the active environment's, else python3)")
      .type("PATH");
}

void addSeed(OptionList& list, CommandOptions& o, const char* text) { list.add("--seed", o.target.seed, text).wholeNumber(); }

void addCampaign(OptionList& list, CampaignRequest& request, const char* fresh) {
  const Option dryRun = list.flag("--dry-run", request.dryRun, "say what would run: rows, time, memory, disk");
  list.flag("--fresh", request.fresh, fresh);
  list.add("--max-time", request.maxTime, "seconds after which no further row starts")
      .defaultIs("no limit")
      .seconds()
      .excludes(dryRun);
  list.add("--max-rows", request.maxRows, "take up so many unfinished rows at most")
      .defaultIs("all")
      .wholeNumber()
      .excludes(dryRun);
  list.add("--row-time", request.rowTime, "seconds that one row may take; 0: no limit").showDefault().seconds();
  list.add("--cards", request.cards, "run rows on cuda side by side, on so many equal cards of this machine, or on all")
      .defaultIs("1")
      .type("N|all")
      .check([](const std::string& text) {
        const bool isNumber = !text.empty() && text.size() <= 3 &&
                              std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; }) &&
                              text.find_first_not_of('0') != std::string::npos;
        return text == "all" || isNumber ? std::string() : fmt::format("`{}` is neither a number of cards nor all", text);
      })
      .excludes(dryRun);
  list.add("--repeat", request.repeat, "processes for each row, instead of the program's number (default there: 1)")
      .wholeNumber(1, 1000);
}

void addPyTorch(OptionList& list, EagerRequest& eager, EngineRequest& engines, const PyTorchTexts& texts) {
  list.add("--update", eager.update, texts.eager + "how PyTorch's optimiser runs (default: as torch.optim chooses)")
      .oneOf({"foreach", "fused", "loop"});
  list.add("--in-place", eager.inPlace,
           texts.eager + "what writes over its operand: none, activations (ReLU(inplace=True)), all (x += y, too)")
      .oneOf({"none", "activations", "all"})
      .showDefault();
  list.add("--alloc-conf", eager.allocConf, texts.eager + "the allocator's options, as in PYTORCH_ALLOC_CONF")
      .type("TEXT")
      .single();
  list.add("--torch", eager.torch, texts.eager + "this PyTorch's rules (default: the newest that are known)").type("VERSION");
  list.add("--device", engines.device, texts.device);
  list.add("--cudnn", engines.cudnn,
           texts.cudnn +
               "the folder of the cuDNN to ask, a file of what one answered elsewhere, or none (default: the CUDA toolkit's; "
               "for PyTorch first that of the Python environment)")
      .type("PATH");
  list.add("--layout", engines.layout, texts.cudnn + "of images: nchw or nhwc").oneOf({"nchw", "nhwc"}).showDefault();
  list.add("--tf32", engines.tf32, texts.cudnn + "whether f32 convolutions may round their inputs to TF32: on or off")
      .oneOf({"on", "off"})
      .showDefault();
}

void addVary(OptionList& list, std::string& into) {
  list.add("--vary", into, "the factor whose largest level is looked for").showDefault();
}

void addReserve(OptionList& list, std::string& into, const std::string& when) {
  list.add("--reserve", into, when + "what a card holds beside the allocator, other processes too: 1GiB").type("SIZE");
}

void addKeepGradients(OptionList& list, CommandOptions& o, const std::string& when) {
  list.flag("--keep-gradients", o.target.keepGradients,
            when + "of our own training steps: all gradients stay to the end of the step, as `step` keeps them");
}

void addCounting(OptionList& list, std::string& gates, std::string& convention) {
  list.add("--gates", gates, "how likely a gate's condition is met, for expected FLOPs: 0.3, or PATH=0.3,..").type("P");
  std::vector<std::string> names;
  for (const estimate::Convention& known : estimate::conventions()) names.emplace_back(known.name);
  list.add("--convention", convention,
           "how FLOPs are counted: full (a multiply-add is 2), mac, flop2 (2 x multiply-adds alone), or as the authors of "
           "deepperform"
           " or sdn do (docs/gates.md)")
      .oneOf(names)
      .showDefault();
}

void addRoofline(OptionList& list, std::string& into) {
  list.add("--roofline", into,
           "bytes moved and least time on a device: a100, h200, rtx4090, .. (tbemc doc --devices), cpu, or a record of the"
           " program; a100:tf32 for products in TF32")
      .type("DEVICE");
}

void addDisplay(OptionList& list, CommandOptions& o, const DisplayTexts& texts) {
  Option json = list.flag("--json", o.display.json, "JSON lines on standard output, nothing else there");
  if (!texts.json) json.hidden();
  list.flag("-q,--quiet", o.display.quiet, "no progress, no notes");
  list.add("--color", o.display.color, "auto (default), always or never; NO_COLOR is heeded").oneOf({"auto", "always", "never"});
  if (texts.width != nullptr) list.add("--width", o.display.width, texts.width).wholeNumber(0, 100'000);
}

std::string levelTwice(const std::string& at) {
  std::set<std::string> seen;
  // A form that is none is told by who reads it.
  for (const auto& [name, level] : parseAt(at).value_or(std::vector<std::pair<std::string, std::string>>{})) {
    if (!seen.insert(name).second) return fmt::format("--at {}: `{}` has two levels", at, name);
  }
  return {};
}

std::string notPlanned(const char* command) {
  return fmt::format("`tbemc {}` does not: --emit lower and --emit code do", command);
}

namespace {

std::string unheededPlan(const Given& given, const CommandOptions& o, const RowsHeed& heed) {
  if (heed.notPlanned.empty() || !o.stages.emitStage.empty()) return {};
  const char* option = given.firstOf({"--threads", "--tune"});
  if (option == nullptr) option = given.firstOf(heed.ofPlan);
  if (option == nullptr) return {};
  return fmt::format("{} is of a step that is planned for a device, which {}", option, heed.notPlanned);
}

std::string unheededPyTorch(const Given& given, const CommandOptions& o, const RowsHeed& heed) {
  const std::string& backend = o.target.backend;
  const bool card = heed.card || backend == "pytorch";
  if (!card && backend != "pytorch-cpu") {
    if (const char* option = given.firstOf({"--update", "--in-place", "--alloc-conf", "--torch"}))
      return fmt::format("{} is of --on pytorch", option);
  }
  if (!card && backend == "pytorch-cpu") {
    if (const char* option = given.firstOf({"--alloc-conf", "--torch", "--device", "--cudnn", "--layout", "--tf32"}))
      return fmt::format("{} is of --on pytorch, a GPU, not of pytorch-cpu", option);
  }
  if (isPyTorch(backend) && !heed.everyBackend) {
    if (const char* option = given.firstOf({"--threads", "--tune", "--convention", "--roofline"}); option != nullptr)
      return fmt::format("{} is of our own steps, not of --on {}", option, backend);
  }
  return {};
}

std::string unheededCudnn(const Given& given, const CommandOptions& o, const RowsHeed& heed) {
  if (heed.asksCudnn || heed.card || o.target.backend == "pytorch") return {};
  const char* option = given.firstOf({"--cudnn", "--layout", "--tf32"});
  return option == nullptr ? std::string() : fmt::format("{} is of cuDNN's convolutions: --on pytorch{}", option, heed.cudnnToo);
}

}  // namespace

std::string unheededRows(const Given& given, const CommandOptions& options, const RowsHeed& heed) {
  for (const auto check : {unheededPlan, unheededPyTorch, unheededCudnn}) {
    if (std::string why = check(given, options, heed); !why.empty()) return why;
  }
  return levelTwice(options.rows.at);
}

std::string unheededProgram(const Given& given, const CommandOptions& options, const char* kind) {
  const char* option = given.firstOf({"--input", "--task", "--optimizer", "--freeze", "--emit", "--print-after", "--time",
                                      "--design", "--at", "--on", "--threads", "--tune", "--dtype"});
  if (option == nullptr) return {};
  return fmt::format("{}: `{}` is no program (.tbem) but {}", option, options.program.files.front(), kind);
}

std::string unwritable(const CommandOptions& options, const char* option) {
  const auto inherited = std::ranges::find_if(options.program.files, files::isInherited);
  if (inherited == options.program.files.end()) return {};
  return fmt::format("{} writes to files, and {} is what the command was started with (standard input or a shell's pipe)", option,
                     *inherited);
}

}  // namespace tbem::driver
