#include "compiler/design/array/Composite.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::design {

namespace {

/// What is to be built for one replacement.
struct Step {
  std::uint64_t times = 0;
  Columns wanted;  ///< of each copy
};

/// What of the base and of each replacement the wanted columns need: those that are there before a replacement come first, the
/// rest are its own.
Columns neededOfBase(const Composite& composite, const Columns& wanted, std::vector<Step>& steps) {
  std::vector<Columns> before{composite.base.columns};  // without the columns that are replaced
  for (const Composite::Replacement& each : composite.replacements) {
    Columns columns = before.back();
    before.back().remove(each.levels, each.times);
    columns.remove(each.levels, each.times);
    columns.add(each.by.columns, each.times);
    before.push_back(std::move(columns));
  }
  Columns needed = wanted;
  steps.assign(composite.replacements.size(), {});
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Composite::Replacement& each = composite.replacements[i];
    Columns earlier;
    for (const auto& [s, count] : needed) {
      const std::uint64_t there = std::min(count, before[i].count(s)), rest = count - there, ofEach = each.by.columns.count(s);
      earlier.add(s, there);
      if (rest == 0) continue;
      steps[i].times = std::max(steps[i].times, (rest + ofEach - 1) / ofEach);
      steps[i].wanted.add(s, std::min(rest, ofEach));
    }
    earlier.add(each.levels, steps[i].times);
    needed = std::move(earlier);
  }
  return needed;
}

/// The last of the columns with so many levels becomes the wanted columns of `by`.
void replaceOne(std::vector<Column>& columns, std::uint32_t levels, const Table& by, Columns wanted) {
  std::size_t at = columns.size();
  while (at > 0 && columns[at - 1].levels != levels) --at;
  if (at == 0) return;
  const Column old = std::move(columns[at - 1]);
  columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(at - 1));
  for (const Column& each : by.columns) {
    if (wanted.count(each.levels) == 0) continue;
    wanted.remove(each.levels);
    Column column{each.levels, std::vector<std::uint32_t>(old.cells.size())};
    for (std::size_t r = 0; r < old.cells.size(); ++r) column.cells[r] = each.cells[old.cells[r]];
    columns.push_back(std::move(column));
  }
}

}  // namespace

std::string Composite::words() const {
  std::string text = base.words;
  for (const Replacement& replacement : replacements) {
    text += fmt::format("; {} of {} levels replaced by {}",
                        replacement.times == 1 ? "the column" : fmt::format("{} columns", replacement.times), replacement.levels,
                        replacement.by.words);
  }
  return text;
}

std::optional<Table> build(const Composite& composite, const Columns& wanted) {
  std::vector<Step> steps;
  const Columns needed = neededOfBase(composite, wanted, steps);
  auto table = composite.base.build(needed);
  for (std::size_t i = 0; table && i < steps.size(); ++i) {
    if (steps[i].times == 0) continue;
    const auto by = composite.replacements[i].by.build(steps[i].wanted);
    if (!by) return std::nullopt;
    for (std::uint64_t copy = 0; copy < steps[i].times; ++copy)
      replaceOne(table->columns, composite.replacements[i].levels, *by, steps[i].wanted);
  }
  return table;
}

}  // namespace tbem::design
