#include "compiler/show/rows/EstimateReport.h"

#include "compiler/count/Conventions.h"
#include "compiler/count/GateFlops.h"
#include "compiler/devices/Devices.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/estimate/Estimate.h"
#include "compiler/graph/ir/Opaque.h"
#include "compiler/run/PlainRows.h"
#include "compiler/show/measured/TrainReport.h"
#include "compiler/show/memory/KindsReport.h"
#include "compiler/show/memory/MemoryTimeline.h"
#include "compiler/show/memory/RecomputeReport.h"
#include "compiler/show/memory/RooflineReport.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace tbem::driver {

namespace {

struct Column {
  const char* title;
  std::string (*text)(const estimate::Estimate& e);
  bool ofDevice = false;
  unsigned rank = 0;  ///< as in report::Column
};

std::string deviceBytes(const estimate::Estimate& e, std::uint64_t estimate::DeviceMemory::*field) {
  return e.device ? report::bytes((*e.device).*field) : "";
}

/// Nobody knows what opaque operators take.
std::string flopsText(const estimate::Estimate& e, estimate::Count count) {
  return (e.unknownFlops != 0 ? "at least " : "") + report::flops(estimate::toDouble(count));
}

const std::vector<Column>& columns() {
  static const std::vector<Column> list = {
      {"parameters", [](const estimate::Estimate& e) { return report::grouped(e.flops.parameters); }, false, 2},
      {"FLOPs forward", [](const estimate::Estimate& e) { return flopsText(e, e.flops.most.forward); }, false, 3},
      {"FLOPs step", [](const estimate::Estimate& e) { return flopsText(e, e.flops.most.step()); }},
      {"static", [](const estimate::Estimate& e) { return report::bytes(e.memory.bytes); }, false, 1},
      {"live", [](const estimate::Estimate& e) { return deviceBytes(e, &estimate::DeviceMemory::live); }, true, 4},
      {"arena", [](const estimate::Estimate& e) { return deviceBytes(e, &estimate::DeviceMemory::arena); }, true},
  };
  return list;
}

std::string pathsText(const std::string& levels, const estimate::Estimate& e) {
  const std::string expected = e.expected ? fmt::format(", {} expected", report::flops(*e.expected)) : "";
  const std::string average = e.expectedMemory ? fmt::format(", {} expected", report::signedBytes(*e.expectedMemory)) : "";
  const std::string arena =
      e.paths ? fmt::format(", arena from {} to {}{}", report::bytes(e.paths->least), report::bytes(e.paths->most), average) : "";
  const std::string mean = e.expectedSeconds ? fmt::format(", {} expected", report::seconds(*e.expectedSeconds)) : "";
  const std::string time = e.seconds ? fmt::format(", least time from {} to {}{}", report::seconds(e.seconds->least),
                                                   report::seconds(e.seconds->most), mean)
                                     : "";
  return fmt::format("paths of {}: FLOPs forward from {} to {}{}, static memory from {} to {}{}{}", levels,
                     report::flops(estimate::toDouble(e.flops.least.forward)),
                     report::flops(estimate::toDouble(e.flops.most.forward)), expected, report::bytes(e.memory.least),
                     report::bytes(e.memory.bytes), arena, time);
}

/// What rows are estimated on.
struct OnDevice {
  std::string_view name;   ///< in words; "": nothing, from shapes alone
  bool rooflines = false;  ///< least times are known
};

/// The estimates of one design as they are printed: a line of JSON a row, or a table.
class DesignReport {
public:
  DesignReport(show::Out& out, const EstimateView& view, const Workspace& workspace, const DesignRun& run, OnDevice device,
               const std::optional<FitLimit>& limit)
      : out(out), view(view), workspace(workspace), run(run), limit(limit) {
    const std::string_view on = device.name;
    table.title = fmt::format("estimate of {} {} ({})", run.spec.name,
                              on.empty() ? std::string("from shapes alone") : fmt::format("on {}", on), run.array.name);
    table.columns.push_back({"row", report::Align::Right});
    for (const graph::FactorSpec& factor : run.spec.factors) table.columns.push_back({factor.name, report::Align::Right});
    for (const Column& column : columns()) {
      if (column.ofDevice && on.empty()) continue;
      shown.push_back(&column);
      // Without a device the static memory is what the table is for.
      const bool ranked = column.rank != 1 || !on.empty();
      table.columns.push_back({column.title, report::Align::Decimal, ranked ? column.rank : 0});
    }
    if (device.rooflines) addRooflineColumns(table);
    if (hasBudgets(view.budgets, run)) table.columns.push_back({"margin", report::Align::Decimal});
  }

