#include "compiler/show/memory/WhatIfReport.h"

#include "compiler/explore/FitLimit.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

std::string reserveText(const WhatIf& question) {
  const std::uint64_t reserve = reserveOf(question.request().reserve);
  return reserve == 0 ? "" : fmt::format(", {} of --reserve beside it", report::bytes(reserve));
}

std::string takesText(const TakenMemory& taken) {
  return fmt::format("{}{}", taken.complete ? "" : "at least ", report::bytes(taken.device));
}

std::string rowText(const WhatIf& question) {
  const RowState& row = question.row();
  return fmt::format("{} ({})", row.run->spec.name, row.run->levelsText(row.row));
}

void printLine(show::Out& out, const WhatIf& question, const char* kind, const std::string& name, const TakenMemory& taken,
               const Json& more) {
  const RowState& row = question.row();
  Json fields = {{"design", row.run->spec.name},
                 {"row", row.row},
                 {"levels", row.run->levels(row.row)},
                 {"question", kind},
                 {"name", name},
                 {"allocated", taken.allocated},
                 {"reserved", taken.reserved},
                 {"takes", taken.device},
                 {"reserve", reserveOf(question.request().reserve)},
                 {"complete", taken.complete}};
  fields.update(more);
  out.json("what-if", std::move(fields));
}

void printDeviceJson(show::Out& out, const WhatIf& question, const DeviceAnswer& answer) {
  const auto& largest = answer.largest;
  Json fields = {{"memory", answer.memory}, {"headroom", answer.headroom()}, {"fits", answer.fits()}};
  fields["largest"] = largest ? Json(largest->level) : Json(nullptr);
  fields["bounded_by"] = largest && !largest->bound.empty() ? Json(largest->bound) : Json(nullptr);
  printLine(out, question, "device", answer.device, answer.taken, fields);
}

void printDeviceTable(show::Out& out, const WhatIf& question, const std::vector<DeviceAnswer>& answers) {
  const std::string& vary = question.request().vary;
  report::Table table;
  table.title = fmt::format("{} in eager PyTorch {}{}", rowText(question), torchVersion(question.request().eager),
                            reserveText(question));
  table.columns = {{"device", report::Align::Left},
                   {"has", report::Align::Decimal},
                   {"takes", report::Align::Decimal},
                   {"headroom", report::Align::Decimal},
                   {"fits", report::Align::Left}};
  if (question.hasFactor()) table.columns.push_back({"largest " + vary, report::Align::Right});
  std::set<std::string> bounds;
  for (const DeviceAnswer& answer : answers) {
    const auto& largest = answer.largest;
    std::vector<report::Cell> cells = {
        answer.device, report::bytes(answer.memory), takesText(answer.taken),
        report::signedBytes(static_cast<double>(answer.headroom())),
        report::Cell(answer.fits() ? "yes" : "no", answer.fits() ? report::Tone::Good : report::Tone::Bad)};
    if (question.hasFactor()) cells.emplace_back(largest ? std::to_string(largest->level) : "none");
    if (largest && !largest->bound.empty()) bounds.insert(fmt::format("{}, bounded by {}", largest->level, largest->bound));
    table.add(std::move(cells));
  }
  out.table(table);
  for (const std::string& bound : bounds) out.say("largest {} {}\n", vary, bound);
}

}  // namespace

void printDeviceAnswers(show::Out& out, const WhatIf& question, const Answers<DeviceAnswer>& answers) {
  if (!out.display.json) {
    if (answers.ended) printDeviceTable(out, question, answers.all);
    return;
  }
  for (const DeviceAnswer& answer : answers.all) printDeviceJson(out, question, answer);
}

void printChangeAnswers(show::Out& out, const WhatIf& question, const Answers<ChangeAnswer>& answers) {
  if (out.display.json) {
    for (const ChangeAnswer& answer : answers.all)
      printLine(out, question, "change", answer.change, answer.taken, {{"difference", answer.difference}});
    return;
  }
  if (!answers.ended) return;
  report::Table table;
  table.title = fmt::format("{} on {}{}, if", rowText(question), changedOn(question.request()), reserveText(question));
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

}  // namespace tbem::driver
