#include "compiler/show/measured/MeasureNotes.h"

#include "compiler/show/Out.h"
#include "compiler/show/measured/OrNull.h"
#include "runtime/measure/Nvml.h"
#include "runtime/measure/Quantile.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace tbem::driver {

namespace {

using runtime::MachineLoad;

/// "row 3", "rows 1, 3": as the table numbers them.
std::string rowsText(const std::set<std::size_t>& rows) {
  std::vector<std::size_t> numbers;
  numbers.reserve(rows.size());
  for (const std::size_t row : rows) numbers.push_back(row + 1);
  return fmt::format("row{} {}", numbers.size() == 1 ? "" : "s", fmt::join(numbers, ", "));
}

void sayLosses(show::Out& out, const std::vector<Observation>& rows) {
  std::map<std::string, std::set<std::size_t>> byText;
  for (const Observation& row : rows) {
    for (const store::Stored& repeat : row.repeats) {
      if (!repeat.value.lossNotFinite.empty()) byText[repeat.value.lossNotFinite].insert(row.row->row);
    }
  }
  for (const auto& [text, numbers] : byText)
    out.say("{}: after its last step the loss is not finite ({}); time and memory are as measured\n", rowsText(numbers), text);
}

/// The largest of each over several measurements.
MachineLoad worst(const MachineLoad& a, const MachineLoad& b) {
  const auto larger = [](const std::optional<double>& x, const std::optional<double>& y) { return x && (!y || *x > *y) ? x : y; };
  return {larger(a.others, b.others), larger(a.stolen, b.stolen), larger(a.waited, b.waited), larger(a.average, b.average)};
}

std::string loadText(const MachineLoad& load) {
  std::vector<std::string> parts;
  if (load.others.value_or(0) >= kBusyShare)
    parts.push_back(fmt::format("other processes used up to {} of the processors", report::percent(*load.others)));
  if (load.stolen.value_or(0) >= kBusyShare)
    parts.push_back(fmt::format("a hypervisor took up to {} of the processors", report::percent(*load.stolen)));
  if (load.waited.value_or(0) >= kWaitedShare)
    parts.push_back(fmt::format("some process waited for a processor up to {} of the time", report::percent(*load.waited)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void sayLoad(show::Out& out, const std::vector<Observation>& rows) {
  MachineLoad most;
  std::set<std::size_t> busy;
  std::size_t count = 0, all = 0;
  for (const Observation& row : rows) {
    for (const store::Stored& repeat : row.repeats) {
      ++all;
      if (!isBusy(repeat.value.load)) continue;
      ++count;
      busy.insert(row.row->row);
      most = worst(most, repeat.value.load);
    }
  }
  if (count != 0)
    out.say("the machine did other work during {} of {} runs ({}): {}; times may be longer than on an idle one\n", count, all,
            rowsText(busy), loadText(most));
}

void saySpread(show::Out& out, const std::vector<Observation>& rows) {
  std::set<std::size_t> wide;
  Spread widest;
  std::size_t ofRow = 0;
  for (const Observation& row : rows) {
    const std::optional<Spread> spread = spreadOf(row.repeats);
    if (!spread || spread->share() < kSpreadShare) continue;
    wide.insert(row.row->row);
    if (spread->share() <= widest.share()) continue;
    widest = *spread;
    ofRow = row.row->row + 1;
  }
  if (!wide.empty())
    out.say("repeats of {} differ in latency by {} of the median or more, most of row {}: {} to {}\n", rowsText(wide),
            report::percent(kSpreadShare), ofRow, report::seconds(widest.least), report::seconds(widest.most));
}

/// Where a card's times say less than they seem to.
void sayTiming(show::Out& out, const std::vector<Observation>& rows) {
  std::map<std::string, std::set<std::size_t>> byReason;
  std::set<std::size_t> restless, warm;
  double most = 0;
  for (const Observation& row : rows) {
    for (const store::Stored& repeat : row.repeats) {
      const runtime::Measurement& value = repeat.value;
      if (!value.throttled.empty() && value.throttled != measure::kThrottlesUnknown)
        byReason[value.throttled].insert(row.row->row);
      if (value.caches == "warm") warm.insert(row.row->row);
      if (value.warmupSpread.value_or(0) < kRestlessShare) continue;
      restless.insert(row.row->row);
      most = std::max(most, *value.warmupSpread);
    }
  }
  for (const auto& [reason, numbers] : byReason)
    out.say("{}: the card was held back ({}); one that is not takes less time\n", rowsText(numbers), reason);
  if (!restless.empty())
    out.say("{}: when the warm-up ended, medians still differed by up to {}\n", rowsText(restless), report::percent(most));
  if (!warm.empty())
    out.say("{}: the card's cache could not be written over, so a step may have found there what the one before left\n",
            rowsText(warm));
}

}  // namespace

bool lossesAreFinite(const std::vector<store::Stored>& repeats) {
  return std::all_of(repeats.begin(), repeats.end(), [](const store::Stored& one) { return one.value.lossNotFinite.empty(); });
}

bool isBusy(const MachineLoad& load) { return !loadText(load).empty(); }

std::optional<Spread> spreadOf(const std::vector<store::Stored>& repeats) {
  std::vector<double> latencies;
  for (const store::Stored& one : repeats) {
    if (one.value.status == runtime::Status::Ok && one.value.latencyMedian) latencies.push_back(*one.value.latencyMedian);
  }
  if (latencies.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(latencies.begin(), latencies.end());
  return Spread{*least, measure::median(latencies), *most};
}

void sayMeasureNotes(show::Out& out, const std::vector<Observation>& rows, bool latency) {
  sayLosses(out, rows);
  sayLoad(out, rows);
  if (!latency) return;
  saySpread(out, rows);
  sayTiming(out, rows);
}

void printMeasured(show::Out& out, const StoredRows& stored, const std::vector<CaseRow>& rows) {
  std::set<std::tuple<const DesignRun*, std::size_t, std::string>> printed;
  for (const CaseRow& row : rows) {
    if (!printed.insert({row.plan->run, row.row, row.identity}).second) continue;
    const std::vector<store::Stored> repeats = stored.repeatsOf(row);
    MachineLoad most;
    std::size_t busy = 0;
    for (const store::Stored& one : repeats) {
      most = worst(most, one.value.load);
      busy += isBusy(one.value.load) ? 1 : 0;
    }
    const std::optional<Spread> spread = spreadOf(repeats);
    Json latency;
    if (spread) latency = {{"least", spread->least}, {"median", spread->median}, {"most", spread->most}};
    out.json("measured", {{"design", row.plan->run->spec.name},
                          {"row", row.row},
                          {"levels", row.plan->run->levels(row.row)},
                          {"backend", row.backend},
                          {"tune", text(row.plan->tuning)},
                          {"examples", placeOf(row).examples},
                          {"repeats", repeats.size()},
                          {"asked", row.plan->repeats},
                          {"arena_planned", row.isPlanned() ? Json(row.arena) : Json()},
                          {"latency", latency},
                          {"repeats_differ", spread && spread->share() >= kSpreadShare},
                          {"busy_repeats", busy},
                          {"load_most",
                           {{"others", orNull(most.others)}, {"stolen", orNull(most.stolen)}, {"waited", orNull(most.waited)}}}});
  }
}

}  // namespace tbem::driver
