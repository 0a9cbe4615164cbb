#include "compiler/experiment/Observations.h"

#include "compiler/show/Out.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace tbem::driver {

std::vector<store::Stored> repeatsOf(show::Out& out, store::Store& store, const CaseRow& row) {
  const std::vector<std::string> identity = {row.identity};
  auto found = store.results(identity);
  if (!found) {
    out.failure(found.error().message);
    return {};
  }
  std::erase_if(*found, [&](const store::Stored& one) { return one.key.repeat >= row.plan->repeats; });
  return std::move(*found);
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

std::vector<Place> placesOf(const DesignRun& run, const std::vector<CaseRow>& rows) {
  std::vector<Place> places;
  for (const CaseRow& row : rows) {
    Place place{row.backend, text(row.plan->tuning)};
    if (row.plan->run == &run && std::find(places.begin(), places.end(), place) == places.end())
      places.push_back(std::move(place));
  }
  return places;
}

std::vector<Observation> observationsOf(show::Out& out, const DesignRun& run, const Place& place,
                                        const std::vector<CaseRow>& rows, store::Store& store) {
  std::vector<Observation> observations;
  std::map<std::pair<std::string, LevelIndices>, std::size_t> known;
  for (const CaseRow& row : rows) {
    if (row.plan->run != &run || Place{row.backend, text(row.plan->tuning)} != place) continue;
    const auto [entry, isNew] = known.try_emplace({row.identity, run.rows[row.row]}, observations.size());
    if (isNew) observations.push_back({&row, {}});
    Observation& observation = observations[entry->second];
    std::vector<store::Stored> repeats = repeatsOf(out, store, row);
    if (repeats.size() > observation.repeats.size()) observation.repeats = std::move(repeats);
  }
  return observations;
}

}  // namespace tbem::driver
