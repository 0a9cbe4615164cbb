// tbemc estimate: what each row will cost, before anything runs.
#include "compiler/estimate/Estimate.h"

#include "compiler/driver/Commands.h"
#include "compiler/driver/Devices.h"
#include "compiler/driver/MemoryTimeline.h"
#include "compiler/driver/PyTorchEstimate.h"
#include "compiler/driver/Reports.h"
#include "compiler/driver/RooflineReport.h"
#include "compiler/driver/TrainReport.h"
#include "compiler/driver/WorkspaceReport.h"
#include "compiler/estimate/GateFlops.h"
#include "compiler/support/diagnostics/Plan.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <cstdio>

namespace tbem::driver {

namespace {

/// Where memory of each kind goes, for the row that takes most.
void printKinds(const Options& options, const Workspace& workspace, const estimate::Estimate& worst, const std::string& levels) {
  if (!worst.device) return;
  report::Table table;
  table.title = fmt::format("memory at the peak of {}", levels);
  table.columns = {{"kind", report::Align::Left}, {"bytes", report::Align::Decimal}, {"share", report::Align::Decimal}};
  const auto share = [&](std::uint64_t bytes) {
    return worst.device->arena == 0 ? std::string()
                                    : report::percent(static_cast<double>(bytes) / static_cast<double>(worst.device->arena));
  };
  for (std::size_t k = 0; k < estimate::kKinds; ++k) {
    const std::uint64_t bytes = worst.device->kinds[k];
    if (bytes != 0)
      table.add({std::string(estimate::kindName(static_cast<estimate::Kind>(k))), report::bytes(bytes), share(bytes)});
  }
  table.add({"gaps", report::bytes(worst.device->gaps), share(worst.device->gaps)});
  table.rules.push_back(table.rows.size());
  table.add({"arena", report::bytes(worst.device->arena), share(worst.device->arena)});
  printTable(options, table);
  const SourceManager& sources = workspace.session.sources;
  const estimate::PeakAt& peak = worst.peak;
  const bool inside = peak.use.valid() && peak.use.begin != peak.range.begin;
  fmt::print("the peak is at {}, {}{}{}\n", peak.name, sources.describe(peak.range.begin),
             peak.scope.empty() ? "" : fmt::format(", in {}", peak.scope),
             inside ? fmt::format(" ({})", sources.describe(peak.use.begin)) : "");
  if (worst.device->assumed != 0) {
    fmt::print("{} calls assume the default algorithm: what else there is was not timed on this machine yet (measure does)\n",
               worst.device->assumed);
  }
}

struct Column {
  const char* title;
  std::string (*text)(const estimate::Estimate& e);
};

std::string deviceBytes(const estimate::Estimate& e, std::uint64_t estimate::DeviceMemory::*field) {
  return e.device ? report::bytes((*e.device).*field) : "";
}

const std::vector<Column>& columns() {
  static const std::vector<Column> list = {
      {"parameters", [](const estimate::Estimate& e) { return report::grouped(e.flops.parameters); }},
      {"FLOPs forward", [](const estimate::Estimate& e) { return report::flops(estimate::toDouble(e.flops.most.forward)); }},
      {"FLOPs step", [](const estimate::Estimate& e) { return report::flops(estimate::toDouble(e.flops.most.step())); }},
      {"static", [](const estimate::Estimate& e) { return report::bytes(e.memory.bytes); }},
      {"live", [](const estimate::Estimate& e) { return deviceBytes(e, &estimate::DeviceMemory::live); }},
      {"arena", [](const estimate::Estimate& e) { return deviceBytes(e, &estimate::DeviceMemory::arena); }},
  };
  return list;
}

class Estimator {
public:
  Estimator(State& state, const estimate::Convention& convention, estimate::GateProbabilities probabilities)
      : state(state), options(state.options), convention(convention), probabilities(std::move(probabilities)) {}

  /// False: --roofline names no device that is known, which was said; `status` is the exit status then.
  bool chooseDevice() {
    if (options.roofline.empty()) return true;
    auto found = findDevice(*state.workspace, options.roofline);
    if (!found) {
      if (!found.error().message.empty()) printFailure(found.error().message);
      status = found.error().status;
      return false;
    }
    device.emplace(std::move(*found), state);
    return true;
  }

  void design(const DesignRun& run) {
    report::Table table;
    table.title = fmt::format("estimate of {} on {} ({})", run.spec.name, state.backendName, run.array.name);
    table.columns.push_back({"row", report::Align::Right});
    for (const graph::FactorSpec& factor : run.spec.factors) table.columns.push_back({factor.name, report::Align::Right});
    for (const Column& column : columns()) table.columns.push_back({column.title, report::Align::Decimal});
    if (device) addRooflineColumns(table);
    std::optional<estimate::Estimate> worst;
    std::optional<estimate::Roofline> longest;
    std::string longestLevels;
    const RowState* worstRow = nullptr;
    std::vector<std::string> paths;
    for (const RowState& row : state.rows) {
      if (row.run != &run) continue;
      std::optional<estimate::Estimate> estimate = estimateOf(row);
      if (!estimate) continue;
      checkLimit(row, *estimate);
      const bool isWorst = !worst || memoryOf(*estimate) > memoryOf(*worst);
      if (isWorst) worstRow = &row;
      if (options.json) {
        const estimate::RowLabel label{run.spec.name, row.row, run.levels(row.row).dump()};
        fmt::print("{}\n", estimate::toJson(*estimate, label, state.workspace->session.sources));
        if (isWorst) worst = std::move(estimate);
        continue;
      }
      std::vector<report::Cell> cells = {std::to_string(row.row + 1)};
      for (std::size_t f = 0; f < run.spec.factors.size(); ++f)
        cells.emplace_back(run.spec.factors[f].levels[run.rows[row.row][f]].text);
      for (const Column& column : columns()) cells.emplace_back(column.text(*estimate));
      if (estimate->roofline) {
        addRooflineCells(cells, *estimate->roofline);
        if (!longest || estimate->roofline->seconds > longest->seconds) {
          longest = estimate->roofline;
          longestLevels = run.levelsText(row.row);
        }
      }
      table.add(std::move(cells));
      if (estimate->flops.gated) paths.push_back(pathsText(run.levelsText(row.row), *estimate));
      if (isWorst) worst = std::move(estimate);
    }
    if (worst && worstRow->program && !options.out.empty() &&
        !writeTimeline(options, *worstRow, timelineOf(*worstRow, state.workspace->session.sources)))
      status = kEnvironment;
    if (options.json || table.rows.empty()) return;
    printTable(options, table);
    if (worst) printKinds(options, *state.workspace, *worst, run.levelsText(worstRow->row));
    if (longest) printRoofline(options, *state.workspace, *longest, longestLevels);
    for (const std::string& path : paths) fmt::print("{}\n", path);
  }

