#include "runtime/report/Rises.h"

#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::report {

namespace {

constexpr double kLeastShare = 0.005;

std::string phaseAt(const Timeline& timeline, std::size_t moment) {
  std::string name;
  for (const Timeline::Phase& phase : timeline.phases) {
    if (phase.from <= moment) name = phase.name;
  }
  return name;
}

/// The kind that grows most.
std::string grownKind(const Timeline& timeline, std::size_t moment) {
  std::size_t most = 0;
  double growth = 0;
  for (std::size_t k = 0; k < timeline.kinds.size(); ++k) {
    const double before = moment == 0 ? 0 : timeline.moments[moment - 1].bytes[k];
    const double more = timeline.moments[moment].bytes[k] - before;
    if (more <= growth) continue;
    growth = more;
    most = k;
  }
  return timeline.kinds[most];
}

}  // namespace

Rises risesOf(Timeline& timeline, const std::string& prefix, std::size_t most) {
  std::vector<double> rise;
  double highest = 0, before = 0;
  for (const Timeline::Moment& moment : timeline.moments) {
    rise.push_back(moment.sum() - before);
    before = moment.sum();
    highest = std::max(highest, before);
  }
  std::vector<std::size_t> shown;
  std::size_t all = 0;
  for (std::size_t m = 0; m < rise.size(); ++m) {
    all += rise[m] > 0 ? 1 : 0;
    if (rise[m] > 0 && rise[m] >= kLeastShare * highest) shown.push_back(m);
  }
  std::ranges::stable_sort(shown, [&](std::size_t a, std::size_t b) { return rise[a] > rise[b]; });
  shown.resize(std::min(shown.size(), most));
  std::ranges::sort(shown);
  Rises made;
  made.table.title = fmt::format("what raises it: {} of {} rises", shown.size(), all);
  made.table.columns = {{"moment", Align::Right},       {"phase", Align::Left},   {"operator and line", Align::Left},
                        {"mostly", Align::Left},        {"rise", Align::Decimal}, {"memory then", Align::Decimal},
                        {"of the peak", Align::Decimal}};
  for (const std::size_t m : shown) {
    Timeline::Moment& moment = timeline.moments[m];
    made.anchors.push_back(fmt::format("{}{}", prefix, m + 1));
    moment.link = "#" + made.anchors.back();
    const bool peak = moment.sum() == highest;
    made.table.add({std::to_string(m + 1),
                    phaseAt(timeline, m),
                    moment.label,
                    grownKind(timeline, m),
                    bytes(static_cast<std::uint64_t>(rise[m])),
                    bytes(static_cast<std::uint64_t>(moment.sum())),
                    {percent(moment.sum() / highest), peak ? Tone::Warn : Tone::Plain}});
  }
  return made;
}

}  // namespace tbem::report
