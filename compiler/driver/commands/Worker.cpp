// tbemc worker: measures one row in this process. Started by `measure` for each row and repeat; prints the measurement as one
// line. It knows no program and compiles nothing: the parent has put the row's file and its native code into the cache.
#include "compiler/backends/Backends.h"
#include "compiler/driver/Commands.h"
#include "compiler/experiment/RowFile.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/show/Out.h"
#include "runtime/core/Executable.h"
#include "runtime/core/ExecutableFile.h"
#include "runtime/measure/Child.h"
#include "runtime/measure/Protocol.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <new>

namespace tbem::driver {

namespace {

struct WorkerOptions : CommandOptions {
  RowFile row;
};

void declare(OptionList& list, WorkerOptions& o) {
  list.add("FILE", o.row.path, "").required();
  list.add("--identity", o.row.identity, "").required();
  list.add("--cache-dir", o.row.cacheDir, "").required();
}

std::string unheeded(const Given& /*given*/, const WorkerOptions& /*options*/) { return {}; }

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
tl::expected<runtime::ArenaReport, runtime::Failure> checkArena(const runtime::ExecutableFile& file,
                                                                const tbem_backend& backend) {
  auto instance = runtime::Instance::create(file.executable, backend, {.poison = true, .guard = 1 << 16});
  if (!instance) return tl::unexpected(instance.error());
  if (const auto ready = (*instance)->initialise(file.seed); !ready) return tl::unexpected(ready.error());
  if (const auto done = (*instance)->run(1); !done) return tl::unexpected(done.error());
  return (*instance)->measureArena();
}

runtime::Measurement measureRow(const runtime::ExecutableFile& file, const tbem_backend& backend) {
  runtime::Measurement result;
  {
    auto instance = runtime::Instance::create(file.executable, backend);
    if (!instance) return failed(instance.error());
    if (const auto ready = (*instance)->initialise(file.seed); !ready) return failed(ready.error());
    std::uint64_t number = 0;
    const measure::Step step = [&]() -> tl::expected<void, measure::StepError> {
      const auto done = (*instance)->run(++number);
      if (done) return {};
      return tl::unexpected(measure::StepError{done.error().status == TBEM_OUT_OF_MEMORY, done.error().message});
    };
    result = measure::measure(step, file.protocol);
    if (result.status == runtime::Status::Ok && file.executable.loss != runtime::kNone) {
      const auto loss = (*instance)->read(file.executable.loss);
      if (!loss) return failed(loss.error());
      result.lossNotFinite = report::notFinite(loss->doubles().front());
    }
  }
  if (result.status != runtime::Status::Ok) return result;
  const auto arena = checkArena(file, backend);
  if (!arena) return failed(arena.error());
  if (!arena->guardIntact || arena->stray != runtime::kAbsent)
    return failed("the step wrote outside its plan: this is a bug of tbemc");
  result.arenaPeak = arena->reached;
  result.arenaPlanned = arena->planned;
  return result;
}

runtime::Measurement work(const RowFile& given) {
  auto file = readRow(given);
  if (!file) return failed(file.error());
  const Opened opened = openBackend(file->backend);
  if (opened.backend == nullptr) return failed(opened.reason);
  if (describe(opened.device) != file->device)
    return failed(fmt::format("the row was planned for {}, this is {}: measure again", file->device, describe(opened.device)));
  const auto code = jit::load(file->object, given.cacheDir);
  if (!code) return failed(code.error().message);
  file->executable.step = code->step;
  return measureRow(*file, *opened.backend);
}

int run(show::Out& out, const WorkerOptions& options) {
  try {
    out.jsonLine(measure::toJson(work(options.row)));
  } catch (const std::bad_alloc&) {
    return measure::kExitOutOfMemory;
  }
  return kOk;
}

}  // namespace

const Command kWorker = {"worker", nullptr, Takes::Own, true, invocation<WorkerOptions, declare, unheeded, run>};

}  // namespace tbem::driver
