// tbemc worker: measures one row in this process. Started by `measure` for each row and repeat; prints the measurement as one
// line. It compiles nothing: the parent has put the native code into the object cache.
#include "compiler/backends/Algorithms.h"
#include "compiler/backends/Backends.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/Identity.h"
#include "compiler/run/Lowered.h"
#include "compiler/show/Out.h"
#include "runtime/core/Executable.h"
#include "runtime/measure/Child.h"
#include "runtime/measure/Protocol.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <new>

namespace tbem::driver {

namespace {

struct WorkerOptions : CommandOptions {
  unsigned row = 0;
  std::string identity;
  std::string cacheDir;  ///< of compiled objects; "": the default
};

void declare(OptionList& list, WorkerOptions& o) {
  addProgram(list, o);
  addRows(list, o);
  addSeed(list, o, "");
  list.add("--row", o.row, "").required();
  list.add("--identity", o.identity, "").required();
  list.add("--cache-dir", o.cacheDir, "");
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const WorkerOptions& options) { return unheededRows(given, options, {}); }

runtime::Measurement failed(const runtime::Failure& failure) {
  runtime::Measurement result;
  result.status = failure.status == TBEM_OUT_OF_MEMORY ? runtime::Status::OutOfMemory : runtime::Status::Failed;
  result.reason = failure.message;
  return result;
}

runtime::Measurement failed(std::string reason) {
  runtime::Measurement result;
  result.status = runtime::Status::Failed;
  result.reason = std::move(reason);
  return result;
}

/// One more step in an arena that is poisoned and guarded: the highest allocation that it reaches, which the plan must equal. It
/// runs after the meters are read, for poison makes the whole arena resident.
tl::expected<runtime::ArenaReport, runtime::Failure> checkArena(const jit::Compiled& compiled, const tbem_backend& backend,
                                                                std::uint64_t seed) {
  auto instance = runtime::Instance::create(compiled.executable, backend, {.poison = true, .guard = 1 << 16});
  if (!instance) return tl::unexpected(instance.error());
  if (const auto ready = (*instance)->initialise(seed); !ready) return tl::unexpected(ready.error());
  if (const auto done = (*instance)->run(1); !done) return tl::unexpected(done.error());
  return (*instance)->measureArena();
}

runtime::Measurement measureRow(const jit::Compiled& compiled, const tbem_backend& backend, std::uint64_t seed) {
  runtime::Measurement result;
  {
    auto instance = runtime::Instance::create(compiled.executable, backend);
    if (!instance) return failed(instance.error());
    if (const auto ready = (*instance)->initialise(seed); !ready) return failed(ready.error());
    std::uint64_t number = 0;
    const measure::Step step = [&]() -> tl::expected<void, measure::StepError> {
      const auto done = (*instance)->run(++number);
      if (done) return {};
      return tl::unexpected(measure::StepError{done.error().status == TBEM_OUT_OF_MEMORY, done.error().message});
    };
    result = measure::measure(step, protocolSettings());
    if (result.status == runtime::Status::Ok && compiled.executable.loss != runtime::kNone) {
      const auto loss = (*instance)->read(compiled.executable.loss);
      if (!loss) return failed(loss.error());
      result.lossNotFinite = report::notFinite(loss->doubles().front());
    }
  }
  if (result.status != runtime::Status::Ok) return result;
  const auto arena = checkArena(compiled, backend, seed);
  if (!arena) return failed(arena.error());
  if (!arena->guardIntact || arena->stray != runtime::kAbsent)
    return failed("the step wrote outside its plan: this is a bug of tbemc");
  result.arenaPeak = arena->reached;
  result.arenaPlanned = arena->planned;
  return result;
}

runtime::Measurement work(Events& events, const WorkerOptions& options) {
  const auto loaded = loadWorkspace(options);
  if (!loaded) return failed("the program cannot be read");
  Workspace& workspace = **loaded;
  Designs designs = makeDesigns(workspace, options, events);
  const Opened opened = openBackend(options.target.backend);
  if (opened.backend == nullptr) return failed(opened.reason);
  if (workspace.session.sink.hasErrors() || designs.runs.size() != 1 || options.row >= designs.runs.front()->rows.size()) {
    return failed("the program changed while it was measured");
  }
  std::optional<graph::Row> row = elaborateRow(*designs.runs.front(), options.row);
  if (!row) return failed("the program changed while it was measured");
  const Tuning tuning = designs.runs.front()->tuning;  // the parent says it by --tune
  const auto program =
      lowerRow(*row, designs.runs.front()->spec, *opened.backend, lowerOptions(events, options.target, opened, nullptr, tuning));
  if (!program) return failed("the program changed while it was measured");
  const std::string identity =
      identityOf(row->graph(), row->values, protocolSettings(), options.target.seed, options.target.backend, &opened.device,
                 static_cast<unsigned>(threadsOf(options.target, opened.device)), algorithmsText(*program, tuning));
  if (identity != options.identity)
    return failed("the program, or what was measured of algorithms, changed while it was measured");
  jit::JitOptions jit;
  jit.loadOnly = true;
  jit.cacheDir = options.cacheDir;
  const auto compiled = compileRow(*row, *program, jit);
  if (!compiled) return failed(compiled.error());
  return measureRow(*compiled, *opened.backend, options.target.seed);
}

int run(show::Out& out, const WorkerOptions& options) {
  try {
    out.jsonLine(measure::toJson(work(out, options)));
  } catch (const std::bad_alloc&) {
    return measure::kExitOutOfMemory;
  }
  return kOk;
}

}  // namespace

const Command kWorker = {"worker", nullptr, Takes::Program, true, invocation<WorkerOptions, declare, unheeded, run>};

}  // namespace tbem::driver
