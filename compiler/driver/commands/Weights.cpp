// tbemc weights: names, shapes and types of a network's weights and buffers, or of the arrays in a file; and how both fit
// together.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/run/weights/CompareArrays.h"
#include "compiler/run/weights/ListWeights.h"
#include "compiler/show/Out.h"
#include "compiler/show/rows/WeightReport.h"
#include "runtime/data/ArrayFile.h"

#include <fmt/format.h>

#include <string>

namespace tbem::driver {

namespace {

struct WeightsOptions : CommandOptions {
  std::string against;  ///< a file of arrays
  std::string names;    ///< whose names it has
};

void declare(OptionList& list, WeightsOptions& o) {
  addProgram(list, o, {.files = "the program, - is standard input; or a file of arrays (.npz, .safetensors, .pth)"});
  addRows(list, o, {.on = kPlannedBackends, .planned = kPlanned});
  const Option against =
      list.add("--against", o.against,
               "compare the network with the arrays of this .npz, .safetensors or .pth file, as step --load does")
          .type("FILE");
  list.add("--names", o.names, "whose names the file of --against has: torchvision, or a table of names (docs/weights.md)")
      .type("SET")
      .needs(against);
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const WeightsOptions& options) {
  if (!options.program.text && !options.program.files.empty() && data::arrayFormatOf(options.program.files.front())) {
    if (std::string why = unheededProgram(given, options, "a file of arrays"); !why.empty()) return why;
    if (!options.against.empty())
      return fmt::format("--against: `{}` is no program (.tbem) but a file of arrays, and a file is compared with a network",
                         options.program.files.front());
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

/// How the row's network and the file fit together. Errors: as they are told.
tl::expected<bool, Failed> compare(show::Out& out, const RowState& row, const WeightsOptions& options) {
  const auto file = data::ArrayFile::open(options.against);
  if (!file) return failed(kEnvironment, file.error());
  const auto comparison = compareArrays(*file, options.names, *row.elaborated);
  if (!comparison) return failed(kRunFailed, fmt::format("{}: {}", options.against, comparison.error()));
  printComparison(out, row, options.against, *comparison);
  return comparison->fits();
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
  if (!options.against.empty()) {
    const auto fits = compare(out, row, options);
    return fits ? finish(out, state, *fits ? kOk : kVerdictAgainst) : finish(out, state, fits.error());
  }
  printArrays(out, fmt::format("{} ({})", row.elaborated->graph().network, row.run->levelsText(row.row)),
              weightsOf(*row.elaborated));
  return finish(out, state, kOk);
}

}  // namespace

const Command kWeights = {"weights", "names, shapes and types of a network's weights, or of the arrays in a file", Takes::Program,
                          false, invocation<WeightsOptions, declare, unheeded, run>};

}  // namespace tbem::driver
