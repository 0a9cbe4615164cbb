// How many columns have so many levels: what a plan of an array is made of, before any cell. Internal to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace tbem::design {

/// Pairs of a number of levels and a number of columns, above 0, by levels. A flat map that stands in place while it is short: a
/// search makes, holds and compares many.
class Columns {
public:
  struct Entry {
    std::uint32_t levels = 0;
    std::uint64_t count = 0;
    auto operator<=>(const Entry&) const = default;
  };

  Columns() = default;
  Columns(std::initializer_list<std::pair<std::uint32_t, std::uint64_t>> list) {
    for (const auto& [levels, count] : list) add(levels, count);
  }

  const Entry* begin() const { return many.empty() ? few.data() : many.data(); }
  const Entry* end() const { return begin() + used; }
  bool empty() const { return used == 0; }
  std::size_t size() const { return used; }
  void clear() {
    used = 0;
    many.clear();
  }
  bool operator==(const Columns& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

  std::uint64_t count(std::uint32_t levels) const {
    for (const auto& [s, count] : *this) {
      if (s == levels) return count;
    }
    return 0;
  }
  void add(std::uint32_t levels, std::uint64_t count = 1) {
    if (count == 0) return;
    Entry* at = first() + used;
    while (at != first() && (at - 1)->levels >= levels) --at;
    if (at != first() + used && at->levels == levels) {
      at->count += count;
    } else {
      insert(static_cast<std::size_t>(at - first()), {levels, count});
    }
  }
  void add(const Columns& more, std::uint64_t times = 1) {
    for (const auto& [levels, count] : more) add(levels, count * times);
  }
  /// `count` of those that there are.
  void remove(std::uint32_t levels, std::uint64_t count = 1) {
    Entry* at = first();
    while (at->levels != levels) ++at;
    at->count -= count;
    if (at->count != 0) return;
    std::copy(at + 1, first() + used, at);
    --used;
    if (!many.empty()) many.pop_back();
    if (used == 0) clear();
  }
  bool contains(const Columns& inner) const {
    if (inner.used > used) return false;
    const Entry *own = begin(), *last = end();
    for (const auto& [levels, wanted] : inner) {
      while (own != last && own->levels < levels) ++own;
      if (own == last || own->levels != levels || own->count < wanted) return false;
    }
    return true;
  }
  /// Degrees of freedom: the sum of levels - 1.
  std::uint64_t freedoms() const { return freedomsOver(1); }
  /// Of the columns whose levels `divisor` divides.
  std::uint64_t freedomsOver(std::uint32_t divisor) const {
    std::uint64_t sum = 0;
    for (const auto& [levels, count] : *this) sum += levels % divisor == 0 ? std::uint64_t{levels - 1} * count : 0;
    return sum;
  }
  /// One number a column, ascending.
  std::vector<std::uint32_t> listed() const {
    std::vector<std::uint32_t> levels;
    for (const auto& [s, count] : *this) levels.insert(levels.end(), count, s);
    return levels;
  }

private:
  Entry* first() { return many.empty() ? few.data() : many.data(); }
  void insert(std::size_t place, Entry entry) {
    if (many.empty() && used == few.size()) many.assign(few.begin(), few.end());
    if (!many.empty()) many.emplace_back();
    std::copy_backward(first() + place, first() + used, first() + used + 1);
    first()[place] = entry;
    ++used;
  }

  std::size_t used = 0;
  std::array<Entry, 6> few;
  std::vector<Entry> many;  ///< all, where they are more than `few` takes; else empty
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