  bool overLimit = false;
  int status = kOk;

private:
  static std::uint64_t memoryOf(const estimate::Estimate& e) { return e.device ? e.device->arena : e.memory.bytes; }

  static std::string pathsText(const std::string& levels, const estimate::Estimate& e) {
    const std::string expected = e.expected ? fmt::format(", {} expected", report::flops(*e.expected)) : "";
    return fmt::format("paths of {}: FLOPs forward from {} to {}{}, static memory from {} to {}", levels,
                       report::flops(estimate::toDouble(e.flops.least.forward)),
                       report::flops(estimate::toDouble(e.flops.most.forward)), expected, report::bytes(e.memory.least),
                       report::bytes(e.memory.bytes));
  }

  std::optional<estimate::Estimate> estimateOf(const RowState& row) {
    const graph::Row& elaborated = *row.elaborated;
    auto estimate = estimate::estimateRow(elaborated.graph(), elaborated.values, row.program ? &*row.program : nullptr);
    auto flops = estimate::countFlops(elaborated.graph(), elaborated.values, convention);
    if (!estimate || !flops) {
      const estimate::NoValue& why = estimate ? flops.error() : estimate.error();
      state.sink().report(diag::row_without_number, why.range, why.what);
      return std::nullopt;
    }
    estimate->flops = std::move(*flops);
    if (estimate->flops.gated && !options.gates.empty()) {
      const auto expected = estimate::expectedFlops(elaborated.graph(), estimate->flops, probabilities);
      if (expected) {
        estimate->expected = *expected;
      } else {
        printNote(options, fmt::format("--gates: {}", expected.error()));
      }
    }
    if (device) {
      auto roofline = device->of(row);
      if (roofline) {
        estimate->roofline = std::move(*roofline);
      } else {
        printNote(options,
                  fmt::format("no roofline of {} ({}): {}", row.run->spec.name, row.run->levelsText(row.row), roofline.error()));
      }
    }
    return std::move(*estimate);
  }

  void checkLimit(const RowState& row, const estimate::Estimate& estimate) {
    if (options.maxMemory.empty()) return;
    const auto limit = report::parseBytes(options.maxMemory);
    if (!limit || memoryOf(estimate) <= *limit) return;
    overLimit = true;
    printNote(options, fmt::format("{} ({}) takes {}, more than {}", row.run->spec.name, row.run->levelsText(row.row),
                                   report::bytes(memoryOf(estimate)), report::bytes(*limit)));
  }

  State& state;
  const Options& options;
  const estimate::Convention& convention;
  estimate::GateProbabilities probabilities;
  std::optional<Rooflines> device;
};

}  // namespace

int printEstimates(State& state) {
  Estimator estimator(state, *estimate::findConvention(state.options.convention),
                      *estimate::parseProbabilities(state.options.gates));
  if (!estimator.chooseDevice()) return estimator.status;
  for (const auto& run : state.designs.runs) {
    if (run->experiment != nullptr) {
      estimator.design(*run);
    } else {
      printNote(state.options, fmt::format("{} has no network: nothing to estimate", run->spec.name));
    }
  }
  for (const auto& training : state.trainings) {
    estimator.design(*training->step);
    printTrainingCost(state, *training);
  }
  if (estimator.status != kOk) return estimator.status;
  return estimator.overLimit ? kVerdictAgainst : kOk;
}

int runEstimate(const Options& options) {
  if (!options.maxMemory.empty()) {
    if (const auto limit = report::parseBytes(options.maxMemory); !limit) {
      printFailure(fmt::format("--max {}: {}", options.maxMemory, limit.error()));
      return kUsage;
    }
  }
  if (const auto gates = estimate::parseProbabilities(options.gates); !gates) {
    printFailure(fmt::format("--gates: {}", gates.error()));
    return kUsage;
  }
  State state(options);
  const bool workspaces = options.explain == "workspace", pytorch = isPyTorch(options.backend);
  if (workspaces && !options.backend.empty() && options.backend != "pytorch") {
    printFailure(fmt::format("--explain workspace is of a GPU (--device NAME), not of {}", options.backend));
    return kUsage;
  }
  if (const Progressed done = runPipeline(state, workspaces || pytorch ? "graph" : "lower"); !done.proceed) return done.status;
  if (state.designs.runs.empty() && state.trainings.empty()) {
    printFailure("the program has no design: give --input (and --task) for its network");
    return finish(state, kUsage);
  }
  const int status = workspaces ? explainWorkspaces(state) : pytorch ? printPyTorchEstimates(state) : printEstimates(state);
  return finish(state, status);
}

}  // namespace tbem::driver
