#include "compiler/design/choose/Catalogue.h"

#include "compiler/design/field/Hadamard.h"
#include "compiler/design/field/LinearArrays.h"
#include "compiler/design/field/Products.h"
#include "compiler/design/field/SpecialArrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace tbem::design {

namespace {

constexpr std::size_t kMostVariants = 60;      // arrays of one size that larger ones are made of
constexpr std::size_t kMostArrays = 120;       // candidates of one size
constexpr std::uint64_t kLargestVaried = 200;  // runs up to which all variants are tried
constexpr std::uint64_t kMostLevels = 65536;

/// Ascending, without 1 and the number itself.
std::vector<std::uint64_t> divisorsOf(std::uint64_t number) {
  std::vector<std::uint64_t> small, all;
  for (std::uint64_t d = 2; d * d <= number; ++d) {
    if (number % d == 0) small.push_back(d);
  }
  all = small;
  for (auto d = small.rbegin(); d != small.rend(); ++d) {
    if (*d * *d != number) all.push_back(number / *d);
  }
  return all;
}

}  // namespace

void keepLargest(std::vector<Candidate>& candidates) {
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) order.emplace_back(candidates[i].columns.freedoms(), i);
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.first > b.first || (a.first == b.first && a.second < b.second); });
  std::vector<Candidate> kept;
  std::vector<std::uint64_t> kinds;  // of each, a bit for its numbers of levels: most have not all of another's
  for (const auto& [freedoms, i] : order) {
    if (kept.size() == kMostArrays) break;
    const Columns& columns = candidates[i].columns;
    std::uint64_t own = 0;
    for (const auto& [s, count] : columns) own |= std::uint64_t{1} << (s % 64);
    bool part = false;
    for (std::size_t k = 0; k < kept.size() && !part; ++k) part = (own & ~kinds[k]) == 0 && kept[k].columns.contains(columns);
    if (part) continue;
    kept.push_back(std::move(candidates[i]));
    kinds.push_back(own);
  }
  candidates = std::move(kept);
}

BaseArray Candidate::plain() const {
  BaseArray array = describe();
  array.columns = columns;
  return array;
}

Variant Variant::replaced(std::uint32_t levels, std::uint64_t times, const Candidate& by) const {
  Variant result = *this;
  result.columns.remove(levels, times);
  result.columns.add(by.columns, times);
  if (replacements.empty() && base->runs == levels) {
    result.base = &by;
  } else {
    result.replacements.push_back({levels, times, &by});
  }
  return result;
}

Composite Variant::composite() const {
  Composite result{base->describe(), {}, columns};
  for (const Replacement& each : replacements) result.replacements.push_back({each.levels, each.times, each.by->describe()});
  return result;
}

Demand::Demand(std::uint32_t strength, const Columns& wanted) : strength(strength) {
  for (const auto& [s, count] : wanted) needs.push_back({s, wanted.freedomsOver(s)});
}

bool Demand::fits(const Columns& columns) const {
  return std::all_of(needs.begin(), needs.end(),
                     [&](const Need& need) { return columns.freedomsOver(need.divisor) >= need.freedoms; });
}

void Demand::keepUseful(const Columns& columns, Columns& result) const {
  result.clear();
  for (const auto& [s, count] : columns) result.add(s, isUseful(s) ? count : 0);
}

bool Demand::isUseful(std::uint32_t levels) const {
  const bool factor = strength > 2 || levels == 2;  // of strength two, only columns of two levels are multiplied
  return std::any_of(needs.begin(), needs.end(),
                     [&](const Need& need) { return levels % need.divisor == 0 || (factor && need.divisor % levels == 0); });
}

void Catalogue::Found::offer(BaseArray array) {
  const std::uint64_t runs = array.runs;
  const Columns columns = array.columns;
  offer(runs, columns, [array = std::move(array)] { return array; });
}

