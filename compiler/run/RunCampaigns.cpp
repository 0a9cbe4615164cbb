// The campaigns of a program, run: each case in a fresh process of this program, each result committed before the next begins.
#include "compiler/run/RunCampaigns.h"

#include "compiler/run/Interrupt.h"
#include "compiler/run/OpenMp.h"
#include "compiler/run/OwnLibraries.h"
#include "compiler/show/Out.h"
#include "compiler/show/rows/MeasureNotes.h"
#include "compiler/show/rows/MeasureReport.h"
#include "compiler/support/PrivateFolder.h"
#include "runtime/measure/Campaign.h"
#include "runtime/measure/Child.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Progress.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <utility>

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
  runtime::Measurement result;
  result.status = status;
  result.reason = std::move(reason);
  result.started = result.finished = measure::unixSeconds();
  return result;
}

class Runner {
public:
  Runner(Events& events, Workspace& workspace, RowTable& table, const std::vector<CaseRow>& rows, const Options& options)
      : workspace(workspace), table(table), options(options), cache(events) {
    for (const CaseRow& row : rows) byCase.emplace(std::pair(row.identity, row.backend), &row);
  }

  const CaseRow& rowOf(const runtime::Case& one) const { return *byCase.at({one.identity, one.backend}); }

  runtime::Measurement run(const runtime::Case& one, double timeLimit) {
    const CaseRow& row = rowOf(one);
    runtime::Measurement result = !row.skip.empty() ? notRun(runtime::Status::Skipped, row.skip) : measureInChild(row, timeLimit);
    result.staticMemory = row.staticMemory;
    if (row.skip.empty()) {
      result.live = row.live;
      result.arena = row.arena;
    }
    result.machine = row.machine;
    result.versions = row.versions;
    return result;
  }

private:
  runtime::Measurement measureInChild(const CaseRow& row, double timeLimit) {
    if (const std::string problem = compile(row); !problem.empty()) return notRun(runtime::Status::Failed, problem);
    measure::Command command;
    command.argv = {"/proc/self/exe", "worker"};
    if (!workspace.path.empty()) command.argv.push_back(workspace.path);
    if (workspace.path == "-") {  // the text, with the design that -e and --input made
      command.input = workspace.file().source->text;
    } else {
      if (options.text) command.argv.insert(command.argv.end(), {"-e", *options.text});
      for (const std::string& input : options.inputs) command.argv.insert(command.argv.end(), {"--input", input});
    }
    const std::vector<std::pair<const char*, std::string>> named = {
        {"--task", workspace.path == "-" ? "" : options.task},
        {"--at", options.at},
        {"--dtype", options.dtype},
        {"--tune", text(row.plan->tuning)},
        {"--design", row.plan->run->spec.name},
        {"--on", row.backend},
        {"--row", std::to_string(row.row)},
        {"--identity", row.identity},
        {"--seed", std::to_string(options.seed)},
        {"--threads", options.threads == 0 ? "" : std::to_string(options.threads)},
        {"--cache-dir", cache.path()}};
    for (const auto& [name, value] : named) {
      if (!value.empty()) command.argv.insert(command.argv.end(), {name, value});
    }
    command.timeLimit = timeLimit;
    const double started = measure::unixSeconds();
    const AllProcessors inherited;
    const auto outcome = measure::spawn(command);
    if (!outcome) return notRun(runtime::Status::Failed, outcome.error());
    runtime::Measurement result = measure::classify(*outcome, timeLimit);
    result.started = started;
    result.finished = measure::unixSeconds();
    return result;
  }

  /// Puts the row's native code into the cache, once. Empty where it is there.
  std::string compile(const CaseRow& row) {
    if (!compiled.insert({row.identity, row.backend}).second) return {};
    const auto lowered = table.lowered({row.plan->run, row.row, row.backend, row.plan->tuning}, false);
    if (!lowered) return fmt::format("it cannot be lowered ({})", info(lowered.error().kind).code);
    if (!cache.problem().empty()) return "compiled objects have no folder: " + cache.problem();
    jit::JitOptions jit;
    jit.cacheDir = cache.path();
    const auto code = compileRow(*(*lowered)->elaborated, *(*lowered)->program, jit);
    if (!code) return code.error();
    return code->cachePath.empty() ? code->cacheNote : std::string();
  }

