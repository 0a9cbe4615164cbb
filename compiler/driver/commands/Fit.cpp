// tbemc fit: the largest level of a factor such that it and all smaller ones fit a memory. `--every` tries all levels from 1 on.
#include "compiler/explore/Fit.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/show/Out.h"
#include "compiler/show/rows/FitReport.h"

#include <fmt/format.h>

#include <string>

namespace tbem::driver {

namespace {

struct FitOptions : CommandOptions {
  FitRequest fit;
};

void declare(OptionList& list, FitOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = fmt::format("{}; pytorch or pytorch-cpu: eager PyTorch on a GPU or here", kOwnBackends)});
  list.add("--max", o.fit.maxMemory,
           "the memory that there is: 22GiB, or a device: h100; with --on pytorch h100:upper counts what may be taken, "
           "h100:reserved what the allocator reserves where it may")
      .type("SIZE")
      .required();
  list.flag("--every", o.fit.every, "try every level from 1 on: certain, and slower");
  addVary(list, o.fit.vary);
  addReserve(list, o.fit.reserve, "with --on pytorch: ");
  addPyTorch(list, o.fit.eager, o.fit.engines,
             {.device = "with --on pytorch: the GPU whose workspaces are counted (default: that of --max): a100, h200, rtx4090, "
                        ".., or a record of the program"});
  addKeepGradients(list, o, "");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const FitOptions& options) { return unheededRows(given, options, {}); }

int run(show::Out& out, const FitOptions& given) {
  FitOptions options = given;
  options.program.varied = options.fit.vary;
  if (const std::string why = wrongFit(options.fit, options.target); !why.empty()) {
    out.failure(why);
    return kUsage;
  }
  PipelineState state(options, out);
  state.questions.fit = &options.fit;
  return runAndPrint(out, state, options.stages, "fit", [&] {
    printFits(out, state.fits);
    return state.fits.verdict;
  });
}

}  // namespace

const Command kFit = {"fit", "the largest batch (or level of another factor) that fits a memory; nothing is run", Takes::Program,
                      false, invocation<FitOptions, declare, unheeded, run>};

}  // namespace tbem::driver
