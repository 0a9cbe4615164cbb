#include "compiler/worker/Worker.h"

#include "compiler/backends/Backends.h"
#include "compiler/backends/CardSteps.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/support/Bug.h"
#include "compiler/worker/RowFile.h"
#include "runtime/core/Executable.h"
#include "runtime/core/ExecutableFile.h"
#include "runtime/measure/CardMeter.h"
#include "runtime/measure/Child.h"
#include "runtime/measure/Protocol.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <utility>

namespace tbem::driver {

namespace {

runtime::Measurement failed(const runtime::Failure& failure) {
  const bool full = failure.status == TBEM_OUT_OF_MEMORY;
  return runtime::notMeasured(full ? runtime::Status::OutOfMemory : runtime::Status::Failed, failure.message);
}

runtime::Measurement failed(std::string reason) { return runtime::notMeasured(runtime::Status::Failed, std::move(reason)); }

constexpr std::uint64_t kGuard = 1U << 16U;
constexpr double kRest = 1;  ///< seconds for which a card whose energy is counted is asked for nothing

/// One more first step, in an arena that is poisoned and guarded: the highest allocation that it reaches, which the plan must
/// equal. After the meters are read, for poison makes the whole arena resident.
tl::expected<runtime::ArenaReport, runtime::Failure> checkArena(runtime::Instance& instance, std::uint64_t seed) {
  if (const auto done = instance.poisonArena(); !done) return tl::unexpected(done.error());
  if (const auto ready = instance.initialise(seed); !ready) return tl::unexpected(ready.error());
  if (const auto done = instance.run(1); !done) return tl::unexpected(done.error());
  return instance.measureArena();
}

/// What a row takes of a card, part by part. Of a device whose memory the host can reach, and of a card that does not say,
/// nothing.
class Ledger {
public:
  explicit Ledger(const tbem_backend& backend) : backend(backend), context(takenOnDevice(backend)), now(context) {}

  void arenaIsThere() {
    (void)look();
    arena = booked.memory;
  }
  void firstStepIsDone() { late = look(); }
  /// What is taken from here on, the row does not need.
  void close() {
    if (closed) return;
    (void)look();
    process = ofThisProcess(backend);
    closed = true;
  }

  /// Asks the card again. What was taken since the last time beside what the backend has booked.
  runtime::measured::Bytes look() {
    const runtime::measured::Bytes before = std::exchange(now, takenOnDevice(backend));
    const std::int64_t known = std::exchange(booked, ledgerOf(backend)).all();
    if (!before || !now) return std::nullopt;
    return bytesOf(static_cast<std::int64_t>(*now - *before) - (booked.all() - known));
  }

  void keepIn(runtime::Measurement& result) const {
    result.deviceContext = context;
    result.devicePeak = now;
    result.deviceLate = late;
    result.deviceProcess = process;
    if (!arena) return;
    result.deviceArena = bytesOf(*arena);
    result.deviceBuffers = bytesOf(booked.memory - *arena);
    result.deviceModules = bytesOf(booked.modules);
    result.deviceHandles = bytesOf(booked.handles);
    result.devicePlans = bytesOf(booked.plans);
    result.deviceRecordings = bytesOf(booked.recordings);
  }

private:
  /// Below zero: another process has given some back.
  static runtime::measured::Bytes bytesOf(std::int64_t bytes) {
    return bytes < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(bytes));
  }

