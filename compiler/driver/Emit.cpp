// tbemc emit --as json|dot|llvm: other forms of the same network, one row.
#include "compiler/emit/Emit.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"

#include <fmt/format.h>

namespace tbem::driver {

int runEmit(const Options& options) {
  State state(options);
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(state, options.as == "llvm" ? "code" : "graph"); !done.proceed) return done.status;
  if (state.rows.empty()) {
    printFailure("there is no network to emit: the program has no design of one (or give --input, and --task, for its network)");
    return finish(state, kUsage);
  }
  const RowState& row = state.rows.front();
  if (row.run->chosen.size() > 1)
    printNote(options, fmt::format("the first of {} rows; pick another with --at", row.run->chosen.size()));
  if (options.as == "llvm") {
    fmt::print("{}", row.compiled->ir);
  } else if (options.as == "dot") {
    fmt::print("{}", emit::emitDot(row.elaborated->graph(), row.elaborated->values));
  } else {
    fmt::print("{}\n", emit::emitJson(row.elaborated->graph(), row.elaborated->values, state.workspace->session.sources));
  }
  return finish(state, kOk);
}

}  // namespace tbem::driver
