// tbemc estimate: what each row will cost, before anything runs.
#include "compiler/budget/Budgets.h"
#include "compiler/count/GateFlops.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/explore/FitLimit.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "compiler/show/memory/GradientReport.h"
#include "compiler/show/memory/PyTorchEstimates.h"
#include "compiler/show/memory/WorkspaceReport.h"
#include "compiler/show/rows/EstimateReport.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

namespace tbem::driver {

namespace {

struct EstimateOptions : CommandOptions {
  EagerRequest eager;
  EngineRequest engines;
  EstimateView view;
  std::string maxMemory, reserve;
  std::string explain;         ///< "workspace", "gradients"
  std::string workspaceLimit;  ///< of --explain workspace
};

void declare(OptionList& list, EstimateOptions& o) {
  addProgram(list, o);
  addRows(
      list, o,
      {.on = fmt::format("{}; pytorch or pytorch-cpu: eager PyTorch on a GPU or here; none: from shapes alone", kOwnBackends)});
  list.add("--out", o.view.folder, "folder for a plot of memory over the step (default: no plot)").type("DIR");
  list.flag("--verbose", o.display.verbose, "every column, whatever the width");
  list.add("--max", o.maxMemory,
           "exit with 5 if a row does not run in so much memory: 22GiB, or a device: h100; with --on pytorch "
           "22GiB:upper is of the upper bound, 22GiB:reserved of what the allocator reserves where it may")
      .type("SIZE");
  addReserve(list, o.reserve, "with --on pytorch: ");
  addPyTorch(list, o.eager, o.engines,
             {.cudnn = "with --on pytorch or --explain workspace: ",
              .device = "the GPU of --explain workspace (default: h200), and with --on pytorch the one whose workspaces are "
                        "counted: a100, h200, rtx4090, .., or a record of the program"});
  addKeepGradients(list, o, "");
  addCounting(list, o.view.gates, o.view.convention);
  list.add("--explain", o.explain,
           "workspace: the engines of each convolution on a GPU that need not be here, as cuDNN says; gradients: how long they"
           " live, and the arena if all were kept")
      .oneOf({"workspace", "gradients"});
  list.add("--workspace-limit", o.workspaceLimit,
           "with --explain workspace: what memory would be if no convolution took more: 256MiB")
      .type("SIZE");
  list.flag("--nondeterministic", o.engines.nondeterministic,
            "with --explain workspace: take engines whose sums change from run to run too");
  addRoofline(list, o.view.roofline);
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const EstimateOptions& o) {
  const bool explained = o.explain == "workspace";
  if (!explained) {
    if (const char* option = given.firstOf({"--workspace-limit", "--nondeterministic"}))
      return fmt::format("{} is of --explain workspace", option);
  }
  return unheededRows(given, o, {.asksCudnn = explained, .cudnnToo = ", or --explain workspace"});
}

std::string wrongMemory(const EstimateOptions& options) {
  if (options.maxMemory.empty()) return wrongReserve(options.reserve, options.target.backend, false);
  std::string why = wrongLimit(options.maxMemory);
  if (why.empty() && !isPyTorch(options.target.backend) && options.maxMemory.find(':') != std::string::npos)
    why = "a word behind the colon is of --on pytorch";
  return why.empty() ? wrongReserve(options.reserve, options.target.backend, true)
                     : fmt::format("--max {}: {}", options.maxMemory, why);
}

/// Options of a GPU or of the allocator where there is none.
std::string wrongDevice(const EstimateOptions& options) {
  const bool workspaces = options.explain == "workspace", pytorch = isPyTorch(options.target.backend);
  if (workspaces && !options.target.backend.empty() && options.target.backend != "pytorch")
    return fmt::format("--explain workspace is of a GPU (--device NAME), not of {}", options.target.backend);
  if (!options.engines.device.empty() && !pytorch && !workspaces && options.target.backend != "cuda") {
    return fmt::format(
        "--device {0}: with --on cuda steps are planned for it, with --on pytorch its workspaces are counted, with --explain "
        "workspace they are listed; --roofline {0} shows the least time there",
        options.engines.device);
  }
  if (!pytorch && !options.eager.allocConf.empty()) return "--alloc-conf is of --on pytorch";
  return {};
}

/// What makes no sense together, with the way out; "": nothing.
std::string wrongEstimate(const EstimateOptions& options) {
  if (std::string why = wrongMemory(options); !why.empty()) return why;
  if (const auto gates = estimate::parseProbabilities(options.view.gates); !gates)
    return fmt::format("--gates: {}", gates.error());
  if (std::string why = wrongDevice(options); !why.empty()) return why;
  const bool none = options.target.backend == "none";
  if (none && !options.view.roofline.empty()) return "--roofline needs the step of a device, not --on none";
  const char* const ofPlans = options.target.keepGradients           ? "--keep-gradients"
                              : options.explain == "gradients"       ? "--explain gradients"
                              : none && options.target.threads != 0  ? "--threads"
                              : none && !options.target.tune.empty() ? "--tune"
                              : none && !options.view.folder.empty() ? "--out"
                                                                     : nullptr;
  if (ofPlans != nullptr && (isPyTorch(options.target.backend) || none))
    return fmt::format("{} is of a step that is planned, not of --on {}", ofPlans, options.target.backend);
  return {};
}

int run(show::Out& out, const EstimateOptions& given) {
  EstimateOptions options = given;
  const bool workspaces = options.explain == "workspace", pytorch = isPyTorch(options.target.backend),
             none = options.target.backend == "none";
  if (const std::string why = wrongEstimate(options); !why.empty()) {
    out.failure(why);
    return kUsage;
  }
  if (options.target.backend == "cuda") options.target.device = options.engines.device;
  PipelineState state(options, out);
  const bool lowers = !workspaces && !pytorch && !none;
  const bool showsStages = !options.stages.emitStage.empty() || !options.stages.printAfter.empty();
  if (none && !showsStages) state.plainAbove = 0;
  const bool needsPrograms =
      !options.explain.empty() || !options.view.roofline.empty() || !options.view.folder.empty() || showsStages;
  if (lowers && options.target.backend.empty() && !needsPrograms) state.plainAbove = kMostLowered;
  if (const Progressed done = runPipeline(out, state, options.stages, lowers ? "lower" : "graph"); !done.proceed)
    return done.status;
  if (none) state.plainAbove = 0;  // whatever was shown of its rows
  if (!none && state.plain()) notePlainRows(out, state);
  if (state.designs.runs.empty() && state.trainings.empty()) {
    out.failure("the program has no design: give --input (and --task) for its network");
    return finish(out, state, kUsage);
  }
  std::optional<FitLimit> limit;
  if (!options.maxMemory.empty()) {
    auto read = readLimit(*state.workspace, options.maxMemory, options.reserve);
    if (!read) return finish(out, state, read.error());
    limit = std::move(*read);
    if (options.engines.device.empty() && options.target.backend == "pytorch") options.engines.device = limit->deviceName;
  }
  auto budgets = checkBudgets(state, {.plans = true, .pytorch = true, .eager = options.eager, .engines = options.engines});
  keepPlanAnswers(state);  // budgets lower rows of their own
  if (!budgets) return finish(out, state, budgets.error());
  options.view.budgets = *std::move(budgets);
  const int status =
      workspaces ? explainWorkspaces(out, state, {options.engines, options.workspaceLimit})
      : pytorch
          ? printPyTorchEstimates(out, state, {options.eager, options.engines, options.view.folder, options.view.budgets}, limit)
          : printEstimates(out, state, options.view, std::move(limit));
  if (options.explain == "gradients") explainGradients(out, state);
  return finish(out, state, status);
}

}  // namespace

const Command kEstimate = {"estimate", "parameters, FLOPs and memory of each row, before anything runs", Takes::Program, false,
                           invocation<EstimateOptions, declare, unheeded, run>};

}  // namespace tbem::driver
