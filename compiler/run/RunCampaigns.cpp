// The campaigns of a program, run: each case in a fresh process of this program, or over its examples in this one. Cases on
// several cards run side by side, and each result is committed before the next case of its lane begins.
#include "compiler/run/RunCampaigns.h"

#include "compiler/process/OpenMp.h"
#include "compiler/support/Interrupts.h"
#include "compiler/support/PrivateFolder.h"
#include "compiler/worker/Worker.h"
#include "runtime/measure/Campaign.h"
#include "runtime/measure/Child.h"
#include "runtime/measure/Meters.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// Where compiled objects are kept for the workers: the default folder, or a temporary one that goes with this where there is no
/// default one or others could put objects into it.
class CacheFolder {
public:
  explicit CacheFolder(Events& events) : folder(jit::defaultCacheDir()) {
    const std::string refused = folder.empty() ? std::string() : makePrivateFolder(folder);
    if (!folder.empty() && refused.empty()) return;
    if (!refused.empty()) events.note(fmt::format("compiled objects are not kept: {}", refused));
    folder.clear();
    auto made = TemporaryFolder::make();
    if (!made) {
      missing = std::move(made.error());
      return;
    }
    temporary = std::move(*made);
    folder = temporary->path();
  }
  const std::string& path() const { return folder; }
  /// "" or why there is none; `path` is "" then.
  const std::string& problem() const { return missing; }

private:
  std::string folder, missing;
  std::optional<TemporaryFolder> temporary;
};

runtime::Measurement notRun(runtime::Status status, std::string reason) {
  runtime::Measurement result = runtime::notMeasured(status, std::move(reason));
  result.started = result.finished = measure::unixSeconds();
  return result;
}

class Runner {
public:
  Runner(RunEvents& events, const CampaignInput& input, std::uint64_t seed, std::string worker,
         const Interruptible& interruptible)
      : table(input.table),
        foreign(input.foreign),
        checkpointOf(input.checkpointOf),
        events(events),
        interruptible(interruptible),
        seed(seed),
        worker(std::move(worker)),
        cache(events) {
    for (const CaseRow& row : input.rows) byCase.emplace(std::pair(row.identity, row.backend), &row);
  }

  const CaseRow& rowOf(const runtime::Case& one) const { return *byCase.at({one.identity, one.backend}); }

  /// Whether it may run while others run on other cards.
  bool hasOwnCard(const runtime::Case& one) const {
    const CaseRow& row = rowOf(one);
    return isOnCard(row) && !row.plan->examples;
  }

  /// What is told to `events`, and what lanes share of the compiler: one at a time.
  template <class Work>
  decltype(auto) alone(const Work& work) {
    const std::lock_guard lock(shared);
    return work();
  }

  /// `card`: UUID of the one that a row on `cuda` runs on; "": the first. Nothing: it was interrupted.
  std::optional<runtime::Measurement> run(const runtime::Case& one, double timeLimit, const std::string& card) {
    const CaseRow& row = rowOf(one);
    std::optional<runtime::Measurement> measured = !row.skip.empty()        ? notRun(runtime::Status::Skipped, row.skip)
                                                   : row.foreign != nullptr ? measureThere(row, one, timeLimit)
                                                   : row.plan->examples     ? measureOverExamples(row)
                                                                            : measureInChild(row, timeLimit, card);
    if (!measured) return std::nullopt;
    runtime::Measurement& result = *measured;
    result.staticMemory = row.staticMemory;
    if (row.isPlanned()) {
      result.live = row.live;
      result.arena = row.arena;
      result.arenaKinds = row.arenaKinds;
    }
    // Another program may know better where it ran.
    if (row.foreign == nullptr || result.machine.empty()) result.machine = row.machine;
    if (row.foreign == nullptr || result.versions.empty()) result.versions = row.versions;
    if (isOnCard(row) && row.skip.empty()) result.card = card.empty() ? firstCard() : card;
    return measured;
  }

private:
  using Prepared = tl::expected<RowFile, std::string>;

