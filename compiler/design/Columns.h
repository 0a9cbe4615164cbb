// How many columns have so many levels: what a plan of an array is made of, before any cell. Internal to this folder.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace tbem::design {

/// Pairs of a number of levels and a number of columns, above 0, by levels. A flat map: a search holds and compares many.
class Columns {
public:
  using Entry = std::pair<std::uint32_t, std::uint64_t>;

  Columns() = default;
  Columns(std::initializer_list<Entry> list) {
    for (const auto& [levels, count] : list) add(levels, count);
  }

  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  bool empty() const { return entries.empty(); }
  std::size_t size() const { return entries.size(); }
  void clear() { entries.clear(); }
  auto operator<=>(const Columns&) const = default;

  std::uint64_t count(std::uint32_t levels) const {
    for (const auto& [s, count] : entries) {
      if (s == levels) return count;
    }
    return 0;
  }
  void add(std::uint32_t levels, std::uint64_t count = 1) {
    if (count == 0) return;
    if (entries.empty() || entries.back().first < levels) {
      entries.emplace_back(levels, count);
      return;
    }
    auto at = entries.begin();
    while (at->first < levels) ++at;
    if (at->first == levels) {
      at->second += count;
    } else {
      entries.insert(at, {levels, count});
    }
  }
  void add(const Columns& more, std::uint64_t times = 1) {
    for (const auto& [levels, count] : more) add(levels, count * times);
  }
  /// `count` of those that there are.
  void remove(std::uint32_t levels, std::uint64_t count = 1) {
    auto at = entries.begin();
    while (at->first != levels) ++at;
    at->second -= count;
    if (at->second == 0) entries.erase(at);
  }
  bool contains(const Columns& inner) const {
    for (const auto& [levels, wanted] : inner) {
      if (count(levels) < wanted) return false;
    }
    return true;
  }
  /// Degrees of freedom: the sum of levels - 1.
  std::uint64_t freedoms() const { return freedomsOver(1); }
  /// Of the columns whose levels `divisor` divides.
  std::uint64_t freedomsOver(std::uint32_t divisor) const {
    std::uint64_t sum = 0;
    for (const auto& [levels, count] : entries) sum += levels % divisor == 0 ? (levels - 1) * count : 0;
    return sum;
  }
  /// One number a column, ascending.
  std::vector<std::uint32_t> listed() const {
    std::vector<std::uint32_t> levels;
    for (const auto& [s, count] : entries) levels.insert(levels.end(), count, s);
    return levels;
  }

private:
  std::vector<Entry> entries;
};

/// For hashed sets of columns.
struct ColumnsHash {
  std::size_t operator()(const Columns& columns) const {
    std::uint64_t hash = 0;
    for (const auto& [levels, count] : columns) hash = (hash ^ (levels + (count << 20))) * 0x9E3779B97F4A7C15U;
    return hash ^ hash >> 32;
  }
};

/// Those of an array with these levels.
inline Columns columnsOf(const std::vector<std::uint32_t>& levels) {
  Columns columns;
  for (const std::uint32_t s : levels) columns.add(s);
  return columns;
}

}  // namespace tbem::design
