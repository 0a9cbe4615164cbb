#include "runtime/perturb/Pictured.h"

#include "runtime/perturb/Examples.h"
#include "runtime/perturb/KeptPoints.h"

#include <algorithm>
#include <map>

namespace tbem::perturb {

namespace {

struct Raised {
  double by = 0;
  std::vector<std::size_t> places;
};

}  // namespace

tl::expected<std::vector<Pictured>, Failure> pictured(const Plan& plan, const data::Dataset& dataset,
                                                      const std::vector<Series>& series, std::size_t most) {
  std::map<std::int64_t, Raised> raised;
  for (const Series& each : series) {
    for (std::size_t place = 0; place < each.points.size(); ++place) {
      Raised& example = raised[each.points[place].example];
      example.by += each.points[place].flops - each.points[place].flopsBefore;
      example.places.push_back(place);
    }
  }
  std::vector<Pictured> all;
  for (const auto& [example, of] : raised) {
    if (of.places.size() == series.size() && of.by > 0) all.push_back({example, {}, of.places, {}});
  }
  std::ranges::stable_sort(all, std::ranges::greater{}, [&](const Pictured& each) { return raised[each.example].by; });
  all.resize(std::min(all.size(), most));
  Plan alone = plan;  // a batch is one example
  alone.batch = 1;
  const Examples examples(alone, dataset);
  for (Pictured& each : all) {
    auto batch = examples.read(each.example);
    if (!batch) return tl::unexpected(batch.error());
    each.numbers = std::move(batch->inputs);
  }
  return all;
}

tl::expected<void, Failure> readPoints(const Plan& plan, const std::vector<Series>& series, const std::vector<Method>& methods,
                                       const std::string& store, std::vector<Pictured>& pictured) {
  const Keeping keeping{store};
  auto kept = KeptPoints::open(keeping, store::Mode::ReadOnly);
  if (!kept) return tl::unexpected(kept.error());
  Plan withInputs = plan;
  withInputs.keepInputs = true;
  for (const Series& each : series) {
    const auto method = std::ranges::find(methods, each.text, &Method::text);
    auto points = kept->of(*method, withInputs, plan.count, each.gates.size());
    if (!points) return tl::unexpected(points.error());
    for (Pictured& example : pictured) example.points.push_back(std::move(points->at(example.example).input));
  }
  return {};
}

}  // namespace tbem::perturb