  Workspace& workspace;
  RowTable& table;
  const Options& options;
  CacheFolder cache;
  std::map<std::pair<std::string, std::string>, const CaseRow*> byCase;
  std::set<std::pair<std::string, std::string>> compiled;
};

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

/// "12.0 MiB to 412 MiB", or one of them where both are the same.
std::string spanText(const std::string& least, const std::string& most) {
  return least == most ? least : fmt::format("{} to {}", least, most);
}

/// What is known of a design before its rows are measured, a line.
std::string outlookOf(const DesignRun& run, const std::vector<CaseRow>& rows) {
  double leastFlops = std::numeric_limits<double>::infinity(), mostFlops = 0;
  std::uint64_t leastArena = std::numeric_limits<std::uint64_t>::max(), mostArena = 0;
  for (const CaseRow& row : rows) {
    if (row.plan->run != &run) continue;
    leastFlops = std::min(leastFlops, row.flops);
    mostFlops = std::max(mostFlops, row.flops);
    if (!row.skip.empty()) continue;  // planned for no device
    leastArena = std::min(leastArena, row.arena);
    mostArena = std::max(mostArena, row.arena);
  }
  std::string text =
      fmt::format("{}: {}, {} row{}: {} a step", run.spec.name, run.array.name, run.chosen.size(),
                  run.chosen.size() == 1 ? "" : "s", spanText(report::flops(leastFlops), report::flops(mostFlops)));
  if (leastArena <= mostArena) text += fmt::format(", arena {}", spanText(report::bytes(leastArena), report::bytes(mostArena)));
  return text;
}

/// Of the row in hand, what matters most first: a narrow terminal cuts the end off.
std::string inHand(const CaseRow& row) {
  const DesignRun& run = *row.plan->run;
  return fmt::format("row {} on {}: arena {}, {}, {}", row.row + 1, row.backend,
                     row.skip.empty() ? report::bytes(row.arena) : "-", report::flops(row.flops), run.levelsText(row.row));
}

int statusOf(show::Out& out, const measure::CampaignResult& result, const std::vector<CaseRow>& rows) {
  if (result.end == measure::End::Error) {
    out.failure(result.error);
    return kEnvironment;
  }
  if (result.end == measure::End::Interrupted) return kInterrupted;
  if (result.failed + result.timeout > 0) return kRunFailed;
  const bool anyRuns = std::any_of(rows.begin(), rows.end(), [](const CaseRow& row) { return row.skip.empty(); });
  if (!anyRuns && !rows.empty()) {
    out.failure(fmt::format("no row could run: {}", rows.front().skip));
    return kEnvironment;
  }
  return kOk;
}

}  // namespace

