#include "compiler/show/memory/WhatIfReport.h"

#include "compiler/explore/FitLimit.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// What was asked of a row, and the answers.
struct Asked {
  const WhatIfRequest& request;
  const RowAnswers& answers;
};

std::string reserveText(const WhatIfRequest& request) {
  const std::uint64_t reserve = reserveOf(request.reserve);
  return reserve == 0 ? "" : fmt::format(", {} of --reserve beside it", report::bytes(reserve));
}

std::string takesText(const TakenMemory& taken) {
  return fmt::format("{}{}", taken.complete ? "" : "at least ", report::bytes(taken.device));
}

std::string rowText(const RowState& row) { return fmt::format("{} ({})", row.run->spec.name, row.run->levelsText(row.row)); }

void printLine(show::Out& out, const Asked& asked, const char* kind, const std::string& name, const TakenMemory& taken,
               const Json& more) {
  const RowState& row = *asked.answers.row;
  Json fields = {{"design", row.run->spec.name},
                 {"row", row.row},
                 {"levels", row.run->levels(row.row)},
                 {"question", kind},
                 {"name", name},
                 {"allocated", taken.allocated},
                 {"reserved", taken.reserved},
                 {"takes", taken.device},
                 {"reserve", reserveOf(asked.request.reserve)},
                 {"complete", taken.complete}};
  fields.update(more);
  out.json("what-if", std::move(fields));
}

void printDeviceJson(show::Out& out, const Asked& asked, const DeviceAnswer& answer) {
  const auto& largest = answer.largest;
  Json fields = {{"memory", answer.memory}, {"headroom", answer.headroom()}, {"fits", answer.fits()}};
  fields["largest"] = largest ? Json(largest->level) : Json(nullptr);
  fields["bounded_by"] = largest && !largest->bound.empty() ? Json(largest->bound) : Json(nullptr);
  printLine(out, asked, "device", answer.device, answer.taken, fields);
}

void printDeviceTable(show::Out& out, const Asked& asked, const std::vector<DeviceAnswer>& answers) {
  const std::string& vary = asked.request.vary;
  report::Table table;
  table.title = fmt::format("{} in eager PyTorch {}{}", rowText(*asked.answers.row), torchVersion(asked.request.eager),
                            reserveText(asked.request));
  table.columns = {{"device", report::Align::Left},
                   {"has", report::Align::Decimal},
                   {"takes", report::Align::Decimal},
                   {"headroom", report::Align::Decimal},
                   {"fits", report::Align::Left}};
  if (asked.answers.hasFactor) table.columns.push_back({"largest " + vary, report::Align::Right});
  std::set<std::string> bounds;
  for (const DeviceAnswer& answer : answers) {
    const auto& largest = answer.largest;
    std::vector<report::Cell> cells = {
        answer.device, report::bytes(answer.memory), takesText(answer.taken),
        report::signedBytes(static_cast<double>(answer.headroom())),
        report::Cell(answer.fits() ? "yes" : "no", answer.fits() ? report::Tone::Good : report::Tone::Bad)};
    if (asked.answers.hasFactor) cells.emplace_back(largest ? std::to_string(largest->level) : "none");
    if (largest && !largest->bound.empty()) bounds.insert(fmt::format("{}, bounded by {}", largest->level, largest->bound));
    table.add(std::move(cells));
  }
  out.table(table);
  for (const std::string& bound : bounds) out.say("largest {} {}\n", vary, bound);
}

void printDeviceAnswers(show::Out& out, const Asked& asked) {
  const Answers<DeviceAnswer>& answers = asked.answers.devices;
  if (!out.display.json) {
    if (answers.ended) printDeviceTable(out, asked, answers.all);
    return;
  }
  for (const DeviceAnswer& answer : answers.all) printDeviceJson(out, asked, answer);
}

void printChangeAnswers(show::Out& out, const Asked& asked) {
  const Answers<ChangeAnswer>& answers = asked.answers.changes;
  if (out.display.json) {
    for (const ChangeAnswer& answer : answers.all)
      printLine(out, asked, "change", answer.change, answer.taken, {{"difference", answer.difference}});
    return;
  }
  if (!answers.ended) return;
  report::Table table;
  table.title = fmt::format("{} on {}{}, if", rowText(*asked.answers.row), changedOn(asked.request), reserveText(asked.request));
  table.columns = {{"change", report::Align::Left},
                   {"allocated", report::Align::Decimal},
                   {"reserved", report::Align::Decimal},
                   {"takes", report::Align::Decimal},
                   {"difference", report::Align::Decimal}};
  for (const ChangeAnswer& answer : answers.all) {
    table.add({answer.change, report::bytes(answer.taken.allocated), report::bytes(answer.taken.reserved),
               takesText(answer.taken),
               answer.difference == 0 ? "" : report::signedBytes(static_cast<double>(answer.difference))});
  }
  out.table(table);
}

bool isComplete(const auto& answers) {
  return std::ranges::all_of(answers.all, [](const auto& answer) { return answer.taken.complete; });
}

}  // namespace

void printWhatIf(show::Out& out, const WhatIfRequest& request, const WhatIfAnswers& answers) {
  for (const RowAnswers& row : answers.rows) {
    printDeviceAnswers(out, {request, row});
    if (!row.devices.ended) return;
    printChangeAnswers(out, {request, row});
    if (!row.changes.ended) return;
    if (!isComplete(row.devices) || !isComplete(row.changes))
      out.note("at least: what a process takes beside its tensors was not measured on these devices");
    if (!row.hasFactor)
      out.note(fmt::format("{} has no factor of whole numbers called {}: --vary names one, for its largest level",
                           row.row->run->spec.name, request.vary));
  }
}

}  // namespace tbem::driver