  void add(std::size_t row, estimate::Estimate estimate) {
    checkLimit(row, estimate);
    if (out.display.json) {
      const std::string budgets = hasBudgets(view.budgets, run) ? budgetsJson(view.budgets, run, row).dump() : std::string();
      const estimate::RowLabel label{run.spec.name, row, run.levels(row).dump(), budgets};
      out.jsonLine(estimate::toJson(estimate, label, workspace.session.sources));
    } else {
      addCells(row, estimate);
    }
    if (!worst || memoryOf(estimate) > memoryOf(*worst)) {
      worst = std::move(estimate);
      worstRow = row;
    }
  }

  /// In place of `print`, where another table has the rows.
  void printPeakOnly() const {
    if (!worst) return;
    sayKinds(out, *worst, run.levelsText(worstRow));
    printPeakPlace(out, workspace, *worst);
    if (worst->recomputation) printRecomputation(out, *worst->recomputation, run.levelsText(worstRow));
    for (const std::string& path : paths) out.say("{}\n", path);
  }

  /// Once: the table goes.
  void print() {
    if (out.display.json || table.rows.empty()) return;
    out.ranked(std::move(table));
    sayBudgets(out, view.budgets, run);
    if (view.brief) {
      sayKinds(out, *worst, run.levelsText(worstRow));
      printPeakPlace(out, workspace, *worst);
    } else {
      printKinds(out, workspace, *worst, run.levelsText(worstRow));
    }
    if (worst->recomputation) printRecomputation(out, *worst->recomputation, run.levelsText(worstRow));
    if (longest) printRoofline(out, workspace, *longest, longestLevels);
    for (const std::string& path : paths) out.say("{}\n", path);
  }

  std::optional<estimate::Estimate> worst;  ///< of the row that takes most
  std::size_t worstRow = 0;
  bool overLimit = false;

private:
  void addCells(std::size_t row, const estimate::Estimate& estimate) {
    std::vector<report::Cell> cells = {std::to_string(row + 1)};
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f)
      cells.emplace_back(run.spec.factors[f].levels[run.rows[row][f]].text);
    for (const Column* column : shown) cells.emplace_back(column->text(estimate));
    if (estimate.roofline) {
      addRooflineCells(cells, *estimate.roofline);
      if (!longest || estimate.roofline->seconds > longest->seconds) {
        longest = estimate.roofline;
        longestLevels = run.levelsText(row);
      }
    }
    if (hasBudgets(view.budgets, run)) cells.emplace_back(marginText(view.budgets, run, row));
    table.add(std::move(cells));
    if (estimate.flops.gated) paths.push_back(pathsText(run.levelsText(row), estimate));
  }

  void checkLimit(std::size_t row, const estimate::Estimate& estimate) {
    if (!limit || memoryOf(estimate) <= limit->bytes) return;
    overLimit = true;
    out.note(fmt::format("{} ({}) takes {}, more than {}", run.spec.name, run.levelsText(row), report::bytes(memoryOf(estimate)),
                         limit->text()));
  }

  show::Out& out;
  const EstimateView& view;
  const Workspace& workspace;
  const DesignRun& run;
  const std::optional<FitLimit>& limit;
  report::Table table;
  std::vector<const Column*> shown;
  std::optional<estimate::Roofline> longest;
  std::string longestLevels;
  std::vector<std::string> paths;
};

class Estimator {
public:
  Estimator(show::Out& out, State& state, const EstimateView& view, std::optional<FitLimit> limit = {})
      : out(out),
        state(state),
        view(view),
        convention(*estimate::findConvention(view.convention)),
        probabilities(*estimate::parseProbabilities(view.gates)),
        limit(std::move(limit)) {}

  /// False: --roofline names no device that is known, which was said; `status` is the exit status then.
  bool chooseDevice() {
    if (view.roofline.empty()) return true;
    auto found = findDevice(*state.workspace, view.roofline);
    if (!found) {
      for (const std::string& message : found.error().messages) out.failure(message);
      status = found.error().status;
      return false;
    }
    device.emplace(std::move(*found), state);
    return true;
  }

  /// Of rows that went through the pipeline. `rows`: whether their table is printed.
  void design(const DesignRun& run, bool rows = true) {
    DesignReport made(out, view, *state.workspace, run, {state.backendName, device.has_value()}, limit);
    const RowState* worst = nullptr;
    for (const RowState& row : state.rows) {
      if (row.run != &run) continue;
      std::optional<estimate::Estimate> estimate = estimateOf(row);
      if (!estimate) continue;
      made.add(row.row, std::move(*estimate));
      if (made.worstRow == row.row) worst = &row;
    }
    if (rows) {
      made.print();
    } else {
      made.printPeakOnly();
    }
    if (worst != nullptr && worst->program && !view.folder.empty() &&
        !writeTimeline(out, view.folder, *worst, timelineOf(*worst, state.workspace->session.sources)))
      status = kEnvironment;
    overLimit = overLimit || made.overLimit;
  }

