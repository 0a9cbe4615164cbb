#include "compiler/experiment/Observations.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace tbem::driver {

tl::expected<StoredRows, Failed> StoredRows::read(store::Store& store, const std::vector<CaseRow>& rows) {
  StoredRows stored;
  for (const CaseRow& row : rows) {
    const auto [place, isNew] = stored.byIdentity.try_emplace(row.identity);
    if (!isNew) continue;
    auto found = store.results(std::vector<std::string>{row.identity});
    if (!found) return failed(kEnvironment, found.error().message);
    place->second = std::move(*found);
  }
  return stored;
}

std::vector<store::Stored> StoredRows::repeatsOf(const CaseRow& row) const {
  const auto found = byIdentity.find(row.identity);
  if (found == byIdentity.end()) return {};
  std::vector<store::Stored> repeats = found->second;
  std::erase_if(repeats, [&](const store::Stored& repeat) { return repeat.key.repeat >= row.plan->repeats; });
  return repeats;
}

namespace {

/// As CaseRow::machine has them: ".., 4 threads, ..".
std::optional<unsigned> threadsIn(std::string_view machine) {
  const std::size_t end = machine.find(" threads");
  if (end == std::string_view::npos) return std::nullopt;
  const std::size_t begin = machine.find_last_not_of("0123456789", end - 1) + 1;
  unsigned threads = 0;
  const auto read = std::from_chars(machine.data() + begin, machine.data() + end, threads);
  return read.ec == std::errc() ? std::optional(threads) : std::nullopt;
}

}  // namespace

std::vector<unsigned> threadsMeasured(store::Store& store, const std::vector<CaseRow>& rows) {
  std::set<std::string> designs;
  for (const CaseRow& row : rows) designs.insert(row.plan->run->spec.name);
  std::map<unsigned, std::size_t> counts;
  for (const std::string& design : designs) {
    const auto found = store.results(design);
    if (!found) continue;  // told where the rows themselves are read
    for (const store::Stored& one : *found) {
      if (const auto threads = threadsIn(one.value.machine)) ++counts[*threads];
    }
  }
  std::vector<unsigned> order;
  for (const auto& [threads, count] : counts) order.push_back(threads);
  std::ranges::stable_sort(order, [&](unsigned a, unsigned b) { return counts[a] > counts[b]; });
  return order;
}

std::vector<unsigned> threadsOf(const std::vector<CaseRow>& rows) {
  std::set<unsigned> all;
  for (const CaseRow& row : rows) {
    if (const auto threads = threadsIn(row.machine)) all.insert(*threads);
  }
  return {all.begin(), all.end()};
}

std::string Place::text() const {
  return backend + (tune == "off" ? "" : ", tune " + tune) + (examples.empty() ? "" : ", over " + examples);
}

Place placeOf(const CaseRow& row) {
  return {row.backend, text(row.plan->tuning), row.plan->examples ? row.plan->examples->text() : ""};
}

std::vector<Place> placesOf(const DesignRun& run, const std::vector<CaseRow>& rows) {
  std::vector<Place> places;
  for (const CaseRow& row : rows) {
    Place place = placeOf(row);
    if (row.plan->run == &run && std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(std::move(place));
  }
  return places;
}

std::vector<Observation> observationsOf(const DesignRun& run, const Place& place, const std::vector<CaseRow>& rows,
                                        const StoredRows& stored) {
  std::vector<Observation> observations;
  std::map<std::pair<std::string, LevelIndices>, std::size_t> known;
  for (const CaseRow& row : rows) {
    if (row.plan->run != &run || placeOf(row) != place) continue;
    const auto [entry, isNew] = known.try_emplace({row.identity, run.rows[row.row]}, observations.size());
    if (isNew) observations.push_back({&row, {}});
    Observation& observation = observations[entry->second];
    std::vector<store::Stored> repeats = stored.repeatsOf(row);
    if (repeats.size() > observation.repeats.size()) observation.repeats = std::move(repeats);
  }
  return observations;
}

}  // namespace tbem::driver
