#include "compiler/show/memory/PyTorchEstimates.h"

#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/MemoryTimeline.h"
#include "compiler/show/memory/PyTorchReport.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

class Printer {
public:
  Printer(show::Out& out, State& state, const PyTorchView& view, EagerSteps& steps, const std::optional<FitLimit>& limit)
      : out(out), state(state), view(view), steps(steps), sources(state.workspace->session.sources), limit(limit) {}

  void design(const DesignRun& run) {
    report::Table table;
    table.title = fmt::format("estimate of {} in eager PyTorch {} ({}, {})", run.spec.name, torchVersion(view.eager),
                              steps.onCuda() ? "cuda" : "cpu", run.array.name);
    table.columns.push_back({"row", report::Align::Right});
    for (const graph::FactorSpec& factor : run.spec.factors) table.columns.push_back({factor.name, report::Align::Right});
    for (const char* name : {"live", "allocated", "reserved", "device"}) {
      table.columns.push_back({name, report::Align::Decimal});
      if (!steps.onCuda()) break;
    }
    if (steps.onCuda() && !steps.workspaces()) table.columns.pop_back();
    const bool limited = hasBudgets(view.budgets, run);
    if (limited) table.columns.push_back({"margin", report::Align::Decimal});
    std::optional<PyTorchMemory> worst;
    std::size_t done = 0;
    for (const RowState& row : state.rows) {
      if (row.run != &run) continue;
      out.progress(done++, run.chosen.size(), fmt::format("row {} of {} in eager PyTorch", row.row + 1, run.spec.name));
      auto memory = pytorchMemory(row, steps);
      if (!memory) {
        state.sink().report(diag::row_without_number, memory.error().range, memory.error().what);
        continue;
      }
      const bool fits = checkLimit(*memory);
      overLimit = overLimit || !fits;
      if (out.display.json) {
        printPyTorchJson(out, state, view.eager, *memory, steps,
                         {limitJson(fits), limited ? budgetsJson(view.budgets, run, row.row) : Json(nullptr)});
      } else {
        table.add(cells(run, *memory));
        if (limited) table.rows.back().emplace_back(marginText(view.budgets, run, row.row));
      }
      if (!worst || memory->point() > worst->point()) worst = std::move(*memory);
    }
    if (!worst) return;
    if (!out.display.json) {
      out.table(table);
      sayBudgets(out, view.budgets, run);
      printWaterfall(out, *worst, steps, sources);
    }
    if (!view.folder.empty() && !writeTimeline(out, view.folder, *worst->row, timelineOf(*worst->row, worst->step, sources)))
      failed = true;
  }

  bool overLimit = false;
  bool failed = false;  ///< a plot could not be written, which was said

private:
  std::vector<report::Cell> cells(const DesignRun& run, const PyTorchMemory& memory) const {
    std::vector<report::Cell> result = {std::to_string(memory.row->row + 1)};
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f)
      result.emplace_back(run.spec.factors[f].levels[run.rows[memory.row->row][f]].text);
    result.emplace_back(report::bytes(memory.live.bytes));
    if (!memory.cuda) return result;
    result.emplace_back(report::bytes(memory.cuda->allocated));
    result.emplace_back(report::bytes(memory.cuda->reserved));
    if (steps.workspaces()) result.emplace_back(deviceText(memory));
    return result;
  }

  /// As `fit` asks: of what the allocator has, without what a process holds beside it.
  bool checkLimit(const PyTorchMemory& memory) {
    if (!limit) return true;
    const std::uint64_t beside = memory.measuredBeside();
    if (limit->upper) {
      if (!memory.bounds || !memory.bounds->upper) return refuse(memory, "has no upper bound and may take");
      const std::uint64_t most = *memory.bounds->upper - beside;
      return most <= limit->bytes || refuse(memory, fmt::format("may take {},", report::bytes(most)));
    }
    const std::uint64_t reserved = memory.point() - beside;
    if (reserved <= limit->bytes) return true;
    if (limit->reserved || !memory.cuda || !steps.replayWithin(memory.step, limit->bytes).outOfMemory.empty())
      return refuse(memory, fmt::format("takes {},", report::bytes(reserved)));
    const RowState& row = *memory.row;
    out.note(
        fmt::format("{} ({}) takes {} where it may; within {} the allocator gives segments back and it runs "
                    "(`:reserved` behind the size asks for the former)",
                    row.run->spec.name, row.run->levelsText(row.row), report::bytes(reserved), limit->text()));
    return true;
  }

  /// False, after saying why.
  bool refuse(const PyTorchMemory& memory, const std::string& takes) {
    const RowState& row = *memory.row;
    out.note(fmt::format("{} ({}) {} more than {}: {}", row.run->spec.name, row.run->levelsText(row.row), takes, limit->text(),
                         peakText(memory, sources)));
    return false;
  }

  Json limitJson(bool fits) const {
    if (!limit) return {};
    return {{"bytes", limit->bytes},
            {"reserve", limit->reserve},
            {"upper", limit->upper},
            {"reserved", limit->reserved},
            {"fits", fits}};
  }

  show::Out& out;
  State& state;
  const PyTorchView& view;
  EagerSteps& steps;
  const SourceManager& sources;
  const std::optional<FitLimit>& limit;
};

}  // namespace

int printPyTorchEstimates(show::Out& out, State& state, const PyTorchView& view, const std::optional<FitLimit>& limit) {
  auto steps = EagerSteps::open(state, state.request.target.backend, view.eager, view.engines);
  if (!steps) return out.fail(steps.error());
  tellLeftOut(state);
  Printer printer(out, state, view, *steps, limit);
  for (const auto& run : state.designs.runs) {
    if (run->experiment != nullptr) {
      printer.design(*run);
    } else {
      out.note(fmt::format("{} has no network: nothing to estimate", run->spec.name));
    }
  }
  for (const auto& training : state.trainings) printer.design(*training->step);
  if (const auto kept = steps->finish(out); !kept) return out.fail(kept.error());
  if (printer.failed) return kEnvironment;
  return printer.overLimit ? kVerdictAgainst : kOk;
}

}  // namespace tbem::driver