  const tbem_backend& backend;
  runtime::measured::Bytes context, now, late, process;
  cuda::Ledger booked;
  std::optional<std::int64_t> arena;
  bool closed = false;
};

/// Closes a ledger however the row ends, before what stands above it gives its memory back.
class LedgerEnd {
public:
  explicit LedgerEnd(Ledger& ledger) : ledger(ledger) {}
  ~LedgerEnd() { ledger.close(); }
  LedgerEnd(const LedgerEnd&) = delete;
  LedgerEnd& operator=(const LedgerEnd&) = delete;

private:
  Ledger& ledger;
};

/// The protocol's steps, and what the loss became. Timing gives back what it takes of a card.
runtime::Measurement measureSteps(runtime::Instance& instance, const measure::Settings& protocol, measure::EnergySource& energy,
                                  Ledger& ledger) {
  std::uint64_t number = 0;
  const measure::Step step = [&]() -> tl::expected<void, measure::StepError> {
    const auto done = instance.run(++number);
    if (number == 1) ledger.firstStepIsDone();
    if (done) return {};
    return tl::unexpected(measure::StepError{done.error().status == TBEM_OUT_OF_MEMORY, done.error().message});
  };
  const std::unique_ptr<CardSteps> card = cardStepsOf(instance.backend());
  instance.tell(card.get());
  runtime::Measurement result = measure::measure(step, protocol, energy, card.get());
  instance.tell(nullptr);
  const std::uint32_t lossBuffer = instance.executable().loss;
  if (result.status != runtime::Status::Ok || lossBuffer == runtime::kNone) return result;
  const auto loss = instance.read(lossBuffer);
  if (!loss) return failed(loss.error());
  result.lossNotFinite = report::notFinite(loss->doubles().front());
  return result;
}

/// What comes of the row, but for the ledger.
runtime::Measurement measured(const runtime::ExecutableFile& file, const tbem_backend& backend, Ledger& ledger) {
  const runtime::Executable* const alone[] = {&file.executable};
  const auto space = runtime::Arena::create(alone, backend, {.guard = kGuard});
  if (!space) return failed(space.error());
  ledger.arenaIsThere();
  auto instance = runtime::Instance::create(file.executable, **space);
  const LedgerEnd end(ledger);
  if (!instance) return failed(instance.error());
  if (const auto ready = (*instance)->initialise(file.seed); !ready) return failed(ready.error());
  const auto energy = energyOf(backend, file.protocol);
  if (auto* const card = dynamic_cast<measure::CardMeter*>(energy.get()); card != nullptr) card->rest(kRest);
  (void)ledger.look();  // what nothing has explained so far is no code of the first step
  runtime::Measurement result = measureSteps(**instance, file.protocol, *energy, ledger);
  ledger.close();
  if (result.status != runtime::Status::Ok) return result;
  const auto arena = checkArena(**instance, file.seed);
  if (!arena) return failed(arena.error());
  if (!arena->guardIntact || arena->stray != runtime::kAbsent)
    return failed("the step wrote outside its plan: this is a bug of tbemc");
  result.arenaPeak = arena->reached;
  result.arenaPlanned = arena->planned;
  return result;
}

runtime::Measurement measureRow(const runtime::ExecutableFile& file, const tbem_backend& backend) {
  Ledger ledger(backend);
  runtime::Measurement result = measured(file, backend, ledger);
  ledger.close();  // where it had no arena
  ledger.keepIn(result);
  return result;
}

runtime::Measurement work(const RowFile& given) {
  auto file = readRow(given);
  if (!file) return failed(file.error());
  keepLedgers();  // before the backend takes anything
  const Probed probed = probeBackend(file->backend);
  if (probed.backend == nullptr) return failed(probed.reason);
  if (describe(probed.device) != file->device)
    return failed(fmt::format("the row was planned for {}, this is {}: measure again", file->device, describe(probed.device)));
  const auto code = jit::load(file->object, given.cacheDir);
  if (!code) return failed(code.error().message);
  file->executable.step = code->step;
  file->executable.image = code->executable.image;
  file->executable.machineCode = code->executable.machineCode;
  file->executable.kernels = code->executable.kernels;
  return measureRow(*file, *probed.backend);
}

}  // namespace

std::vector<std::string> workerCommand(const std::string& program, const RowFile& row) {
  return {program, row.path, row.identity, row.cacheDir};
}

WorkerAnswer answerAsWorker(const std::vector<std::string>& command) {
  if (command.size() != 4) return {2, {}};
  try {
    return {0, measure::toJson(work({.path = command[1], .identity = command[2], .cacheDir = command[3]}))};
  } catch (const std::bad_alloc&) {
    return {measure::kExitOutOfMemory, {}};
  } catch (const Bug& bug) {
    return {0, measure::toJson(failed(fmt::format("this is a bug in tbemc: {}", bug.what())))};
  }
}

}  // namespace tbem::driver