bool Catalogue::Found::insert() {
  if (2 * candidates.size() >= slots.size()) {  // twice as many, and all find their places anew
    slots.assign(std::max<std::size_t>(64, 2 * slots.size()), 0);
    for (std::uint32_t i = 0; i < candidates.size(); ++i) slots[slotOf(candidates[i].columns)] = i + 1;
  }
  const std::size_t at = slotOf(useful);
  if (slots[at] != 0) return false;
  slots[at] = static_cast<std::uint32_t>(candidates.size()) + 1;
  return true;
}

std::size_t Catalogue::Found::slotOf(const Columns& columns) const {
  std::size_t at = ColumnsHash{}(columns) & (slots.size() - 1);
  while (slots[at] != 0 && !(candidates[slots[at] - 1].columns == columns)) at = (at + 1) & (slots.size() - 1);
  return at;
}

bool Catalogue::kroneckerMayFit(std::uint32_t n, std::uint32_t m) {
  const std::uint32_t common = std::gcd(n, m);
  return std::all_of(demand.needs.begin(), demand.needs.end(), [&](const Demand::Need& need) {
    std::uint64_t room = (n % need.divisor == 0 ? n - 1 : 0) + (m % need.divisor == 0 ? m - 1 : 0);
    std::uint32_t most = 1;
    for (std::uint32_t s = need.divisor; s <= common && room + std::uint64_t{n - 1} * (most - 1) < need.freedoms;
         s += need.divisor) {
      if (common % s == 0) most = std::max(most, schemes.columns(m, s));
    }
    return room + std::uint64_t{n - 1} * (most - 1) >= need.freedoms;
  });
}

const std::vector<Catalogue::Factor>& Catalogue::factors(std::uint32_t n, std::uint32_t common) {
  const auto [at, isNew] = knownFactors.try_emplace({n, common});
  std::vector<Factor>& kept = at->second;
  if (!isNew) return kept;
  for (const Variant& variant : variants(n)) {
    Factor factor{{}, &variant};
    for (const auto& [s, count] : variant.columns) factor.columns.add(s, common % s == 0 ? count : 0);
    const auto covers = [](const Factor& outer, const Factor& inner) { return outer.columns.contains(inner.columns); };
    if (std::any_of(kept.begin(), kept.end(), [&](const Factor& other) { return covers(other, factor); })) continue;
    std::erase_if(kept, [&](const Factor& other) { return covers(factor, other); });
    kept.push_back(std::move(factor));
  }
  return kept;
}

void Catalogue::addKronecker(std::uint32_t n, std::uint32_t m, Found& found) {
  if (found.roomy && !kroneckerMayFit(n, m)) return;
  const bool usefulN = demand.isUseful(n), usefulM = demand.isUseful(m);
  for (const Factor& a : factors(n, std::gcd(n, m))) {
    kroneckerColumns(schemes, n, m, a.columns, found.useful);
    if (!usefulN) found.useful.remove(n);
    if (!usefulM) found.useful.remove(m);
    const Variant& of = *a.of;
    found.offerUseful(std::uint64_t{n} * m, [n, m, &of] { return kroneckerProduct(n, m, of.composite()); });
  }
}

void Catalogue::addMerged(std::uint32_t n, std::uint32_t m, Found& found) {
  if ((n & (n - 1)) != 0 || m % 4 != 0 || !hadamardReaches(m)) return;
  const bool useful = demand.isUseful(2 * n);
  for (const Variant& c : variants(m)) {
    if (c.columns.count(2) == 0) continue;  // else they are useful
    mergedColumns(n, m, c.columns, found.useful);
    if (!useful) found.useful.remove(2 * n);
    found.offerUseful(std::uint64_t{n} * m, [n, m, &c] { return mergedProduct(n, m, c.composite()); });
  }
}

void Catalogue::addOfStrengthTwo(std::uint64_t runs, Found& found) {
  for (BaseArray& array : specialArrays(runs)) found.offer(std::move(array));
  if (runs >= 4 && runs <= kLargestHadamard && hadamardReaches(static_cast<std::uint32_t>(runs))) {
    const auto order = static_cast<std::uint32_t>(runs);
    found.offer({runs, {{2, runs - 1}}, fmt::format("Hadamard matrix of order {}", runs), [order](const Columns& wanted) {
                   return hadamardArray(order, static_cast<std::uint32_t>(wanted.count(2)));
                 }});
  }
  if (runs == 72) {
    for (const Variant& twelve : variants(12)) {
      if (twelve.columns.count(2) != 0) found.offer(extendedTwelve(twelve.composite()));
    }
  }
  for (const std::uint64_t divisor : divisorsOf(runs)) {
    if (divisor > kMostLevels || runs / divisor > kMostLevels) continue;
    const auto n = static_cast<std::uint32_t>(divisor), m = static_cast<std::uint32_t>(runs / divisor);
    addKronecker(n, m, found);
    addMerged(n, m, found);
  }
}