  static bool isOnCard(const CaseRow& row) { return row.backend == "cuda" && row.foreign == nullptr; }
  std::string firstCard() {
    return alone([&] {
      const Opened& opened = table.backend("cuda");
      return opened.backend != nullptr ? cardOf(*opened.backend) : std::string();
    });
  }

  runtime::Measurement measureThere(const CaseRow& row, const runtime::Case& one, double timeLimit) {
    if (row.foreign->framework != nullptr && !cache.problem().empty())
      return notRun(runtime::Status::Failed, "its program has no folder: " + cache.problem());
    const auto job = foreign.job(row, one, cache.path(), timeLimit);
    if (!job) return notRun(runtime::Status::Failed, job.error());
    const AllProcessors inherited;
    return foreign::run(*job);
  }

  std::optional<runtime::Measurement> measureOverExamples(const CaseRow& row) {
    auto measured =
        measureExamples(table, row, checkpointOf, [&](const std::string& what, std::int64_t done, std::int64_t total) {
          events.overExamples(row, what, done, total);
          return !interruptible.isToEnd();
        });
    return measured ? std::move(*measured) : notRun(runtime::Status::Failed, measured.error());
  }

  runtime::Measurement measureInChild(const CaseRow& row, double timeLimit, const std::string& card) {
    const Prepared& file = alone([&]() -> const Prepared& { return prepare(row); });
    if (!file) return notRun(runtime::Status::Failed, file.error());
    measure::Command command;
    command.argv = workerCommand(worker, *file);
    command.environment = waitingThreads();
    if (!card.empty() && isOnCard(row)) command.environment.push_back("CUDA_VISIBLE_DEVICES=" + card);
    command.timeLimit = timeLimit;
    std::error_code unknown;
    if (!std::filesystem::exists(worker, unknown))
      return notRun(runtime::Status::Failed, worker + " is not there: it is built with tbemc and belongs beside it");
    const AllProcessors inherited;
    return measure::runChild(command);
  }

  /// Puts the row's native code and its file into the cache, once for all repeats.
  const Prepared& prepare(const CaseRow& row) {
    const std::pair key(row.identity, row.backend);
    const auto known = prepared.find(key);
    return known != prepared.end() ? known->second : prepared.emplace(key, write(row)).first->second;
  }

  Prepared write(const CaseRow& row) {
    const auto lowered = table.lowered({row.plan->run, row.row, row.backend, row.plan->tuning}, false);
    if (!lowered) return tl::unexpected(fmt::format("it cannot be lowered ({})", info(lowered.error().kind).code));
    if (!cache.problem().empty()) return tl::unexpected("compiled objects have no folder: " + cache.problem());
    jit::JitOptions jit;
    jit.cacheDir = cache.path();
    jit.link = false;
    jit.architecture = table.backend(row.backend).device.isa;
    auto code = compileRow(*(*lowered)->elaborated, *(*lowered)->program, jit);
    if (!code) return tl::unexpected(code.error());
    if (code->cachePath.empty()) return tl::unexpected(code->cacheNote);
    return writeRow(cache.path(), {.identity = row.identity,
                                   .backend = row.backend,
                                   .device = describe(table.backend(row.backend).device),
                                   .object = code->key,
                                   .libraries = row.libraries,
                                   .seed = seed,
                                   .protocol = protocolOf(row),
                                   .executable = std::move(code->executable)});
  }

  RowTable& table;
  ForeignRows& foreign;
  const CheckpointOf& checkpointOf;
  RunEvents& events;
  const Interruptible& interruptible;
  std::uint64_t seed;
  std::string worker;  ///< CampaignRequest
  CacheFolder cache;
  std::map<std::pair<std::string, std::string>, const CaseRow*> byCase;
  std::mutex shared;  ///< alone()
  std::map<std::pair<std::string, std::string>, Prepared> prepared;
};

