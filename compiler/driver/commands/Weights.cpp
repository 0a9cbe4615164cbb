// tbemc weights: names, shapes and types of a network's weights and buffers, or of the arrays in a .npz or .safetensors file.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/run/weights/ListWeights.h"
#include "compiler/show/Out.h"
#include "compiler/show/rows/WeightReport.h"
#include "runtime/data/ArrayFile.h"

#include <fmt/format.h>

#include <string>

namespace tbem::driver {

namespace {

struct WeightsOptions : CommandOptions {};

void declare(OptionList& list, WeightsOptions& o) {
  addProgram(list, o, {.files = "the program, - is standard input; or a file of arrays (.npz, .safetensors, .pth)"});
  addRows(list, o, {.on = kPlannedBackends, .planned = kPlanned});
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const WeightsOptions& options) {
  if (!options.program.text && !options.program.files.empty() && data::arrayFormatOf(options.program.files.front())) {
    if (std::string why = unheededProgram(given, options, "a file of arrays"); !why.empty()) return why;
  }
  return unheededRows(given, options, {.notPlanned = notPlanned("weights")});
}

int listFile(show::Out& out, const std::string& path) {
  const auto file = data::ArrayFile::open(path);
  if (!file) {
    out.failure(file.error());
    return kEnvironment;
  }
  printArrayFile(out, path, *file);
  return kOk;
}

int run(show::Out& out, const WeightsOptions& options) {
  if (!options.program.text && isArrayFile(options.program.files.front())) return listFile(out, options.program.files.front());
  PipelineState state(options, out);
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "graph"); !done.proceed) return done.status;
  const RowState* const first =
      firstRow(out, state, "there is no network: the program has no design of one (or give --input for its network)");
  if (first == nullptr) return finish(out, state, kUsage);
  const RowState& row = *first;
  printArrays(out, fmt::format("{} ({})", row.elaborated->graph().network, row.run->levelsText(row.row)),
              weightsOf(*row.elaborated));
  return finish(out, state, kOk);
}

}  // namespace

const Command kWeights = {"weights", "names, shapes and types of a network's weights, or of the arrays in a file", Takes::Program,
                          false, invocation<WeightsOptions, declare, unheeded, run>};

}  // namespace tbem::driver
