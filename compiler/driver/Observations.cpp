#include "compiler/driver/Observations.h"

#include "compiler/driver/Output.h"

#include <algorithm>
#include <map>

namespace tbem::driver {

std::vector<store::Stored> repeatsOf(store::Store& store, const CaseRow& row) {
  const std::vector<std::string> identity = {row.identity};
  auto found = store.results(identity);
  if (!found) {
    printFailure(found.error().message);
    return {};
  }
  std::erase_if(*found, [&](const store::Stored& one) { return one.key.repeat >= row.plan->repeats; });
  return std::move(*found);
}

std::vector<Place> placesOf(const DesignRun& run, const std::vector<CaseRow>& rows) {
  std::vector<Place> places;
  for (const CaseRow& row : rows) {
    Place place{row.backend, text(row.plan->tuning)};
    if (row.plan->run == &run && std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(std::move(place));
  }
  return places;
}

std::vector<Observation> observationsOf(const DesignRun& run, const Place& place, const std::vector<CaseRow>& rows,
                                        store::Store& store) {
  std::vector<Observation> observations;
  std::map<std::pair<std::string, LevelIndices>, std::size_t> known;
  for (const CaseRow& row : rows) {
    if (row.plan->run != &run || Place{row.backend, text(row.plan->tuning)} != place) continue;
    const auto [entry, isNew] = known.try_emplace({row.identity, run.rows[row.row]}, observations.size());
    if (isNew) observations.push_back({&row, {}});
    Observation& observation = observations[entry->second];
    std::vector<store::Stored> repeats = repeatsOf(store, row);
    if (repeats.size() > observation.repeats.size()) observation.repeats = std::move(repeats);
  }
  return observations;
}

}  // namespace tbem::driver