void Catalogue::addOfHigherStrength(std::uint64_t runs, Found& found) {
  for (BaseArray& array : codeArrays(runs, strength)) found.offer(std::move(array));
  if (strength == 3) {
    for (BaseArray& array : specialArraysOfStrengthThree(runs)) found.offer(std::move(array));
    if (runs % 8 == 0 && runs / 2 <= kLargestHadamard && hadamardReaches(static_cast<std::uint32_t>(runs / 2))) {
      const auto rows = static_cast<std::uint32_t>(runs);
      found.offer({runs,
                   {{2, runs / 2}},
                   fmt::format("Hadamard matrix of order {} and its negative", runs / 2),
                   [rows](const Columns& wanted) { return foldoverArray(rows, static_cast<std::uint32_t>(wanted.count(2))); }});
    }
    for (std::uint32_t n = 4; n <= kLargestHadamard && std::uint64_t{4} * n <= runs; n += 4) {
      if (runs % (std::uint64_t{2} * n) != 0 || !hadamardReaches(n)) continue;
      found.offer(wideFoldover(n, static_cast<std::uint32_t>(runs / 2 / n)));
    }
  }
  for (std::uint64_t n = 2; n * n <= runs; ++n) {
    if (runs % n != 0 || runs / n > kMostLevels) continue;
    const std::uint64_t m = runs / n;
    found.offer(gridProduct(n, m));
    for (const Candidate& a : arrays(n)) {
      for (const Candidate& b : arrays(m)) {
        if (a.columns.size() != 1 || b.columns.size() != 1) continue;
        found.offer(runs, pairedColumns(a.columns, b.columns), [&a, &b] { return pairedProduct(a.plain(), b.plain()); });
      }
    }
  }
}

std::vector<Candidate> Catalogue::candidatesFor(std::uint64_t runs, bool roomy) {
  Found found{demand, roomy, {}, {}, {}};
  found.candidates.reserve(4 * kMostArrays);
  if (strength == 2) addOfStrengthTwo(runs, found);
  if (strength > 2) addOfHigherStrength(runs, found);
  keepLargest(found.candidates);
  return std::move(found.candidates);
}

const std::vector<Candidate>& Catalogue::arrays(std::uint64_t runs) {
  const auto at = known.find(runs);
  if (at != known.end()) return at->second;
  std::vector<Candidate> found = candidatesFor(runs, false);
  return known[runs] = std::move(found);
}

const std::vector<Variant>& Catalogue::variants(std::uint64_t runs) {
  const auto at = knownVariants.find(runs);
  if (at != knownVariants.end()) return at->second;
  Candidate single{runs, {}, [runs] { return singleColumn(runs); }};
  demand.keepUseful({{static_cast<std::uint32_t>(runs), 1}}, single.columns);
  const auto one = singles.try_emplace(runs, std::move(single)).first;
  std::vector<Variant> found{Variant(one->second)};
  std::unordered_set<Columns, ColumnsHash> seen{one->second.columns};
  for (std::size_t i = 0; i < found.size() && found.size() < kMostVariants; ++i) {
    if (i > 0 && runs > kLargestVaried) break;
    const Variant from = found[i];
    for (const auto& [s, count] : from.columns) {
      for (const Candidate& by : arrays(s)) {
        if (found.size() >= kMostVariants) break;
        Variant next = from.replaced(s, 1, by);
        if (seen.insert(next.columns).second) found.push_back(std::move(next));
      }
    }
  }
  return knownVariants[runs] = std::move(found);
}

}  // namespace tbem::design
