// The one table that a program's run prints of a measured design: levels, estimate and measurement of each row beside each other.
#include "compiler/experiment/Observations.h"
#include "compiler/show/Out.h"
#include "compiler/show/measured/CardLedger.h"
#include "compiler/show/measured/CardTiming.h"
#include "compiler/show/measured/MeasureNotes.h"
#include "compiler/show/measured/MeasureReport.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace tbem::driver {

namespace {

/// What several `measure` of one design ask for together.
struct Wanted {
  bool memory = false, latency = false, energy = false, examples = false;
  bool anyEnergy = false;  ///< of steps or of examples: why there is none is said
};

std::vector<Observation> measuredRows(const StoredRows& stored, const std::vector<CaseRow>& rows, const DesignRun& run) {
  std::vector<Observation> measured;
  for (const CaseRow& row : rows) {
    if (row.plan->run != &run) continue;
    const auto same = std::find_if(measured.begin(), measured.end(), [&](const Observation& other) {
      return other.row->row == row.row && placeOf(*other.row) == placeOf(row);
    });
    if (same == measured.end()) {
      measured.push_back({&row, stored.repeatsOf(row)});
    } else if (row.plan->repeats > same->row->plan->repeats) {
      *same = {&row, stored.repeatsOf(row)};
    }
  }
  return measured;
}

bool allOk(const Observation& measured) {
  return !measured.repeats.empty() && lossesAreFinite(measured.repeats) &&
         std::all_of(measured.repeats.begin(), measured.repeats.end(),
                     [](const store::Stored& repeat) { return repeat.value.status == runtime::Status::Ok; });
}

std::string bytesOf(const Observation& measured, std::optional<std::uint64_t> runtime::Measurement::*field) {
  const std::optional<double> value = medianOf(measured.repeats, field);
  return value ? report::signedBytes(*value) : "-";
}

/// The columns of one table, each with the text of a row. Ranks: what says least beside the others is left out first.
class RunTable {
public:
  RunTable(const DesignRun& run, std::vector<Observation> measured, Wanted wanted) : run(run), measured(std::move(measured)) {
    addRow();
    addEstimates();
    addMeasured(wanted);
  }

  report::Table table() const {
    report::Table table;
    table.title = title();
    for (const Column& column : columns) table.columns.push_back(column.head);
    for (const Observation& row : measured) {
      std::vector<report::Cell> cells;
      for (const Column& column : columns) cells.push_back(column.cell(row));
      table.add(std::move(cells));
    }
    return table;
  }

  const std::vector<Observation>& rows() const { return measured; }

  /// Whether every arena that was measured is the one that was planned.
  bool arenasAgree() const {
    return std::all_of(measured.begin(), measured.end(), [](const Observation& row) {
      return std::all_of(row.repeats.begin(), row.repeats.end(), [&](const store::Stored& repeat) {
        return !repeat.value.arenaPeak || *repeat.value.arenaPeak == row.row->arena;
      });
    });
  }

private:
  struct Column {
    report::Column head;
    std::function<report::Cell(const Observation&)> cell;
  };

  void add(std::string name, report::Align align, unsigned rank, std::function<report::Cell(const Observation&)> cell) {
    columns.push_back({{std::move(name), align, rank}, std::move(cell)});
  }

  std::string title() const {
    std::vector<RepeatCount> counts;
    for (const Observation& row : measured) counts.push_back({row.repeats.size(), row.row->plan->repeats});
    return fmt::format("{}: {}, {} row{} ({})", run.spec.name, run.array.name, run.chosen.size(),
                       run.chosen.size() == 1 ? "" : "s", repeatsText(counts));
  }

  void addRow() {
    add("row", report::Align::Right, 0, [](const Observation& row) { return report::Cell(std::to_string(row.row->row + 1)); });
    for (std::size_t f = 0; f < run.spec.factors.size(); ++f) {
      add(run.spec.factors[f].name, report::Align::Right, 0,
          [this, f](const Observation& row) { return report::Cell(run.spec.factors[f].levels[run.rows[row.row->row][f]].text); });
    }
    std::set<std::string> backends;
    for (const Observation& row : measured) backends.insert(placeOf(*row.row).text());
    if (backends.size() > 1 || !backends.contains("cpu"))
      add("backend", report::Align::Left, 0, [](const Observation& row) { return report::Cell(placeOf(*row.row).text()); });
    if (!std::all_of(measured.begin(), measured.end(), allOk))
      add("status", report::Align::Left, 0, [](const Observation& row) { return statusCell(row.repeats); });
  }

