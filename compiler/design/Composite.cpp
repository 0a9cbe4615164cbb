#include "compiler/design/Composite.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::design {

namespace {

/// One column of a composite in the making.
struct Column {
  std::uint32_t levels = 0;
  std::vector<std::uint32_t> cells;
};

std::vector<Column> split(const Array& array) {
  std::vector<Column> columns;
  for (const std::uint32_t s : array.levels) columns.push_back({s, std::vector<std::uint32_t>(array.runs)});
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].cells[r] = array.at(r, c);
  }
  return columns;
}

/// The last of the columns with so many levels becomes the columns of `by`.
void replaceOne(std::vector<Column>& columns, std::uint32_t levels, const Array& by) {
  std::size_t at = columns.size();
  while (at > 0 && columns[at - 1].levels != levels) --at;
  if (at == 0) return;
  const Column old = std::move(columns[at - 1]);
  columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(at - 1));
  for (std::size_t c = 0; c < by.columns(); ++c) {
    Column column{by.levels[c], std::vector<std::uint32_t>(old.cells.size())};
    for (std::size_t r = 0; r < old.cells.size(); ++r) column.cells[r] = by.at(old.cells[r], c);
    columns.push_back(std::move(column));
  }
}

std::optional<Array> select(std::vector<Column>& columns, const std::vector<std::uint32_t>& levels, std::size_t runs) {
  std::vector<const Column*> chosen;
  std::map<std::uint32_t, std::size_t> from;  // where the next column of so many levels may stand
  for (const std::uint32_t s : levels) {
    std::size_t& c = from[s];
    while (c < columns.size() && columns[c].levels != s) ++c;
    if (c == columns.size()) return std::nullopt;
    chosen.push_back(&columns[c++]);
  }
  Array array;
  array.levels = levels;
  array.runs = runs;
  array.cells.resize(runs * levels.size());
  for (std::size_t c = 0; c < chosen.size(); ++c) {
    for (std::size_t r = 0; r < runs; ++r) array.at(r, c) = chosen[c]->cells[r];
  }
  return array;
}

}  // namespace

Columns columnsOf(const std::vector<std::uint32_t>& levels) {
  Columns columns;
  for (const std::uint32_t s : levels) ++columns[s];
  return columns;
}

std::string Composite::words() const {
  std::string text = base.words;
  for (const Replacement& replacement : replacements) {
    text += fmt::format("; {} of {} levels replaced by {}",
                        replacement.times == 1 ? "the column" : fmt::format("{} columns", replacement.times), replacement.levels,
                        replacement.by.words);
  }
  return text;
}

std::optional<Array> build(const Composite& composite, const std::vector<std::uint32_t>& levels, std::uint32_t strength) {
  const auto base = composite.base.build();
  if (!base) return std::nullopt;
  std::vector<Column> columns = split(*base);
  for (const Composite::Replacement& replacement : composite.replacements) {
    const auto by = replacement.by.build();
    if (!by) return std::nullopt;
    for (std::uint64_t i = 0; i < replacement.times; ++i) replaceOne(columns, replacement.levels, *by);
  }
  auto array = select(columns, levels, base->runs);
  if (!array) return std::nullopt;
  array->strength = strength;
  array->construction = composite.words();
  return array;
}

}  // namespace tbem::design
