#include "compiler/show/memory/PlanReport.h"

#include "compiler/plan/Pack.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace tbem::driver {

namespace {

/// Where complete search was not begun, the reason.
std::string unsearched(const estimate::PlanFile& plan) {
  return plan.ids.size() <= estimate::kMostSearched
             ? ""
             : fmt::format(" (complete search is for up to {} buffers)", estimate::kMostSearched);
}

}  // namespace

std::string bytesText(std::uint64_t bytes) { return fmt::format("{} ({} B)", report::bytes(bytes), bytes); }

void printPlan(show::Out& out, const estimate::BufferPlan& plan) {
  const estimate::PlanFile& file = plan.file;
  if (out.display.json) {
    Json offsets = Json::object();
    for (std::size_t i = 0; i < file.ids.size(); ++i) offsets[file.ids[i]] = file.offsets[i];
    out.json("plan", {{"buffers", file.ids.size()},
                      {"peak", plan.peak},
                      {"bound", plan.bound},
                      {"proved", plan.proved},
                      {"lowest", plan.isLowest()},
                      {"offsets", offsets}});
    return;
  }
  out.data(estimate::planText(file));
  std::string text = fmt::format("{} buffers in {}", file.ids.size(), bytesText(plan.peak));
  if (plan.isLowest())
    text += plan.peak == plan.bound ? ", the largest sum of live ones: no plan is lower"
                                    : ", no plan is lower: shown by complete search";
  else
    text += fmt::format("; no plan is lower than {}{}", bytesText(plan.proved), unsearched(file));
  out.note(text);
}

std::string whyNoPlan(const estimate::BufferPlan& plan, const estimate::PlanWish& wish) {
  if (plan.verdict == estimate::BufferPlan::Verdict::NoneFits)
    return fmt::format("no plan fits in {}: that was shown; the lowest that was found takes {}", bytesText(*wish.capacity),
                       bytesText(plan.peak));
  std::string looked = unsearched(plan.file);
  if (looked.empty()) looked = fmt::format(" in {} placements (--effort gives more)", wish.effort);
  return fmt::format("no plan that fits in {} was found{}; the lowest takes {}", bytesText(*wish.capacity), looked,
                     bytesText(plan.peak));
}

void printVerified(show::Out& out, const estimate::PlanFile& plan, std::uint64_t bound) {
  const std::uint64_t peak = estimate::topOf(plan);
  if (out.display.json)
    out.json("plan", {{"buffers", plan.ids.size()}, {"peak", peak}, {"bound", bound}, {"holds", true}});
  else
    out.print("{} buffers in {}: no two share a byte at one step; the largest sum of live ones is {}\n", plan.ids.size(),
              bytesText(peak), bytesText(bound));
}

void printDifferences(show::Out& out, const estimate::PlanFile& a, const estimate::PlanFile& b) {
  const std::vector<std::string> told = estimate::differences(a, b);
  const std::uint64_t before = estimate::topOf(a), after = estimate::topOf(b);
  if (out.display.json) {
    out.json("plan_diff", {{"before", before}, {"after", after}, {"differences", told}});
    return;
  }
  for (const std::string& line : told) out.print("{}\n", line);
  out.print("{} of {} and {} buffers differ; {} -> {}\n", told.size(), a.ids.size(), b.ids.size(), bytesText(before),
            bytesText(after));
}

}  // namespace tbem::driver
