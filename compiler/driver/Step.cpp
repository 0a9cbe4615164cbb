// tbemc step: one row's step, once, with its numbers saved or taken from a file.
#include "compiler/driver/Commands.h"
#include "compiler/driver/StepFile.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace tbem::driver {

namespace {

struct StepOutcome {
  std::optional<double> loss;
  double seconds = 0;
};

/// What --load said of the file, for the user.
void noteLoaded(const Options& options, const Loaded& loaded) {
  printNote(options, fmt::format("{} arrays taken from {}", loaded.taken, options.load));
  if (!loaded.ignored.empty()) printNote(options, fmt::format("not used: {}", fmt::join(loaded.ignored, ", ")));
  if (!loaded.missing.empty())
    printNote(options, fmt::format("not in the file, so as initialised: {}", fmt::join(loaded.missing, ", ")));
}

/// Whether `path` can be written, asked before the step runs. The reason why not, or "".
std::string cannotWrite(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (access(folder.c_str(), W_OK) == 0) return {};
  return fmt::format("cannot write {}: {} (errno {})", path, std::strerror(errno), errno);
}

tl::expected<StepOutcome, std::string> runOnce(const RowState& row, const tbem_backend& backend,
                                               const std::vector<data::Array>& given, const Options& options) {
  const jit::Compiled& compiled = *row.compiled;
  auto instance = runtime::Instance::create(compiled.executable, backend, {.poison = true, .guard = 4096});
  if (!instance) return tl::unexpected(instance.error().message);
  runtime::Instance& run = **instance;
  if (const auto ready = run.initialise(options.seed); !ready) return tl::unexpected(ready.error().message);
  if (!options.load.empty()) {
    const auto loaded = loadArrays(given, run);
    if (!loaded) return tl::unexpected(fmt::format("{}: {}", options.load, loaded.error()));
    noteLoaded(options, *loaded);
  }
  std::vector<data::Array> arrays;
  if (!options.save.empty()) {
    auto before = arraysBefore(row, run);
    if (!before) return tl::unexpected(before.error());
    arrays = std::move(*before);
  }
  StepOutcome outcome;
  const double start = measure::monotonicSeconds();
  if (const auto done = run.run(1); !done) return tl::unexpected(done.error().message);
  outcome.seconds = measure::monotonicSeconds() - start;
  const auto arena = run.measureArena();
  if (!arena) return tl::unexpected(arena.error().message);
  if (!arena->guardIntact || arena->stray != runtime::kAbsent) {
    return tl::unexpected(std::string("the step wrote outside its plan: this is a bug of tbemc"));
  }
  if (row.elaborated->graph().loss != graph::kNoTensor) {
    const auto loss = run.read(compiled.executable.loss);
    if (!loss) return tl::unexpected(loss.error().message);
    outcome.loss = loss->doubles().front();
  }
  if (!options.save.empty()) {
    auto after = arraysAfter(row, run);
    if (!after) return tl::unexpected(after.error());
    arrays.insert(arrays.end(), std::make_move_iterator(after->begin()), std::make_move_iterator(after->end()));
    if (const auto written = data::writeNpz(options.save, arrays); !written) return tl::unexpected(written.error());
  }
  return outcome;
}

int printStep(const RowState& row, const std::string& backend, const StepOutcome& outcome, const Options& options) {
  const graph::Graph& graph = row.elaborated->graph();
  if (options.json) {
    printJson("step", {{"network", graph.network},
                       {"design", row.run->spec.name},
                       {"row", row.row},
                       {"levels", row.run->levels(row.row)},
                       {"backend", backend},
                       {"loss", outcome.loss ? Json(*outcome.loss) : Json()},
                       {"seconds", outcome.seconds},
                       {"saved", options.save.empty() ? Json() : Json(options.save)}});
    return kOk;
  }
  fmt::print("{} ({}) on {}: ", graph.network, row.run->levelsText(row.row), backend);
  if (outcome.loss) fmt::print("loss {:.9g}, ", *outcome.loss);
  fmt::print("{}\n", report::seconds(outcome.seconds));
  if (!options.save.empty()) fmt::print("saved {}\n", options.save);
  return kOk;
}

}  // namespace

int runStep(const Options& options) {
  std::vector<data::Array> given;
  if (!options.load.empty()) {
    auto read = data::readNpz(options.load);
    if (!read) {
      printFailure(read.error());
      return kEnvironment;
    }
    given = std::move(*read);
  }
  if (!options.save.empty()) {
    if (const std::string problem = cannotWrite(options.save); !problem.empty()) {
      printFailure(problem);
      return kEnvironment;
    }
  }
  State state(options);
  state.firstRowOnly = true;
  state.keepResults = !options.save.empty();
  if (const Progressed done = runPipeline(state, "code"); !done.proceed) return done.status;
  if (state.rows.empty()) {
    printFailure(
        "there is no step to run: the program has no design of a network (or give --input, and --task, for its network)");
    return finish(state, kUsage);
  }
  const RowState& row = state.rows.front();
  if (row.run->chosen.size() > 1)
    printNote(options, fmt::format("the first of {} rows; pick another with --at", row.run->chosen.size()));
  const auto outcome = runOnce(row, *state.backend.backend, given, options);
  if (!outcome) {
    printFailure(outcome.error());
    return finish(state, kRunFailed);
  }
  return finish(state, printStep(row, state.backendName, *outcome, options));
}

}  // namespace tbem::driver
