#include "compiler/show/measured/MeasureReport.h"
#include "compiler/experiment/Observations.h"
#include "compiler/show/Out.h"
#include "compiler/show/measured/CardLedger.h"
#include "compiler/show/measured/CardTiming.h"
#include "compiler/show/measured/MeasureNotes.h"
#include "compiler/show/measured/OrNull.h"

#include "runtime/measure/Quantile.h"
#include "runtime/perturb/Costs.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>

namespace tbem::driver {

report::Cell statusCell(const std::vector<store::Stored>& repeats) {
  report::Cell cell(repeats.empty() ? "left" : "ok", repeats.empty() ? report::Tone::Faint : report::Tone::Good);
  for (const store::Stored& one : repeats) {
    if (one.value.status == runtime::Status::Ok) continue;
    cell.text = fmt::format("{}: {}", runtime::name(one.value.status), one.value.reason.substr(0, 40));
    cell.tone = one.value.status == runtime::Status::Skipped ? report::Tone::Faint : report::Tone::Bad;
  }
  for (const store::Stored& one : repeats) {
    if (cell.text == "ok" && !one.value.lossNotFinite.empty()) cell = {"ok, loss " + one.value.lossNotFinite, report::Tone::Bad};
  }
  return cell;
}

std::string repeatsText(const std::vector<RepeatCount>& counts) {
  std::size_t least = SIZE_MAX, most = 0, asked = 0;
  for (const RepeatCount& count : counts) {
    least = std::min(least, count.there);
    most = std::max(most, count.there);
    asked = std::max(asked, count.asked);
  }
  if (counts.empty()) return "no repeats";
  const std::string tail = asked == 1 ? "" : ", medians";
  if (least == asked) return fmt::format("{} repeat{}{}", asked, asked == 1 ? "" : "s", tail);
  const std::string there = least == most ? std::to_string(least) : fmt::format("{} to {}", least, most);
  return fmt::format("{} of {} repeat{}{}", there, asked, asked == 1 ? "" : "s", tail);
}

template <class T>
std::optional<double> medianOf(const std::vector<store::Stored>& repeats, std::optional<T> runtime::Measurement::*field) {
  std::vector<double> values;
  for (const store::Stored& one : repeats) {
    if (one.value.status == runtime::Status::Ok && one.value.*field) values.push_back(static_cast<double>(*(one.value.*field)));
  }
  if (values.empty()) return std::nullopt;
  return measure::median(values);
}
template std::optional<double> medianOf(const std::vector<store::Stored>&, std::optional<double> runtime::Measurement::*);
template std::optional<double> medianOf(const std::vector<store::Stored>&, std::optional<std::uint64_t> runtime::Measurement::*);

Json overExamplesJson(const runtime::Measurement& value) {
  if (!value.meanFlops) return {};
  Json numbers = Json::object();
  for (const ExampleQuantity& each : exampleQuantities()) numbers[each.name] = orNull(value.*each.member);
  const auto costs = perturb::costsOfText(value.examples);
  numbers["examples"] = costs ? Json(costs->examples.size()) : Json();
  Json gates = Json::array();
  if (costs) {
    const std::vector<std::optional<double>> shares = perturb::sharesTrue(*costs);
    for (std::size_t gate = 0; gate < shares.size(); ++gate)
      gates.push_back({{"path", costs->gates[gate]}, {"true_share", orNull(shares[gate])}});
  }
  numbers["gates"] = std::move(gates);
  return numbers;
}

bool isShown(const ExampleQuantity& quantity, const MeasuredExamples& examples) {
  if (quantity.wants == ExampleQuantity::Wants::Energy) return examples.plan.energySeconds > 0;
  return quantity.wants != ExampleQuantity::Wants::Attack || !examples.attack.empty();
}

report::Cell exampleCell(const ExampleQuantity& quantity, const std::vector<store::Stored>& repeats) {
  const std::optional<double> value = medianOf(repeats, quantity.member);
  if (!value) return "-";
  if (quantity.isShare) return report::percent(*value);
  if (quantity.quantity == report::Quantity::Flops) return report::flops(*value);
  if (quantity.quantity == report::Quantity::Seconds) return report::seconds(*value);
  if (quantity.quantity == report::Quantity::Joules) return report::joules(*value);
  return report::number(*value);
}

/// What a row on a card took of its memory; null: it was on none.
Json ledgerJson(const runtime::Measurement& value) {
  Json ledger;
  for (const LedgerPart& part : ledgerOf(value)) ledger[part.key] = orNull(part.bytes);
  if (!ledger.is_null()) ledger["process"] = orNull(value.deviceProcess);
  return ledger;
}

void printMeasurement(show::Out& out, const runtime::Case& one, const runtime::Measurement& value, const MeasurePlan& plan,
                      bool reused) {
  Json latency;
  if (value.latencyMedian)
    latency = {{"median", *value.latencyMedian}, {"p05", orNull(value.latencyP05)}, {"p95", orNull(value.latencyP95)}};
  out.json("measure", {{"design", one.design},
                       {"row", one.row},
                       {"levels", Json::parse(one.levels)},
                       {"backend", one.backend},
                       {"tune", text(plan.tuning)},
                       {"examples", plan.examples ? plan.examples->text() : ""},
                       {"repeat", one.repeat},
                       {"status", runtime::name(value.status)},
                       {"reason", value.reason},
                       {"memory_peak", orNull(value.memoryPeak)},
                       {"memory_baseline", orNull(value.memoryBaseline)},
                       {"memory_reason", value.memoryReason},
                       {"allocated_peak", orNull(value.allocatedPeak)},
                       {"reserved_peak", orNull(value.reservedPeak)},
                       {"device_peak", orNull(value.devicePeak)},
                       {"ledger", ledgerJson(value)},
                       {"arena_peak", orNull(value.arenaPeak)},
                       {"arena_planned", orNull(value.arena)},
                       {"arena_kinds", value.arenaKinds.empty() ? Json() : Json::parse(value.arenaKinds)},
                       {"static_memory", orNull(value.staticMemory)},
                       {"live", orNull(value.live)},
                       {"latency", latency},
                       {"timing", timingJson(value)},
                       {"over_examples", overExamplesJson(value)},
                       {"energy", orNull(value.energy)},
                       {"energy_reason", value.energyReason},
                       {"energy_dynamic", orNull(value.energyDynamic)},
                       {"idle_power", orNull(value.idlePower)},
                       {"load",
                        {{"others", orNull(value.load.others)},
                         {"stolen", orNull(value.load.stolen)},
                         {"waited", orNull(value.load.waited)},
                         {"average", orNull(value.load.average)}}},
                       {"loss_not_finite", value.lossNotFinite.empty() ? Json() : Json(value.lossNotFinite)},
                       {"identity", one.identity},
                       {"machine", value.machine},
                       {"card", value.card.empty() ? Json() : Json(value.card)},
                       {"versions", value.versions},
                       {"reused", reused}});
}

void printReused(show::Out& out, const StoredRows& stored, const std::vector<CaseRow>& rows,
                 const measure::CampaignResult& result) {
  std::set<std::pair<std::string, std::uint32_t>> now;
  for (const runtime::Case& one : result.ran) now.insert({one.identity, one.repeat});
  std::set<std::tuple<const DesignRun*, std::size_t, std::string, std::uint32_t>> printed;
  for (const CaseRow& row : rows) {
    for (const store::Stored& one : stored.repeatsOf(row)) {
      if (now.count({one.key.identity, one.key.repeat}) != 0) continue;
      if (!printed.insert({row.plan->run, row.row, one.key.identity, one.key.repeat}).second) continue;
      runtime::Case key = one.key;
      key.design = row.plan->run->spec.name;
      key.row = static_cast<std::uint32_t>(row.row);
      key.levels = row.plan->run->levels(row.row).dump();
      printMeasurement(out, key, one.value, *row.plan, true);
    }
  }
}

void printMeasurements(show::Out& out, const StoredRows& stored, const std::vector<MeasurePlan>& plans,
                       const std::vector<CaseRow>& rows) {
  for (const MeasurePlan& plan : plans) {
    const DesignRun& run = *plan.run;
    report::Table table;
    table.columns.push_back({"row"});
    for (const graph::FactorSpec& factor : run.spec.factors) table.columns.push_back({factor.name});
    table.columns.push_back({"backend", report::Align::Left});
    table.columns.push_back({"status", report::Align::Left});
    const auto column = [&](bool wanted, const char* title) {
      if (wanted) table.columns.push_back({title, report::Align::Decimal});
    };
    column(plan.wantsMemory, "peak memory");
    column(plan.wantsMemory, "arena measured");
    column(plan.wantsMemory, "arena planned");
    column(plan.wantsLatency, "latency");
    if (plan.examples) {
      for (const ExampleQuantity& each : exampleQuantities()) column(isShown(each, *plan.examples), each.title);
    }
    bool anyEnergy = false;
    std::string energyReason;
    std::vector<Observation> measured;
    for (const CaseRow& row : rows) {
      if (row.plan != &plan) continue;
      measured.push_back({&row, stored.repeatsOf(row)});
      for (const store::Stored& one : measured.back().repeats) {
        anyEnergy = anyEnergy || one.value.energy.has_value();
        if (!one.value.energy && !one.value.energyReason.empty()) energyReason = one.value.energyReason;
      }
    }
    column(plan.wantsEnergy && anyEnergy, "energy");
    std::vector<RepeatCount> counts;
    counts.reserve(measured.size());
    for (const Observation& one : measured) counts.push_back({one.repeats.size(), plan.repeats});
    table.title = fmt::format("measured: {}{} ({})", run.spec.name, plan.examples ? " over " + plan.examples->text() : "",
                              repeatsText(counts));
    for (const Observation& observation : measured) {
      const CaseRow& row = *observation.row;
      const std::vector<store::Stored>& repeats = observation.repeats;
      std::vector<report::Cell> cells = {std::to_string(row.row + 1)};
      for (std::size_t f = 0; f < run.spec.factors.size(); ++f)
        cells.emplace_back(run.spec.factors[f].levels[run.rows[row.row][f]].text);
      cells.emplace_back(row.backend);
      cells.push_back(statusCell(repeats));
      const auto bytes = [&](std::optional<std::uint64_t> runtime::Measurement::*field) {
        const std::optional<double> value = medianOf(repeats, field);
        return value ? report::signedBytes(*value) : std::string("-");
      };
      if (plan.wantsMemory) {
        cells.emplace_back(bytes(&runtime::Measurement::memoryPeak));
        cells.emplace_back(bytes(&runtime::Measurement::arenaPeak));
        const std::string planned = bytes(&runtime::Measurement::arena);
        cells.emplace_back(planned == "-" && row.isPlanned() ? report::bytes(row.arena) : planned);
      }
      if (plan.wantsLatency) {
        const std::optional<double> value = medianOf(repeats, &runtime::Measurement::latencyMedian);
        cells.emplace_back(value ? report::seconds(*value) : "-");
      }
      if (plan.examples) {
        for (const ExampleQuantity& each : exampleQuantities()) {
          if (isShown(each, *plan.examples)) cells.push_back(exampleCell(each, repeats));
        }
      }
      if (plan.wantsEnergy && anyEnergy) {
        const std::optional<double> value = medianOf(repeats, &runtime::Measurement::energy);
        cells.emplace_back(value ? report::joules(*value) : "-");
      }
      table.add(std::move(cells));
    }
    out.table(table);
    if (plan.wantsMemory) printCardLedgers(out, measured);
    if (plan.wantsLatency) printCardTimings(out, measured);
    sayMeasureNotes(out, measured, plan.wantsLatency);
    if (asksForEnergy(plan) && !energyReason.empty()) out.say("no energy: {}\n", energyReason);
  }
}

}  // namespace tbem::driver
