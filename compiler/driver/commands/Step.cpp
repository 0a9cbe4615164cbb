// tbemc step: one row's step, once, with its numbers saved or taken from a file.
#include "compiler/count/GateFlops.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/run/weights/LoadWeights.h"
#include "compiler/run/weights/StepFile.h"
#include "compiler/show/rows/Profile.h"
#include "compiler/support/Version.h"
#include "runtime/core/Decisions.h"
#include "runtime/measure/Meters.h"
#include "runtime/measure/Quantile.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

namespace tbem::driver {

namespace {

struct StepOptions : CommandOptions {
  std::string save, load;          ///< files of arrays
  std::string names;               ///< whose names the file of `load` has
  bool partial = false;            ///< take what fits
  unsigned steps = 1;
  std::optional<unsigned> repeat;  ///< steps that are timed
  bool profile = false;
};

void declare(OptionList& list, StepOptions& o) {
  addProgram(list, o);
  addRows(list, o);
  addSeed(list, o, "seed of inputs and weights (default: 0)");
  list.add("--save", o.save, "write inputs, weights, gradients, outputs and loss to this .npz or .safetensors file").type("FILE");
  list.add("--repeat", o.repeat, "time the step so many times more").wholeNumber(1, 1'000'000);
  list.add("--steps", o.steps,
           "so many steps on the same inputs (default: 1); gradients, outputs and loss are those of the last")
      .wholeNumber(1, 1'000'000);
  const Option load =
      list.add("--load", o.load, "start from the inputs, weights and buffers of this .npz or .safetensors file").type("FILE");
  list.add("--names", o.names, "whose names the file of --load has: torchvision, or a table of names (docs/weights.md)")
      .type("SET")
      .needs(load);
  list.flag("--partial", o.partial, "take what fits from the file of --load, leave the rest as initialised").needs(load);
  list.flag("--profile", o.profile, "time each operator and loop of the step");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const StepOptions& options) { return unheededRows(given, options, {}); }

struct StepOutcome {
  std::optional<double> loss;
  double seconds = 0;
  std::vector<runtime::Decision> decisions;  ///< of the network's gates
  std::optional<std::string> flops;          ///< executed, where there are gates
  std::vector<double> again;                 ///< seconds of each repeat, ascending
  std::vector<NotFinite> notFinite;          ///< of the arrays that are there after the step, and of those that --load gave
};

/// What the gates decided, and the FLOPs that were left to do.
tl::expected<void, std::string> readGates(const RowState& row, const runtime::Instance& run, StepOutcome& outcome) {
  const auto sizes = runtime::branchSizes(run);
  if (!sizes) return tl::unexpected(sizes.error().message);
  if (sizes->empty()) return {};
  auto decisions = runtime::decisions(run);
  if (!decisions) return tl::unexpected(decisions.error().message);
  outcome.decisions = std::move(*decisions);
  const auto flops = estimate::countFlops(row.elaborated->graph(), row.elaborated->values);
  if (!flops) return tl::unexpected(flops.error().what);
  outcome.flops = estimate::toString(estimate::executedFlops(*flops, *sizes));
  return {};
}

Json gatesJson(const StepOutcome& outcome) {
  Json gates = Json::array();
  for (const runtime::Decision& decision : outcome.decisions) {
    gates.push_back({{"path", decision.gate},
                     {"kind", decision.exits ? "exit" : "skip"},
                     {"reached", decision.reached()},
                     {"taken", decision.taken()}});
  }
  return gates;
}

/// What --load said of the file, for the user.
void noteLoaded(show::Out& out, const StepOptions& options, const Loaded& loaded) {
  out.note(fmt::format("{} array{} taken from {}", loaded.taken, loaded.taken == 1 ? "" : "s", options.load));
  if (!loaded.ignored.empty()) out.note(fmt::format("not used: {}", fmt::join(loaded.ignored, ", ")));
  if (!loaded.missing.empty()) out.note(fmt::format("not in the file, so as initialised: {}", fmt::join(loaded.missing, ", ")));
}

/// Whether `path` can be written, asked before the step runs. The reason why not, or "".
std::string cannotWrite(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (access(folder.c_str(), W_OK) == 0) return {};
  return fmt::format("cannot write {}: {} (errno {})", path, std::strerror(errno), errno);
}

/// Why there is no outcome, and the exit status that says so.
struct StepFailure {
  std::string message;
  int status = kRunFailed;
};
tl::unexpected<StepFailure> failed(std::string message) { return tl::unexpected(StepFailure{std::move(message), kRunFailed}); }

/// `keepsResults`: as State::keepResults when the row was lowered.
tl::expected<StepOutcome, StepFailure> runOnce(show::Out& out, const RowState& row, const tbem_backend& backend,
                                               bool keepsResults, const std::optional<data::ArrayFile>& given,
                                               const StepOptions& options) {
  const jit::Compiled& compiled = *row.compiled;
  auto instance = runtime::Instance::create(compiled.executable, backend, {.poison = true, .guard = 4096});
  if (!instance) return failed(instance.error().message);
  runtime::Instance& run = **instance;
  if (const auto ready = run.initialise(options.target.seed); !ready) return failed(ready.error().message);
  if (given) {
    std::optional<std::vector<NameRule>> rules;
    if (!options.names.empty()) {
      auto table = loadNameTable(options.names, row.elaborated->graph().network);
      if (!table) return failed(table.error());
      rules = std::move(*table);
    }
    const auto loaded = loadArrays(*given, rules ? &*rules : nullptr, options.partial, run);
    if (!loaded) return failed(fmt::format("{}: {}", options.load, loaded.error()));
    noteLoaded(out, options, *loaded);
  }
  StepOutcome outcome;
  std::vector<data::Array> arrays;
  const auto take = [&](const std::string& name, const runtime::HostTensor& value) {
    if (const std::size_t count = countNotFinite(value); count != 0) outcome.notFinite.push_back({name, count, value.count()});
    if (!options.save.empty()) arrays.push_back(data::fromTensor(name, value));
  };
  if (given || !options.save.empty()) {
    if (const auto before = visitBefore(row, run, take); !before) return failed(before.error());
  }
  const double start = measure::monotonicSeconds();
  for (unsigned step = 1; step <= options.steps; ++step) {
    if (const auto done = run.run(step); !done) return failed(done.error().message);
  }
  outcome.seconds = (measure::monotonicSeconds() - start) / options.steps;
  const auto arena = run.measureArena();
  if (!arena) return failed(arena.error().message);
  if (!arena->guardIntact || arena->stray != runtime::kAbsent) {
    return failed(std::string("the step wrote outside its plan: this is a bug of tbemc"));
  }
  if (row.elaborated->graph().loss != graph::kNoTensor) {
    const auto loss = run.read(compiled.executable.loss);
    if (!loss) return failed(loss.error().message);
    outcome.loss = loss->doubles().front();
  }
  if (const auto gates = readGates(row, run, outcome); !gates) return failed(gates.error());
  if (const auto after = visitAfter(row, run, keepsResults, take); !after) return failed(after.error());
  if (!options.save.empty()) {
    const data::Metadata metadata = {{"network", row.elaborated->graph().network}, {"tbemc", kVersion}};
    const auto written = data::writeArrayFile(options.save, std::move(arrays), metadata);
    if (!written) return tl::unexpected(StepFailure{written.error(), kEnvironment});
  }
  for (unsigned i = 0; i < options.repeat.value_or(0); ++i) {
    const double begin = measure::monotonicSeconds();
    if (const auto done = run.run(options.steps + 1 + i); !done) return failed(done.error().message);
    outcome.again.push_back(measure::monotonicSeconds() - begin);
  }
  std::sort(outcome.again.begin(), outcome.again.end());
  return outcome;
}

Json latencyJson(const std::vector<double>& sorted) {
  return {{"median", measure::quantileOfSorted(sorted, 0.5)},
          {"p05", measure::quantileOfSorted(sorted, 0.05)},
          {"p95", measure::quantileOfSorted(sorted, 0.95)}};
}

Json notFiniteJson(const StepOutcome& outcome) {
  Json list = Json::array();
  for (const NotFinite& one : outcome.notFinite) list.push_back({{"array", one.array}, {"count", one.count}, {"of", one.of}});
  return list;
}

/// What is wrong with the numbers of the step, a line each.
void sayNotFinite(show::Out& out, const StepOutcome& outcome) {
  if (outcome.loss && !std::isfinite(*outcome.loss)) out.print("the loss is not finite ({})\n", report::notFinite(*outcome.loss));
  constexpr std::size_t kShown = 8;
  std::vector<std::string> texts;
  for (const NotFinite& one : outcome.notFinite) {
    if (texts.size() < kShown) texts.push_back(fmt::format("{} ({} of {})", one.array, one.count, one.of));
  }
  if (texts.empty()) return;
  const std::size_t more = outcome.notFinite.size() - texts.size();
  out.print("numbers that are not finite: {}{}\n", fmt::join(texts, ", "),
            more == 0 ? "" : fmt::format(", {} more arrays", more));
}

int printStep(show::Out& out, const RowState& row, const std::string& backend, const StepOutcome& outcome,
              const StepOptions& options) {
  const graph::Graph& graph = row.elaborated->graph();
  if (options.display.json) {
    Json fields = {{"network", graph.network},
                   {"design", row.run->spec.name},
                   {"row", row.row},
                   {"levels", row.run->levels(row.row)},
                   {"backend", backend},
                   {"loss", outcome.loss ? Json(*outcome.loss) : Json()},
                   {"seconds", outcome.seconds},
                   {"saved", options.save.empty() ? Json() : Json(options.save)}};
    if (outcome.flops) {
      fields["gates"] = gatesJson(outcome);
      fields["flops_executed"] = Json::parse(*outcome.flops);
    }
    fields["not_finite"] = notFiniteJson(outcome);
    if (!outcome.again.empty()) fields["latency"] = latencyJson(outcome.again);
    out.json("step", std::move(fields));
    return kOk;
  }
  out.print("{} ({}) on {}: ", graph.network, row.run->levelsText(row.row), backend);
  // The sign of what is not a number says nothing.
  if (outcome.loss) out.print("loss {:.9g}, ", std::isnan(*outcome.loss) ? std::abs(*outcome.loss) : *outcome.loss);
  if (!outcome.again.empty()) {
    out.print("median of {} more: {}, first: ", outcome.again.size(),
              report::seconds(measure::quantileOfSorted(outcome.again, 0.5)));
  }
  if (outcome.flops) out.print("{} executed, ", report::flops(std::stod(*outcome.flops)));
  out.print("{}\n", report::seconds(outcome.seconds));
  for (const runtime::Decision& decision : outcome.decisions) {
    out.print("  {}: {} of {} {}\n", decision.gate, decision.taken(), decision.reached(), decision.exits ? "left" : "skipped");
  }
  sayNotFinite(out, outcome);
  if (!options.save.empty()) out.print("saved {}\n", options.save);
  return kOk;
}

int run(show::Out& out, const StepOptions& options) {
  if (options.load.empty() && (!options.names.empty() || options.partial)) {
    out.failure("--names and --partial say how --load reads a file: give --load too");
    return kUsage;
  }
  std::optional<data::ArrayFile> given;
  if (!options.load.empty()) {
    auto read = data::ArrayFile::open(options.load);
    if (!read) {
      out.failure(read.error());
      return kEnvironment;
    }
    given = std::move(*read);
  }
  if (!options.save.empty()) {
    if (!data::arrayFormatOf(options.save)) {
      out.failure(fmt::format("--save {}: the name must end in .npz or .safetensors", options.save));
      return kUsage;
    }
    if (const std::string problem = cannotWrite(options.save); !problem.empty()) {
      out.failure(problem);
      return kEnvironment;
    }
  }
  State state(options, out);
  state.marks = options.profile;
  state.firstRowOnly = true;
  state.timing = options.profile;
  // A step that is timed is the one that is planned: its gradients end with their updates.
  state.keepResults = !options.save.empty() || (!options.repeat && !options.profile);
  if (const Progressed done = runPipeline(out, state, options.stages, "code"); !done.proceed) return done.status;
  if (state.rows.empty()) {
    out.failure("there is no step to run: the program has no design of a network (or give --input, and --task, for its network)");
    return finish(out, state, kUsage);
  }
  const RowState& row = state.rows.front();
  if (state.designs.runs.size() > 1)
    out.note(fmt::format("`{}`, one of {} designs; pick another with --design", row.run->spec.name, state.designs.runs.size()));
  if (row.run->chosen.size() > 1) out.note(fmt::format("the first of {} rows; pick another with --at", row.run->chosen.size()));
  const auto outcome = runOnce(out, row, *state.backend.backend, state.keepResults, given, options);
  if (!outcome) {
    out.failure(outcome.error().message);
    return finish(out, state, outcome.error().status);
  }
  const int status = printStep(out, row, state.backendName, *outcome, options);
  if (options.profile) {
    if (const auto done = printProfile(out, state, row); !done) {
      out.failure(done.error());
      return finish(out, state, kRunFailed);
    }
  }
  return finish(out, state, status);
}

}  // namespace

const Command kStep = {"step", "run one row's step once; save or load its numbers", Takes::Program, true,
    invocation<StepOptions, declare, unheeded, run>};

}  // namespace tbem::driver