int runCampaigns(show::Out& out, Workspace& workspace, RowTable& table, const std::vector<MeasurePlan>& plans,
                 const std::vector<CaseRow>& rows, const StoreFile& file, const Options& options) {
  auto store = store::Store::open(file.path());
  if (!store) {
    out.failure(store.error().message);
    return kEnvironment;
  }
  const std::vector<runtime::Case> cases = casesOf(rows);
  for (const runtime::Case& one : cases) {
    if (const auto done = store->registerCase(one); !done) {
      out.failure(done.error().message);
      return kEnvironment;
    }
  }
  Runner runner(out, workspace, table, rows, options);
  InterruptGuard guard;
  const std::unique_ptr<report::Progress> progress = out.progressBar();
  measure::Hooks hooks;
  hooks.known = [&](const runtime::Case& one) -> tl::expected<std::optional<measure::Known>, std::string> {
    const auto found = store->finished(one.identity, one.repeat);
    if (!found) return tl::unexpected(found.error().message);
    if (!*found) return std::nullopt;
    return measure::Known{(*found)->status, (*found)->timeLimit};
  };
  hooks.run = [&](const runtime::Case& one, double timeLimit) { return runner.run(one, timeLimit); };
  hooks.commit = [&](const runtime::Case& one, const runtime::Measurement& value) -> tl::expected<void, std::string> {
    const auto done = store->commit(one, value, options.fresh ? store::Existing::Replace : store::Existing::Keep);
    if (!done) return tl::unexpected(done.error().message);
    if (options.json) printMeasurement(out, one, value, runner.rowOf(one).plan->tuning, false);
    if (value.status != runtime::Status::Ok && value.status != runtime::Status::Skipped) {
      progress->note(fmt::format("row {} ({}) on {}: {}: {}", one.row + 1, runner.rowOf(one).plan->run->levelsText(one.row),
                                 one.backend, runtime::name(value.status), value.reason));
    }
    return {};
  };
  // Rows are printed once, when they are measured; what is known of them is told before that takes its time.
  bool tellsOutlook = options.command == "measure" || options.brief();
  hooks.progress = [&](const measure::Standing& standing) {
    if (std::exchange(tellsOutlook, false)) {
      std::set<const DesignRun*> told;
      for (const MeasurePlan& plan : plans) {
        if (told.insert(plan.run).second) progress->note(outlookOf(*plan.run, rows));
      }
    }
    progress->update(standing.done, standing.total, standing.current == nullptr ? "" : inHand(runner.rowOf(*standing.current)),
                     standing.left);
  };
  measure::CampaignSettings settings;
  settings.seed = options.seed;
  if (options.maxTime) settings.maxSeconds = *options.maxTime;
  if (options.maxRows) settings.maxRows = *options.maxRows;
  settings.rowSeconds = options.rowTime;
  settings.fresh = options.fresh;
  settings.stop = interruptFlag();
  const measure::CampaignResult result = measure::runCampaign(cases, hooks, settings);
  progress->finish();
  if (options.json) {
    printReused(out, *store, rows, result);
    printMeasured(out, *store, rows);
  } else if (options.brief()) {
    printRunTables(out, *store, plans, rows);
  } else {
    printMeasurements(out, *store, plans, rows);
  }
  const std::string skipped = result.skipped == 0 ? "" : fmt::format("{} skipped, ", result.skipped);
  out.note(fmt::format("{} run now, {}{} finished before, {} left; kept in {}", result.ran.size() - result.skipped, skipped,
                       result.reused, result.left, file.path()));
  return statusOf(out, result, rows);
}

int describeCampaigns(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows,
                      const StoreFile& file, const Options& options) {
  // A step at this speed, and this long for a process to start: rough on purpose; what is printed says so.
  constexpr double kFlopsASecond = 5e10;
  constexpr double kSetUpSeconds = 0.5;
  constexpr std::uint64_t kBytesACase = 2048;
  const measure::Settings protocol = protocolSettings();
  double seconds = 0;
  std::uint64_t memory = 0;
  std::uint32_t unknown = 0;
  std::size_t cases = 0, skipped = 0;
  std::map<std::pair<std::string, std::string>, unsigned> counted;  // repeats, by experiment: it runs once
  for (const CaseRow& row : rows) {
    unsigned& known = counted[{row.identity, row.backend}];
    const unsigned repeats = row.plan->repeats > known ? row.plan->repeats - known : 0;
    known += repeats;
    if (!row.skip.empty()) {
      skipped += repeats;
      continue;
    }
    const double step = row.flops / kFlopsASecond;
    seconds += repeats * (kSetUpSeconds + protocol.warmup * step + std::max(protocol.steps * step, protocol.minSeconds));
    memory = std::max(memory, row.arena);
    unknown = std::max(unknown, row.unknownWorkspaces);
    cases += repeats;
  }
  if (options.json) {
    out.json("dry_run", {{"designs", plans.size()},
                         {"cases", cases},
                         {"skipped", skipped},
                         {"seconds", seconds},
                         {"memory", memory},
                         {"unknown_workspaces", unknown},
                         {"disk", cases * kBytesACase},
                         {"store", file.path()}});
  } else {
    out.print("{} runs ({} skipped), about {} at 50 GFLOP/s, up to {} of memory beside the program itself, about {} in {}\n",
              cases, skipped, report::seconds(seconds), report::bytes(memory), report::bytes(cases * kBytesACase), file.path());
  }
  noteUnknownWorkspaces(out, unknown);
  return kOk;
}

}  // namespace tbem::driver
