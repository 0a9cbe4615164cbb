#include "compiler/show/memory/KindsReport.h"

#include "compiler/run/OwnLibraries.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tbem::driver {

std::uint64_t memoryOf(const estimate::Estimate& estimate) {
  return estimate.device ? estimate.device->arena : estimate.memory.bytes;
}

std::string peakWords(const std::string& name) { return name == "reorder" ? "a change of layout (reorder)" : name; }

void printPeakPlace(show::Out& out, const Workspace& workspace, const estimate::Estimate& worst) {
  const SourceManager& sources = workspace.session.sources;
  const estimate::PeakAt& peak = worst.peak;
  if (peak.name.empty()) return;
  const bool inside = peak.use.valid() && peak.use.begin != peak.range.begin;
  // What moves samples behind a gate stands nowhere in the program.
  out.say("the peak is at {}{}{}{}\n", peakWords(peak.name),
          peak.range.valid() ? fmt::format(", {}", sources.describe(peak.range.begin)) : "",
          peak.scope.empty() ? "" : fmt::format(", in {}", peak.scope),
          inside ? fmt::format(" ({})", sources.describe(peak.use.begin)) : "");
  const std::string arena = worst.device ? report::bytes(worst.device->arena) : "";
  const std::string asWritten = worst.device ? report::bytes(worst.device->arenaAsWritten) : "";
  if (asWritten != arena)
    out.say("another order of the operators than the program's: arena {} instead of {}\n", arena, asWritten);
  if (worst.device && worst.device->unknownWorkspaces != 0) out.say("{}\n", withoutWorkspaces(worst.device->unknownWorkspaces));
  if (worst.device && worst.device->assumed != 0) {
    out.say(
        "{} calls take the default algorithm: what else there is was not timed on this machine yet (measure --tune on does)\n",
        worst.device->assumed);
  }
}

void printKinds(show::Out& out, const Workspace& workspace, const estimate::Estimate& worst, const std::string& levels) {
  const std::uint64_t* kinds = worst.device ? worst.device->kinds : worst.memory.kinds;
  const std::uint64_t total = memoryOf(worst);
  report::Table table;
  table.title = fmt::format("memory at the peak of {}", levels);
  table.columns = {{"kind", report::Align::Left}, {"bytes", report::Align::Decimal}, {"share", report::Align::Decimal}};
  const auto share = [total](std::uint64_t bytes) {
    return total == 0 ? std::string() : report::percent(static_cast<double>(bytes) / static_cast<double>(total));
  };
  for (std::size_t k = 0; k < estimate::kKinds; ++k) {
    if (kinds[k] != 0)
      table.add({std::string(estimate::kindName(static_cast<estimate::Kind>(k))), report::bytes(kinds[k]), share(kinds[k])});
  }
  if (worst.device) table.add({"gaps", report::bytes(worst.device->gaps), share(worst.device->gaps)});
  table.rules.push_back(table.rows.size());
  table.add({worst.device ? "arena" : "static", report::bytes(total), share(total)});
  out.table(table);
  printPeakPlace(out, workspace, worst);
}

void sayKinds(show::Out& out, const estimate::Estimate& worst, const std::string& levels) {
  const std::uint64_t* kinds = worst.device ? worst.device->kinds : worst.memory.kinds;
  const std::uint64_t total = memoryOf(worst);
  std::vector<std::pair<std::uint64_t, std::string_view>> parts;
  for (std::size_t k = 0; k < estimate::kKinds; ++k) {
    if (kinds[k] >= total / 100 && kinds[k] != 0)
      parts.emplace_back(kinds[k], estimate::kindName(static_cast<estimate::Kind>(k)));
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [bytes, name] : parts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, report::bytes(bytes));
  out.say("memory at the peak of {}: {}{}{}\n", levels.empty() ? "the row" : levels, report::bytes(total),
          text.empty() ? "" : ": ", text);
}

}  // namespace tbem::driver