  void addEstimates() {
    using report::Align;
    add("parameters", Align::Decimal, 5,
        [](const Observation& row) { return report::Cell(report::grouped(static_cast<std::int64_t>(row.row->parameters))); });
    add("FLOPs step", Align::Decimal, 3, [](const Observation& row) { return report::Cell(report::flops(row.row->flops)); });
    add("static", Align::Decimal, 4, [](const Observation& row) { return report::Cell(report::bytes(row.row->staticMemory)); });
    const auto planned = [](std::uint64_t CaseRow::*field) {
      return
          [field](const Observation& row) { return report::Cell(row.row->isPlanned() ? report::bytes((*row.row).*field) : "-"); };
    };
    add("live", Align::Decimal, 6, planned(&CaseRow::live));
    add("arena", Align::Decimal, 1, planned(&CaseRow::arena));
  }

  void addMeasured(Wanted wanted) {
    using report::Align;
    if (wanted.memory && !arenasAgree())
      add("arena measured", Align::Decimal, 0,
          [](const Observation& row) { return report::Cell(bytesOf(row, &runtime::Measurement::arenaPeak)); });
    if (wanted.memory)
      add("peak memory", Align::Decimal, 0,
          [](const Observation& row) { return report::Cell(bytesOf(row, &runtime::Measurement::memoryPeak)); });
    if (wanted.latency)
      add("latency", Align::Decimal, 0, [](const Observation& row) {
        const std::optional<double> value = medianOf(row.repeats, &runtime::Measurement::latencyMedian);
        return report::Cell(value ? report::seconds(*value) : "-");
      });
    if (wanted.examples) {
      for (const ExampleQuantity& each : exampleQuantities()) {
        const auto has = [&](const Observation& row) {
          return row.row->plan->examples && isShown(each, *row.row->plan->examples);
        };
        if (std::ranges::any_of(measured, has))
          add(each.title, Align::Decimal, 2, [&each](const Observation& row) { return exampleCell(each, row.repeats); });
      }
    }
    const bool anyEnergy = std::any_of(measured.begin(), measured.end(), [](const Observation& row) {
      return medianOf(row.repeats, &runtime::Measurement::energy).has_value();
    });
    if (wanted.energy && anyEnergy)
      add("energy", Align::Decimal, 0, [](const Observation& row) {
        const std::optional<double> value = medianOf(row.repeats, &runtime::Measurement::energy);
        return report::Cell(value ? report::joules(*value) : "-");
      });
  }

  const DesignRun& run;
  std::vector<Observation> measured;
  std::vector<Column> columns;
};

}  // namespace

void printRunTables(show::Out& out, const StoredRows& stored, const std::vector<MeasurePlan>& plans,
                    const std::vector<CaseRow>& rows) {
  std::set<const DesignRun*> printed;
  for (const MeasurePlan& plan : plans) {
    if (!printed.insert(plan.run).second) continue;
    Wanted wanted;
    for (const MeasurePlan& other : plans) {
      if (other.run != plan.run) continue;
      wanted.memory = wanted.memory || other.wantsMemory;
      wanted.latency = wanted.latency || other.wantsLatency;
      wanted.energy = wanted.energy || other.wantsEnergy;
      wanted.anyEnergy = wanted.anyEnergy || asksForEnergy(other);
      wanted.examples = wanted.examples || other.examples.has_value();
    }
    std::vector<Observation> measured = measuredRows(stored, rows, *plan.run);
    std::string noEnergy;
    for (const Observation& row : measured) {
      for (const store::Stored& repeat : row.repeats) {
        if (!repeat.value.energy && !repeat.value.energyReason.empty()) noEnergy = repeat.value.energyReason;
      }
    }
    const bool anyArena = std::any_of(measured.begin(), measured.end(), [](const Observation& row) {
      return medianOf(row.repeats, &runtime::Measurement::arenaPeak).has_value();
    });
    const RunTable view(*plan.run, std::move(measured), wanted);
    out.ranked(view.table());
    if (wanted.memory) printCardLedgers(out, view.rows());
    if (wanted.latency) printCardTimings(out, view.rows());
    sayMeasureNotes(out, view.rows(), wanted.latency);
    if (wanted.memory && anyArena && view.arenasAgree()) out.say("the arena of each measured row is the one that was planned\n");
    if (wanted.anyEnergy && !noEnergy.empty()) out.say("no energy: {}\n", noEnergy);
  }
}

}  // namespace tbem::driver