  /// Of rows from shapes alone. False: some break conditions, which was reported; nothing was printed.
  bool plain(DesignRun& run) {
    PlainRows rows(state.sink(), run, convention);
    if (!rows.check()) return false;
    if (run.spec.checkpoint) {
      out.note(
          fmt::format("{}: what is computed again is chosen where memory is planned (--on cpu); here nothing is", run.spec.name));
    }
    DesignReport made(out, view, *state.workspace, run, {}, limit);
    rows.each([&](std::size_t row, const graph::Graph& graph, estimate::Estimate estimate) {
      addExpected(graph, estimate);
      estimate.unknownFlops = graph::unknownFlops(graph);
      made.add(row, std::move(estimate));
    });
    made.print();
    overLimit = overLimit || made.overLimit;
    return true;
  }

  bool overLimit = false;
  int status = kOk;
  std::string leftOut;  ///< leftOutText of the first row whose least time is not whole

private:
  std::optional<estimate::Estimate> estimateOf(const RowState& row) {
    const graph::Graph& graph = row.elaborated->graph();
    auto estimate = estimate::estimateRow(graph, row.elaborated->values, row.program ? &*row.program : nullptr,
                                          estimate::staticOrder(graph), convention);
    if (!estimate) {
      state.sink().report(diag::row_without_number, estimate.error().range, estimate.error().what);
      return std::nullopt;
    }
    estimate->recomputation = row.recomputation;
    addExpected(graph, *estimate);
    if (estimate->expected && estimate->paths) {
      // Its gates are the graph's, whose probabilities are all there.
      if (const auto bytes = estimate::expectedMemory(*row.program, probabilities)) estimate->expectedMemory = *bytes;
    }
    if (device) {
      auto roofline = device->of(row);
      if (roofline) {
        if (leftOut.empty()) leftOut = leftOutText(*roofline);
        addSeconds(*roofline, *estimate);
        estimate->roofline = std::move(*roofline);
      } else {
        out.failure(
            fmt::format("no roofline of {} ({}): {}", row.run->spec.name, row.run->levelsText(row.row), roofline.error()));
        status = kProgramErrors;
      }
    }
    return std::move(*estimate);
  }

  /// What the roofline says of paths.
  void addSeconds(const estimate::Roofline& roofline, estimate::Estimate& estimate) const {
    if (roofline.branches.empty()) return;
    estimate.seconds = estimate::secondsOfPaths(roofline);
    if (!estimate.expected) return;
    // Its gates are the graph's, whose probabilities are all there.
    if (const auto seconds = estimate::expectedSeconds(roofline, probabilities)) estimate.expectedSeconds = *seconds;
  }

  /// What --gates adds.
  void addExpected(const graph::Graph& graph, estimate::Estimate& estimate) {
    if (!estimate.flops.gated || view.gates.empty()) return;
    const auto expected = estimate::expectedFlops(graph, estimate.flops, probabilities);
    if (expected) {
      estimate.expected = *expected;
    } else {
      out.note(fmt::format("--gates: {}", expected.error()));
    }
  }

  show::Out& out;
  State& state;
  const EstimateView& view;
  const estimate::Convention& convention;
  estimate::GateProbabilities probabilities;
  std::optional<Rooflines> device;
  std::optional<FitLimit> limit;
};

}  // namespace

void notePlainRows(Events& events, const State& state) {
  events.note(fmt::format("{} rows: estimated from shapes alone (--on cpu plans the memory of each for this machine)",
                          report::grouped(static_cast<std::int64_t>(state.chosenRows()))));
}

int printEstimates(show::Out& out, State& state, const EstimateView& view, std::optional<FitLimit> limit) {
  Estimator estimator(out, state, view, std::move(limit));
  if (!estimator.chooseDevice()) return estimator.status;
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr) {
      out.note(fmt::format("{} has no network: nothing to estimate", run->spec.name));
    } else if (!state.plain()) {
      estimator.design(*run);
    } else if (!estimator.plain(*run)) {
      return kOk;  // `finish` prints what was reported
    }
  }
  for (const auto& training : state.trainings) {
    estimator.design(*training->step);
    printTrainingCost(out, state, *training, *estimate::findConvention(view.convention));
  }
  if (estimator.status != kOk) return estimator.status;
  if (!estimator.leftOut.empty()) {
    out.failure(estimator.leftOut);
    return kEnvironment;
  }
  return estimator.overLimit ? kVerdictAgainst : kOk;
}

void printEstimate(show::Out& out, State& state, const EstimateView& view, const DesignRun& run, bool rows) {
  Estimator estimator(out, state, view);
  estimator.design(run, rows);
}

}  // namespace tbem::driver
