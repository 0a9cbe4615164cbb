// tbemc design: the rows of each design, and what counting shows of its array.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/show/rows/DesignReport.h"

namespace tbem::driver {

namespace {

struct DesignOptions : CommandOptions {
  bool csv = false;
};

void declare(OptionList& list, DesignOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = kPlannedBackends, .planned = kPlanned});
  list.flag("--csv", o.csv, "the array as CSV on standard output");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const DesignOptions& options) {
  return unheededRows(given, options, {.notPlanned = notPlanned("design"), .ofPlan = {"--on", "--dtype"}});
}

int run(show::Out& out, const DesignOptions& options) {
  PipelineState state(options, out);
  if (const Progressed done = runPipeline(out, state, options.stages, "design"); !done.proceed) return done.status;
  printDesigns(out, state, options.csv);
  return finish(out, state, kOk);
}

}  // namespace

const Command kDesign = {"design", "the rows of each design, and what is known of the array", Takes::Program, false,
                         invocation<DesignOptions, declare, unheeded, run>};

}  // namespace tbem::driver
