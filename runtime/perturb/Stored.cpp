#include "runtime/perturb/Stored.h"

#include "runtime/perturb/KeptPoints.h"

#include <iterator>
#include <utility>

namespace tbem::perturb {

tl::expected<std::vector<Series>, Failure> stored(const Plan& plan, const std::vector<std::string>& gates,
                                                  const std::vector<Method>& methods, const std::string& store) {
  const Keeping keeping{store};
  Plan asStored = plan;
  asStored.keepInputs = false;
  asStored.energySeconds = 0;  // the machine that found them may have counted none
  auto kept = KeptPoints::open(keeping, store::Mode::ReadOnly);
  if (!kept) return tl::unexpected(kept.error());
  std::vector<Series> all;
  for (const Method& method : methods) {
    auto points = kept->of(method, asStored, plan.count, gates.size());
    if (!points) return tl::unexpected(points.error());
    if (points->empty()) continue;
    Series& series = all.emplace_back();
    series.word = method.word;
    series.text = method.text;
    series.gates = gates;
    series.stored = std::ssize(*points);
    for (auto& [example, found] : *points) series.points.push_back(std::move(found.point));
  }
  return all;
}

}  // namespace tbem::perturb
