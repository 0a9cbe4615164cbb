// tbemc design: the rows of each design, and what counting shows of its array.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/show/rows/DesignReport.h"

namespace tbem::driver {

int runDesign(show::Out& out, const Options& options) {
  State state(options, out);
  if (const Progressed done = runPipeline(out, state, options.stages, "design"); !done.proceed) return done.status;
  printDesigns(out, state, options.csv);
  return finish(out, state, kOk);
}

}  // namespace tbem::driver
