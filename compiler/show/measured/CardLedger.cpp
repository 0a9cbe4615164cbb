#include "compiler/show/measured/CardLedger.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <string>

namespace tbem::driver {

namespace {

using runtime::Measurement;

constexpr struct {
  const char *key, *title;
  runtime::measured::Bytes Measurement::*bytes;
} kParts[] = {
    {"context", "context", &Measurement::deviceContext},   {"arena", "arena", &Measurement::deviceArena},
    {"buffers", "beside it", &Measurement::deviceBuffers}, {"modules", "kernels", &Measurement::deviceModules},
    {"handles", "handles", &Measurement::deviceHandles},   {"plans", "plans", &Measurement::devicePlans},
    {"late", "loaded late", &Measurement::deviceLate},     {"recordings", "recorded", &Measurement::deviceRecordings},
};

template <class Integer>
std::string textOf(const std::optional<Integer>& bytes) {
  return bytes ? report::signedBytes(static_cast<double>(*bytes)) : "-";
}

/// Of the repeats on a card, the one that took most; null: there is none.
const Measurement* largest(const Observation& row) {
  const Measurement* most = nullptr;
  for (const store::Stored& repeat : row.repeats) {
    if (repeat.value.deviceContext && (most == nullptr || repeat.value.devicePeak > most->devicePeak)) most = &repeat.value;
  }
  return most;
}

}  // namespace

std::vector<LedgerPart> ledgerOf(const Measurement& value) {
  std::vector<LedgerPart> parts;
  if (!value.deviceContext) return parts;
  const auto wholeOf = [](const runtime::measured::Bytes& bytes) {
    return bytes ? std::optional(static_cast<std::int64_t>(*bytes)) : std::nullopt;
  };
  std::optional<std::int64_t> left = wholeOf(value.devicePeak);
  for (const auto& part : kParts) {
    const std::optional<std::int64_t> bytes = wholeOf(value.*part.bytes);
    parts.push_back({part.key, part.title, bytes});
    left = left && bytes ? std::optional(*left - *bytes) : std::nullopt;
  }
  parts.push_back({"unexplained", "unexplained", left});
  return parts;
}

void printCardLedgers(show::Out& out, const std::vector<Observation>& measured) {
  report::Table table;
  for (const Observation& row : measured) {
    const Measurement* const value = largest(row);
    if (value == nullptr) continue;
    const std::vector<LedgerPart> parts = ledgerOf(*value);
    if (table.columns.empty()) {
      table.title = "memory of the card";
      table.columns = {{"row"}, {"in all", report::Align::Decimal}};
      for (const LedgerPart& part : parts) table.columns.push_back({part.title, report::Align::Decimal});
    }
    std::vector<report::Cell> cells{std::to_string(row.row->row + 1), textOf(value->devicePeak)};
    for (const LedgerPart& part : parts) cells.emplace_back(textOf(part.bytes));
    table.add(std::move(cells));
  }
  if (!table.columns.empty()) out.table(table);
}

}  // namespace tbem::driver
