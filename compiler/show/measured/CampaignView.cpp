#include "compiler/show/measured/CampaignView.h"

#include "compiler/run/OwnLibraries.h"
#include "compiler/show/measured/MeasureReport.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <utility>

namespace tbem::driver {

namespace {

/// "12.0 MiB to 412 MiB", or one of them where both are the same.
std::string spanText(const std::string& least, const std::string& most) {
  return least == most ? least : fmt::format("{} to {}", least, most);
}

/// What is known of a design before its rows are measured, a line.
std::string outlookText(const DesignRun& run, const std::vector<CaseRow>& rows) {
  double leastFlops = std::numeric_limits<double>::infinity(), mostFlops = 0;
  std::uint64_t leastArena = std::numeric_limits<std::uint64_t>::max(), mostArena = 0;
  for (const CaseRow& row : rows) {
    if (row.plan->run != &run) continue;
    leastFlops = std::min(leastFlops, row.flops);
    mostFlops = std::max(mostFlops, row.flops);
    if (!row.isPlanned()) continue;
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
  return fmt::format("row {} on {}: arena {}, {}, {}", row.row + 1, row.backend, row.isPlanned() ? report::bytes(row.arena) : "-",
                     report::flops(row.flops), run.levelsText(row.row));
}

}  // namespace

CampaignView::CampaignView(show::Out& out, const std::vector<MeasurePlan>& plans, const std::vector<CaseRow>& rows, bool outlook)
    : RunView(out), plans(plans), rows(rows), outlook(outlook), bar(out.progressBar()) {}

void CampaignView::rest() {
  bar->finish();
  RunView::rest();
}

void CampaignView::campaign(const measure::Standing& standing, const CaseRow* current) {
  if (std::exchange(outlook, false)) {
    std::set<const DesignRun*> told;
    for (const MeasurePlan& plan : plans) {
      if (told.insert(plan.run).second) bar->note(outlookText(*plan.run, rows));
    }
  }
  this->standing = standing;
  bar->update(standing.done, standing.total, current == nullptr ? "" : inHand(*current), standing.left);
}

void CampaignView::overExamples(const CaseRow& row, const std::string& what, std::int64_t done, std::int64_t total) {
  bar->update(standing.done, standing.total, fmt::format("{} {} of {}, {}", what, done, total, inHand(row)), standing.left);
}

void CampaignView::rowDone(const runtime::Case& key, const runtime::Measurement& value, const CaseRow& row) {
  if (out.display.json) printMeasurement(out, key, value, *row.plan, false);
  if (value.status == runtime::Status::Ok || value.status == runtime::Status::Skipped) return;
  bar->note(fmt::format("row {} ({}) on {}: {}: {}", key.row + 1, row.plan->run->levelsText(key.row), key.backend,
                        runtime::name(value.status), value.reason));
}

void printOutlook(show::Out& out, const CampaignOutlook& outlook, std::size_t designs, const StoreFile& file) {
  if (out.display.json) {
    out.json("dry_run", {{"designs", designs},
                         {"cases", outlook.cases},
                         {"skipped", outlook.skipped},
                         {"finished", outlook.finished},
                         {"seconds", outlook.seconds},
                         {"memory", outlook.memory},
                         {"unknown_workspaces", outlook.unknownWorkspaces},
                         {"disk", outlook.disk},
                         {"store", file.path()}});
  } else {
    const std::string finished = outlook.finished == 0 ? "" : fmt::format(", {} finished before", outlook.finished);
    out.print("{} runs ({} skipped{}), about {} at 50 GFLOP/s, up to {} of memory beside the program itself, about {} in {}\n",
              outlook.cases, outlook.skipped, finished, report::seconds(outlook.seconds), report::bytes(outlook.memory),
              report::bytes(outlook.disk), file.path());
  }
  noteUnknownWorkspaces(out, outlook.unknownWorkspaces);
}

void noteCampaign(show::Out& out, const measure::CampaignResult& result, const StoreFile& file) {
  const std::string skipped = result.skipped == 0 ? "" : fmt::format("{} skipped, ", result.skipped);
  out.note(fmt::format("{} run now, {}{} finished before, {} left; kept in {}", result.ran.size() - result.skipped, skipped,
                       result.reused, result.left, file.path()));
}

}  // namespace tbem::driver
