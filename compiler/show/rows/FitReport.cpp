#include "compiler/show/rows/FitReport.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

std::vector<report::Cell> cellsOf(const FitDesign& design, const FitRow& row) {
  const Fit& fit = row.fit;
  std::vector<report::Cell> cells;
  for (std::size_t f = 0; f < row.levels.size(); ++f) {
    if (f != design.factor) cells.emplace_back(design.run->spec.factors[f].levels[row.levels[f]].text);
  }
  cells.emplace_back(fit.largest ? std::to_string(*fit.largest) : "none");
  cells.emplace_back(fit.largest ? report::bytes(row.bytes) : "");
  if (design.onCard) cells.emplace_back(fit.most ? std::to_string(*fit.most) : "");
  cells.emplace_back(fit.failing     ? fmt::format("{}: {}", *fit.failing, row.whyFails)
                     : fit.bound     ? fmt::format("bounded: {} cannot be built: {}", *fit.bound, row.whyBound)
                     : fit.workEnded ? "not known: the limit of work was reached"
                                     : fmt::format("all up to {} fit", LevelSearch::kMostLevel));
  return cells;
}

void printTable(show::Out& out, const FitAnswers& answers, const FitDesign& design) {
  const FitLimit& limit = answers.limit;
  const std::string& vary = answers.vary;
  report::Table table;
  table.title = fmt::format("the largest {} of {} on {} within {}{}", vary, design.run->spec.name, design.backend, limit.text(),
                            limit.upper      ? ", with each convolution's largest engine too"
                            : limit.reserved ? ", as the allocator reserves where it may"
                                             : "");
  for (std::size_t f = 0; f < design.run->spec.factors.size(); ++f) {
    if (f != design.factor) table.columns.push_back({design.run->spec.factors[f].name, report::Align::Right});
  }
  table.columns.push_back({vary, report::Align::Right});
  table.columns.push_back({"takes", report::Align::Decimal});
  if (design.onCard) table.columns.push_back({"none above", report::Align::Right});
  table.columns.push_back({"the next one", report::Align::Left});
  for (const FitRow& row : design.rows) table.add(cellsOf(design, row));
  if (!table.rows.empty()) out.ranked(std::move(table));
}

void printRowJson(show::Out& out, const FitAnswers& answers, const FitDesign& design, const FitRow& row) {
  const FitLimit& limit = answers.limit;
  const Fit& fit = row.fit;
  Json others = design.run->levels(row.levels);
  others.erase(design.run->spec.factors[design.factor].name);
  Json fields = {{"design", design.run->spec.name},
                 {"levels", others},
                 {"factor", answers.vary},
                 {"backend", design.backend},
                 {"limit", limit.bytes},
                 {"reserve", limit.reserve},
                 {"upper", limit.upper},
                 {"largest", nullptr},
                 {"none_above", nullptr},
                 {"memory", nullptr},
                 {"failing", nullptr},
                 {"reason", nullptr},
                 {"checked_from", nullptr},
                 {"tried", row.tried},
                 {"bound", nullptr},
                 {"bounded_by", nullptr},
                 {"ended_by_work", fit.workEnded}};
  if (!design.inPyTorch) fields["unknown_workspaces"] = row.unknownWorkspaces;
  if (fit.bound) {
    fields["bound"] = *fit.bound;
    fields["bounded_by"] = row.whyBound;
  }
  if (fit.most) fields["none_above"] = *fit.most;
  if (fit.largest) {
    fields["largest"] = *fit.largest;
    fields["memory"] = row.bytes;
  }
  if (fit.failing) {
    fields["failing"] = *fit.failing;
    fields["reason"] = row.whyFails;
    fields["checked_from"] = fit.checkedFrom;
  }
  out.json("fit", std::move(fields));
}

}  // namespace

void printFits(show::Out& out, const FitAnswers& answers) {
  for (const FitDesign& design : answers.designs) {
    if (!out.display.json) printTable(out, answers, design);
    for (const FitRow& row : design.rows) {
      if (out.display.json) printRowJson(out, answers, design, row);
    }
    if (!design.refusal.empty()) out.failure(design.refusal);
  }
}

}  // namespace tbem::driver
