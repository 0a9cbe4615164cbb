#include "compiler/show/rows/StepReport.h"

#include "compiler/show/measured/GateCounts.h"
#include "runtime/measure/Quantile.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

Json latencyJson(const std::vector<double>& sorted) {
  return {{"median", measure::quantileOfSorted(sorted, 0.5)},
          {"p05", measure::quantileOfSorted(sorted, 0.05)},
          {"p95", measure::quantileOfSorted(sorted, 0.95)}};
}

Json notFiniteJson(const StepOutcome& outcome) {
  Json list = Json::array();
  for (const NotFinite& one : outcome.notFinite) list.push_back({{"array", one.array}, {"count", one.count}, {"of", one.of}});
  return list;
}

/// What is wrong with the numbers of the step, a line each.
void sayNotFinite(show::Out& out, const StepOutcome& outcome) {
  if (outcome.loss && !std::isfinite(*outcome.loss)) out.print("the loss is not finite ({})\n", report::notFinite(*outcome.loss));
  constexpr std::size_t kShown = 8;
  std::vector<std::string> texts;
  for (const NotFinite& one : outcome.notFinite) {
    if (texts.size() < kShown) texts.push_back(fmt::format("{} ({} of {})", one.array, one.count, one.of));
  }
  if (texts.empty()) return;
  const std::size_t more = outcome.notFinite.size() - texts.size();
  out.print("numbers that are not finite: {}{}\n", fmt::join(texts, ", "),
            more == 0 ? "" : fmt::format(", {} more arrays", more));
}

void printJson(show::Out& out, const RowState& row, const std::string& backend, const StepOutcome& outcome,
               const std::string& saved) {
  Json fields = {{"network", row.elaborated->graph().network},
                 {"design", row.run->spec.name},
                 {"row", row.row},
                 {"levels", row.run->levels(row.row)},
                 {"backend", backend},
                 {"loss", outcome.loss ? Json(*outcome.loss) : Json()},
                 {"seconds", outcome.seconds},
                 {"saved", saved.empty() ? Json() : Json(saved)}};
  if (outcome.flops) {
    fields["gates"] = gatesJson(runtime::countsOf(outcome.decisions));
    fields["flops_executed"] = Json::parse(*outcome.flops);
  }
  fields["not_finite"] = notFiniteJson(outcome);
  if (!outcome.again.empty()) fields["latency"] = latencyJson(outcome.again);
  out.json("step", std::move(fields));
}

}  // namespace

void printStep(show::Out& out, const RowState& row, const std::string& backend, const StepOutcome& outcome,
               const std::string& saved) {
  if (out.display.json) {
    printJson(out, row, backend, outcome, saved);
    return;
  }
  out.print("{} ({}) on {}: ", row.elaborated->graph().network, row.run->levelsText(row.row), backend);
  // The sign of what is not a number says nothing.
  if (outcome.loss) out.print("loss {:.9g}, ", std::isnan(*outcome.loss) ? std::abs(*outcome.loss) : *outcome.loss);
  if (!outcome.again.empty()) {
    out.print("median of {} more: {}, first: ", outcome.again.size(),
              report::seconds(measure::quantileOfSorted(outcome.again, 0.5)));
  }
  if (outcome.flops) out.print("{} executed, ", report::flops(std::stod(*outcome.flops)));
  out.print("{}\n", report::seconds(outcome.seconds));
  for (const runtime::GateCount& gate : runtime::countsOf(outcome.decisions)) out.print("  {}\n", gateText(gate));
  sayNotFinite(out, outcome);
  if (!saved.empty()) out.print("saved {}\n", saved);
}

}  // namespace tbem::driver
