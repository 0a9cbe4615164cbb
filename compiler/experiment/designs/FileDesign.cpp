#include "compiler/experiment/designs/FileDesign.h"

#include "compiler/experiment/AtText.h"
#include "compiler/support/Rational.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace tbem::driver {

namespace {

using foreign::MeasuredRow;

/// A factor whose levels are the cells of a column, and the level of each row.
struct LevelsOfColumn {
  graph::FactorSpec factor;
  LevelIndices byRow;
};

tl::expected<LevelsOfColumn, std::string> levelsOfColumn(const std::string& name, std::size_t column,
                                                         const std::vector<MeasuredRow>& rows, sema::ExprPool& pool) {
  std::vector<std::optional<Rational>> numbers;
  for (const MeasuredRow& row : rows) {
    if (row.levels[column].empty()) return tl::unexpected(fmt::format("{}: `{}` is empty", row.line, name));
    numbers.push_back(parseSigned(row.levels[column]));
  }
  LevelsOfColumn levels;
  levels.factor.name = name;
  const bool numeric = std::ranges::all_of(numbers, [](const std::optional<Rational>& number) { return number.has_value(); });
  levels.factor.isReal =
      numeric && std::ranges::any_of(numbers, [](const std::optional<Rational>& number) { return !number->isInt(); });
  std::map<std::string, std::uint32_t> known;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    graph::Level level;
    level.text = numeric ? numbers[r]->str() : rows[r].levels[column];
    const auto [entry, isNew] = known.try_emplace(level.text, static_cast<std::uint32_t>(levels.factor.levels.size()));
    levels.byRow.push_back(entry->second);
    if (!isNew) continue;
    level.value =
        numeric ? sema::Value::number(pool.constant(*numbers[r]), levels.factor.isReal) : sema::Value::string(level.text);
    if (numeric) level.number = numbers[r];
    levels.factor.levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace

tl::expected<FileDesign, std::string> designOfFile(const std::string& name, SrcRange range,
                                                   const std::vector<std::string>& factors,
                                                   const std::vector<MeasuredRow>& rows) {
  graph::DesignSpec spec;
  spec.name = name;
  spec.range = range;
  spec.pool = std::make_unique<sema::ExprPool>();
  std::vector<LevelIndices> levels(rows.size());
  for (std::size_t f = 0; f < factors.size(); ++f) {
    auto column = levelsOfColumn(factors[f], f, rows, *spec.pool);
    if (!column) return tl::unexpected(std::move(column).error());
    column->factor.range = range;
    spec.factors.push_back(std::move(column->factor));
    for (std::size_t r = 0; r < rows.size(); ++r) levels[r].push_back(column->byRow[r]);
  }
  FileDesign design{std::make_unique<DesignRun>(std::move(spec)), {}};
  std::map<std::tuple<LevelIndices, std::string, std::uint32_t>, std::size_t> timesThere;  // by levels, backend and repeat
  std::map<std::pair<LevelIndices, std::size_t>, std::size_t> rowOf;                       // by levels, and the how manieth
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t time = timesThere[{levels[r], rows[r].backend, rows[r].repeat}]++;
    const auto [entry, isNew] = rowOf.try_emplace({levels[r], time}, design.run->rows.size());
    design.rows.push_back(entry->second);
    if (!isNew) continue;
    design.run->chosen.push_back(design.run->rows.size());
    design.run->rows.push_back(levels[r]);
  }
  return design;
}

}  // namespace tbem::driver
