#include "compiler/design/array/Table.h"

#include <algorithm>
#include <map>

namespace tbem::design {

namespace {

constexpr std::size_t kBlock = 32;  // rows that are turned at a time: their cells stay in the cache

}  // namespace

Table::Table(const Array& array) : runs(array.runs) {
  for (const std::uint32_t s : array.levels) columns.push_back({s, std::vector<std::uint32_t>(runs)});
  for (std::size_t first = 0; first < runs; first += kBlock) {
    const std::size_t end = std::min(runs, first + kBlock);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      for (std::size_t r = first; r < end; ++r) columns[c].cells[r] = array.at(r, c);
    }
  }
}

std::optional<Array> rowsOf(const Table& table, const std::vector<std::uint32_t>& levels) {
  std::vector<const std::uint32_t*> chosen;
  std::map<std::uint32_t, std::size_t> from;  // where the next column of so many levels may stand
  for (const std::uint32_t s : levels) {
    std::size_t& c = from[s];
    while (c < table.columns.size() && table.columns[c].levels != s) ++c;
    if (c == table.columns.size()) return std::nullopt;
    chosen.push_back(table.columns[c++].cells.data());
  }
  Array array = blankArray(table.runs, levels);
  for (std::size_t first = 0; first < array.runs; first += kBlock) {
    const std::size_t end = std::min(array.runs, first + kBlock);
    for (std::size_t c = 0; c < chosen.size(); ++c) {
      for (std::size_t r = first; r < end; ++r) array.at(r, c) = chosen[c][r];
    }
  }
  return array;
}

}  // namespace tbem::design
