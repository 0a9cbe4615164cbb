#include "compiler/show/memory/RooflineReport.h"

#include "compiler/show/Out.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

std::string intensityText(double value) { return report::number(value, 3); }

/// Steps of one name at one place of the text, which a loop or a block may make many of.
struct Group {
  const estimate::StepCost* first = nullptr;
  std::size_t count = 0;
  std::size_t computeBound = 0;
  estimate::Count flops = 0;
  std::uint64_t bytes = 0;
  double seconds = 0;
};

std::vector<Group> groupsOf(const estimate::Roofline& roofline) {
  std::vector<Group> groups;
  for (const estimate::StepCost& step : roofline.steps) {
    auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.first->name == step.name && group.first->range.begin == step.range.begin;
    });
    if (at == groups.end()) at = groups.insert(groups.end(), Group{&step, 0, 0, 0, 0, 0});
    ++at->count;
    at->computeBound += step.bound == estimate::Bound::Compute ? 1 : 0;
    at->flops += step.flops;
    at->bytes += step.bytes;
    at->seconds += step.seconds;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.seconds > b.seconds; });
  return groups;
}

std::string boundText(const Group& group) {
  if (group.computeBound == group.count) return "compute";
  return group.computeBound == 0 ? "memory" : fmt::format("compute {} of {}", group.computeBound, group.count);
}

}  // namespace

void addRooflineColumns(report::Table& table) {
  table.columns.push_back({"bytes moved", report::Align::Decimal});
  table.columns.push_back({"FLOP/B", report::Align::Decimal});
  table.columns.push_back({"least time", report::Align::Decimal});
}

void addRooflineCells(std::vector<report::Cell>& cells, const estimate::Roofline& roofline) {
  cells.emplace_back(report::bytes(roofline.bytes));
  cells.emplace_back(intensityText(roofline.intensity()));
  cells.emplace_back(report::seconds(roofline.seconds));
}

void printRoofline(show::Out& out, const Workspace& workspace, const estimate::Roofline& roofline, const std::string& levels) {
  constexpr std::size_t kShown = 12;
  const std::vector<Group> groups = groupsOf(roofline);
  const SourceManager& sources = workspace.session.sources;
  report::Table table;
  table.title = fmt::format("least time of {} on {}{}", levels, roofline.device,
                            roofline.type.empty() ? "" : ", products in " + roofline.type);
  table.columns = {{"operator", report::Align::Left},       {"at", report::Align::Left},
                   {"times", report::Align::Right},         {"FLOPs", report::Align::Decimal},
                   {"bytes moved", report::Align::Decimal}, {"FLOP/B", report::Align::Decimal},
                   {"least time", report::Align::Decimal},  {"share", report::Align::Decimal},
                   {"bound by", report::Align::Left}};
  const auto share = [&](double seconds) {
    return roofline.stepSeconds > 0 ? report::percent(seconds / roofline.stepSeconds) : "";
  };
  Group rest;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    if (i >= kShown) {
      rest.count += group.count;
      rest.flops += group.flops;
      rest.bytes += group.bytes;
      rest.seconds += group.seconds;
      continue;
    }
    const double bytes = static_cast<double>(group.bytes);
    table.add({group.first->name, sources.describe(group.first->range.begin), std::to_string(group.count),
               report::flops(estimate::toDouble(group.flops)), report::bytes(group.bytes),
               intensityText(bytes > 0 ? estimate::toDouble(group.flops) / bytes : 0), report::seconds(group.seconds),
               share(group.seconds), boundText(group)});
  }
  if (rest.count != 0) {
    table.add({fmt::format("{} others", groups.size() - kShown), "", std::to_string(rest.count),
               report::flops(estimate::toDouble(rest.flops)), report::bytes(rest.bytes), "", report::seconds(rest.seconds),
               share(rest.seconds), ""});
  }
  table.rules.push_back(table.rows.size());
  table.add({roofline.branches.empty() ? "step" : "all branches", "", std::to_string(roofline.steps.size()),
             report::flops(estimate::toDouble(roofline.flops)), report::bytes(roofline.bytes),
             intensityText(roofline.intensity()), report::seconds(roofline.stepSeconds), share(roofline.stepSeconds),
             fmt::format("compute {}", share(roofline.computeSeconds))});
  out.table(table);
  if (roofline.wholeNumbers != 0)
    out.say("{} operations on whole numbers have no rate: their operators count by the bytes that they move\n",
            estimate::toString(roofline.wholeNumbers));
  for (const estimate::LeftOut& left : roofline.leftOut)
    out.say("left out: {} in {}, of {}: {} has no such rate, so they count by the bytes that they move\n",
            report::flops(estimate::toDouble(left.flops)), left.type, fmt::join(left.operators, ", "), roofline.device);
}

}  // namespace tbem::driver