/// The cards on which rows run side by side, one at least: "" is the first. Notes where they are not what was asked for.
std::vector<std::string> cardsFor(const std::string& asked, Events& events) {
  const bool isAll = asked == "all";
  const std::size_t wanted = asked.empty() ? 1 : isAll ? std::string::npos : std::stoul(asked);
  if (wanted == 1) return {""};
  auto cards = equalCards();
  if (!cards) {
    events.note("rows have no cards to share: " + cards.error());
    return {""};
  }
  std::vector<std::string>& equal = cards->equal;
  if (isAll ? cards->others > 0 : equal.size() < wanted) {
    events.note(fmt::format(
        "there {} like the first{}", equal.size() == 1 ? "is no other card" : fmt::format("are {} cards", equal.size()),
        cards->others > 0 ? fmt::format(", and {} of another kind, which rows do not run on", cards->others) : ""));
  }
  if (equal.size() > wanted) equal.resize(wanted);
  return equal.size() > 1 ? std::move(equal) : std::vector<std::string>{""};
}

std::vector<runtime::Case> casesOf(const std::vector<CaseRow>& rows) {
  std::vector<runtime::Case> cases;
  for (const CaseRow& row : rows) {
    for (unsigned repeat = 0; repeat < row.plan->repeats; ++repeat) {
      cases.push_back({row.identity, row.plan->run->spec.name, static_cast<std::uint32_t>(row.row),
                       row.plan->run->levels(row.row).dump(), row.backend, repeat, 1e9 + row.flops});
    }
  }
  return cases;
}

/// What a campaign's end says of the command.
tl::expected<void, Failed> verdictOn(const measure::CampaignResult& result, const std::vector<CaseRow>& rows) {
  if (result.end == measure::End::Error) return failed(kEnvironment, result.error);
  if (result.end == measure::End::Interrupted) return failed(kInterrupted);
  if (result.failed + result.timeout > 0) return failed(kRunFailed);
  const bool anyRuns = std::any_of(rows.begin(), rows.end(), [](const CaseRow& row) { return row.skip.empty(); });
  if (!anyRuns && !rows.empty()) return failed(kEnvironment, fmt::format("no row could run: {}", rows.front().skip));
  return {};
}

}  // namespace

tl::expected<CampaignOutcome, Failed> runCampaigns(RunEvents& events, const CampaignInput& input, const Request& request) {
  const CampaignRequest& how = request.campaign;
  auto store = store::Store::open(input.file.path());
  if (!store) return failed(kEnvironment, store.error().message);
  const std::vector<runtime::Case> cases = casesOf(input.rows);
  for (const runtime::Case& each : cases) {
    if (const auto done = store->registerCase(each); !done) return failed(kEnvironment, done.error().message);
  }
  const Interruptible run(request.interrupts);
  Runner runner(events, input, request.target.seed, how.worker, run);
  measure::Hooks hooks;
  std::set<std::pair<std::string, unsigned>> lacking;  // what wants energy, and was measured where nothing counted it
  hooks.known = [&](const runtime::Case& key) -> tl::expected<std::optional<measure::Known>, std::string> {
    const auto found = store->finished(key.identity, key.repeat);
    if (!found) return tl::unexpected(found.error().message);
    if (!*found) return std::nullopt;
    const auto& examples = runner.rowOf(key).plan->examples;
    const bool wantsEnergy = examples && examples->plan.energySeconds > 0 && (*found)->status == runtime::Status::Ok;
    if (wantsEnergy && countsPackages()) {
      const auto stored = store->results(std::span(&key.identity, 1));
      if (!stored) return tl::unexpected(stored.error().message);
      const auto own = std::ranges::find(*stored, key.repeat, [](const store::Stored& one) { return one.key.repeat; });
      if (own != stored->end() && !own->value.meanEnergy) {
        lacking.emplace(key.identity, key.repeat);
        return std::nullopt;
      }
    }
    return measure::Known{(*found)->status, (*found)->timeLimit};
  };
  const std::vector<std::string> cards = cardsFor(how.cards, events);
  hooks.run = [&](const runtime::Case& key, double timeLimit, std::size_t lane) {
    return runner.run(key, timeLimit, cards[lane]);
  };
  hooks.beside = [&](const runtime::Case& key) { return runner.hasOwnCard(key); };
  hooks.commit = [&](const runtime::Case& key, const runtime::Measurement& value) -> tl::expected<void, std::string> {
    const bool replaces = how.fresh || lacking.contains({key.identity, key.repeat});
    const auto done = store->commit(key, value, replaces ? store::Existing::Replace : store::Existing::Keep);
    if (!done) return tl::unexpected(done.error().message);
    runner.alone([&] { events.rowDone(key, value, runner.rowOf(key)); });
    return {};
  };
  hooks.progress = [&](const measure::Standing& standing) {
    runner.alone([&] { events.campaign(standing, standing.current == nullptr ? nullptr : &runner.rowOf(*standing.current)); });
  };
  measure::CampaignSettings settings;
  settings.seed = request.target.seed;
  if (how.maxTime) settings.maxSeconds = *how.maxTime;
  if (how.maxRows) settings.maxRows = *how.maxRows;
  settings.rowSeconds = how.rowTime;
  settings.fresh = how.fresh;
  settings.lanes = cards.size();
  settings.stop = [&] { return run.isToEnd(); };
  measure::CampaignResult result = measure::runCampaign(cases, hooks, settings);
  events.rest();
  auto stored = StoredRows::read(*store, input.rows);
  if (!stored) return tl::unexpected(std::move(stored).error());
  auto verdict = verdictOn(result, input.rows);
  return CampaignOutcome{std::move(result), std::move(*stored), std::move(verdict)};
}

