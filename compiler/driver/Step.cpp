// tbemc step: one row's step, once, with its numbers saved or taken from a file.
#include "compiler/driver/Backends.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/StepFile.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

namespace tbem::driver {

namespace {

struct StepOutcome {
  std::optional<double> loss;
  double seconds = 0;
};

tl::expected<StepOutcome, std::string> runOnce(const LoweredRow& lowered, const jit::Compiled& compiled, const tbem_backend& backend,
                                               const Options& options) {
  auto instance = runtime::Instance::create(compiled.executable, backend, {.poison = true, .guard = 4096});
  if (!instance) return tl::unexpected(instance.error().message);
  runtime::Instance& run = **instance;
  if (const auto ready = run.initialise(options.seed); !ready) return tl::unexpected(ready.error().message);
  if (!options.load.empty()) {
    const auto arrays = data::readNpz(options.load);
    if (!arrays) return tl::unexpected(arrays.error());
    const auto taken = loadArrays(*arrays, run);
    if (!taken) return tl::unexpected(fmt::format("{}: {}", options.load, taken.error()));
    printNote(options, fmt::format("{} arrays taken from {}", *taken, options.load));
  }
  std::vector<data::Array> arrays;
  if (!options.save.empty()) {
    auto before = arraysBefore(lowered, run);
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
  if (lowered.row.graph().loss != graph::kNoTensor) {
    const auto loss = run.read(compiled.executable.loss);
    if (!loss) return tl::unexpected(loss.error().message);
    outcome.loss = loss->doubles().front();
  }
  if (!options.save.empty()) {
    auto after = arraysAfter(lowered, run);
    if (!after) return tl::unexpected(after.error());
    arrays.insert(arrays.end(), std::make_move_iterator(after->begin()), std::make_move_iterator(after->end()));
    if (const auto written = data::writeNpz(options.save, arrays); !written) return tl::unexpected(written.error());
  }
  return outcome;
}

int stepRow(Workspace& workspace, DesignRun& run, std::size_t row, const Options& options) {
  const std::string name = options.backend.empty() ? (options.dtype == "f64" ? "ref" : "cpu") : options.backend;
  const Opened opened = openBackend(name);
  if (opened.backend == nullptr) {
    printFailure(fmt::format("backend {}: {}", name, opened.reason));
    return opened.known ? kEnvironment : kUsage;
  }
  estimate::LowerOptions lower = lowerOptions(options, opened.device, nullptr);
  lower.keepGradients = lower.keepOutputs = !options.save.empty();
  const std::optional<graph::Row> elaborated = elaborateRow(run, row);
  if (!elaborated) return kProgramErrors;
  if (const std::optional<SrcRange> gate = firstGate(elaborated->graph())) {
    workspace.session.sink.report(Diag::not_there_yet, *gate, std::string("running gates is"));
    return kProgramErrors;
  }
  const std::optional<LoweredRow> lowered = lowerRow(workspace, run, row, *opened.backend, lower);
  if (!lowered) return kProgramErrors;
  const auto compiled = compileRow(*lowered, {});
  if (!compiled) {
    printFailure(compiled.error());
    return kEnvironment;
  }
  const auto outcome = runOnce(*lowered, *compiled, *opened.backend, options);
  if (!outcome) {
    printFailure(outcome.error());
    return kRunFailed;
  }
  const graph::Graph& graph = lowered->row.graph();
  if (options.json) {
    printJson("step", {{"network", graph.network}, {"design", run.spec.name}, {"row", row}, {"levels", run.levels(row)}, {"backend", name},
                       {"loss", outcome->loss ? Json(*outcome->loss) : Json()}, {"seconds", outcome->seconds},
                       {"saved", options.save.empty() ? Json() : Json(options.save)}});
  } else {
    fmt::print("{} ({}) on {}: ", graph.network, run.levelsText(row), name);
    if (outcome->loss) fmt::print("loss {:.9g}, ", *outcome->loss);
    fmt::print("{}\n", report::seconds(outcome->seconds));
    if (!options.save.empty()) fmt::print("saved {}\n", options.save);
  }
  return kOk;
}

}  // namespace

int runStep(const Options& options) {
  const std::unique_ptr<Workspace> workspace = loadWorkspace(options);
  if (workspace == nullptr) return kEnvironment;
  int status = kOk;
  if (!workspace->session.sink.hasErrors()) {
    Designs designs = makeDesigns(*workspace, options);
    if (designs.usage) return kUsage;
    if (!designs.runs.empty() && designs.runs.front()->experiment == nullptr) {
      printFailure(fmt::format("design `{}` has no network (`of`): there is no step to run", designs.runs.front()->spec.name));
      status = kUsage;
    } else if (!designs.runs.empty()) {
      DesignRun& run = *designs.runs.front();
      if (run.chosen.size() > 1) printNote(options, fmt::format("first of {} rows; pick another with --at", run.chosen.size()));
      status = stepRow(*workspace, run, run.chosen.front(), options);
    } else if (!workspace->session.sink.hasErrors()) {
      printFailure("the program has no design: give --input (and --task) for its network");
      status = kUsage;
    }
  }
  const int printed = printDiagnostics(workspace->session, options);
  return status != kOk ? status : printed;
}

}  // namespace tbem::driver
