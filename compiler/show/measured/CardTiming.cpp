#include "compiler/show/measured/CardTiming.h"

#include "compiler/show/measured/OrNull.h"
#include "runtime/measure/Nvml.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tbem::driver {

namespace {

using runtime::Measurement;

bool wasTimed(const Measurement& value) { return value.warmupSteps.has_value() && !value.caches.empty(); }

/// Of the repeats on a card, the one in the middle by latency; null: there is none.
const Measurement* middle(const Observation& row) {
  std::vector<const Measurement*> timed;
  for (const store::Stored& repeat : row.repeats) {
    if (wasTimed(repeat.value) && repeat.value.latencyMedian) timed.push_back(&repeat.value);
  }
  std::ranges::stable_sort(timed, {}, [](const Measurement* value) { return *value->latencyMedian; });
  return timed.empty() ? nullptr : timed[timed.size() / 2];
}

std::string textOf(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{} {}", report::number(*value), unit) : "-";
}

std::string throttledText(const Measurement& value) {
  return value.throttled == measure::kThrottlesUnknown ? "-" : value.throttled.empty() ? "no" : value.throttled;
}

}  // namespace

Json timingJson(const Measurement& value) {
  if (!wasTimed(value)) return {};
  return {{"host", orNull(value.latencyHost)},
          {"warmup_steps", static_cast<std::uint64_t>(*value.warmupSteps)},
          {"warmup_spread", orNull(value.warmupSpread)},
          {"caches", value.caches},
          {"clock", orNull(value.clock)},
          {"memory_clock", orNull(value.memoryClock)},
          {"temperature", orNull(value.temperature)},
          {"throttled", value.throttled == measure::kThrottlesUnknown ? Json() : Json(value.throttled)}};
}

void printCardTimings(show::Out& out, const std::vector<Observation>& measured) {
  report::Table table;
  table.title = "steps on the card";
  for (const char* title : {"row", "latency", "host's", "warm-up", "medians differ"})
    table.columns.push_back({title, report::Align::Decimal});
  table.columns.push_back({"caches", report::Align::Left});
  for (const char* title : {"clock", "memory clock", "temperature"}) table.columns.push_back({title, report::Align::Decimal});
  table.columns.push_back({"throttled", report::Align::Left});
  for (const Observation& row : measured) {
    const Measurement* const value = middle(row);
    if (value == nullptr) continue;
    table.add({std::to_string(row.row->row + 1), report::seconds(*value->latencyMedian),
               value->latencyHost ? report::seconds(*value->latencyHost) : "-", textOf(value->warmupSteps, "steps"),
               value->warmupSpread ? report::percent(*value->warmupSpread) : "-", value->caches, textOf(value->clock, "MHz"),
               textOf(value->memoryClock, "MHz"), textOf(value->temperature, "°C"), throttledText(*value)});
  }
  if (!table.rows.empty()) out.table(table);
}

}  // namespace tbem::driver