tl::expected<CampaignOutlook, Failed> outlookOf(const std::vector<CaseRow>& rows, const StoreFile& file,
                                                const CampaignRequest& how) {
  // A step at this speed, and this long for a process to start: rough on purpose; what is printed says so.
  constexpr double kFlopsASecond = 5e10;
  constexpr double kSetUpSeconds = 0.5, kStepsOfWindows = 10;
  constexpr std::uint64_t kBytesACase = 2048;
  CampaignOutlook outlook;
  std::optional<store::Store> store;
  if (!how.fresh && file.exists()) {
    auto opened = store::Store::open(file.path(), store::Mode::ReadOnly);
    if (!opened) return failed(kEnvironment, opened.error().message);
    store.emplace(std::move(*opened));
  }
  std::map<std::pair<std::string, std::string>, unsigned> counted;  // repeats, by experiment: it runs once
  for (const CaseRow& row : rows) {
    unsigned& known = counted[{row.identity, row.backend}];
    unsigned repeats = 0;
    for (; known < row.plan->repeats; ++known) {
      if (!store) {
        ++repeats;
        continue;
      }
      const auto finished = store->finished(row.identity, known);
      if (!finished) return failed(kEnvironment, finished.error().message);
      const bool isSettled = *finished && runtime::settled((*finished)->status, (*finished)->timeLimit, how.rowTime);
      if (isSettled)
        ++outlook.finished;
      else
        ++repeats;
    }
    if (!row.skip.empty()) {
      outlook.skipped += repeats;
      continue;
    }
    const measure::Settings protocol = protocolOf(row);
    const double step = row.flops / kFlopsASecond;
    // On a card two windows of the warm-up come at least, and as many steps again that are not timed (measure/Protocol.h).
    const double others = protocol.warmup + (row.backend == "cuda" ? kStepsOfWindows + protocol.steps : 0.0);
    outlook.seconds += repeats * (kSetUpSeconds + others * step + std::max(protocol.steps * step, protocol.minSeconds));
    outlook.memory = std::max(outlook.memory, row.arena);
    outlook.unknownWorkspaces = std::max(outlook.unknownWorkspaces, row.unknownWorkspaces);
    outlook.cases += repeats;
  }
  outlook.disk = outlook.cases * kBytesACase;
  return outlook;
}

}  // namespace tbem::driver
