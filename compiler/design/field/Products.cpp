#include "compiler/design/field/Products.h"

#include "compiler/design/field/DifferenceScheme.h"
#include "compiler/design/field/Hadamard.h"
#include "compiler/design/field/SpecialArrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

/// "difference scheme D(6, 6, 3)", "difference schemes D(12, 12, 2), D(12, 12, 3) over 2^1 3^1".
std::string kroneckerWords(DifferenceSchemes& schemes, std::uint32_t n, std::uint32_t m, const Columns& a) {
  std::string parts;
  std::size_t count = 0;
  for (const auto& entry : a) {
    const std::uint32_t c = schemes.columns(m, entry.levels);
    if (c == 1) continue;
    parts += fmt::format("{}D({}, {}, {})", count++ == 0 ? "" : ", ", m, c, entry.levels);
  }
  if (count == 0) return fmt::format("every combination of {} and {} levels", n, m);
  const Levels levels = a.listed();
  return fmt::format("difference scheme{} {}{}", count == 1 ? "" : "s", parts,
                     levels.size() == 1 ? "" : fmt::format(" over {} runs of {}", n, levelText(levels)));
}

/// The rows (i, j) hold first(i, j).
template <class First>
Column pairColumn(std::uint32_t levels, std::size_t n, std::size_t m, First first) {
  Column column{levels, std::vector<std::uint32_t>(n * m)};
  std::uint32_t* cell = column.cells.data();
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < n; ++i) *cell++ = first(i, j);
  }
  return column;
}

/// a(i) + d(j) for the columns a of s levels and d but the first, `wanted` of them.
void addSums(std::vector<Column>& columns, const Table& a, const DifferenceScheme& d, std::uint64_t wanted) {
  const std::uint32_t s = d.levels;
  const LevelGroup group(s);
  Levels sums(std::size_t{s} * s);
  for (std::uint32_t x = 0; x < s; ++x) {
    for (std::uint32_t y = 0; y < s; ++y) sums[std::size_t{y} * s + x] = group.add(x, y);
  }
  for (const Column& of : a.columns) {
    if (of.levels != s) continue;
    for (std::uint32_t c = 1; c < d.columns && wanted > 0; ++c, --wanted) {
      columns.push_back(pairColumn(s, a.runs, d.rows, [&](std::size_t i, std::size_t j) {
        return sums[std::size_t{d.at(static_cast<std::uint32_t>(j), c)} * s + of.cells[i]];
      }));
    }
  }
}

std::optional<Table> kroneckerTable(std::uint32_t n, std::uint32_t m, const Composite& a, const Columns& wanted) {
  DifferenceSchemes schemes;
  Columns first, sums;  // of A, and of what is made of it and the schemes
  for (const auto& [s, count] : wanted) {
    const std::uint64_t ofEach = schemes.columns(m, s) - 1, made = std::min(count, a.columns.count(s) * ofEach);
    if (made == 0) continue;
    first.add(s, (made + ofEach - 1) / ofEach);
    sums.add(s, made);
  }
  const auto table = first.empty() ? std::optional<Table>(n) : build(a, first);
  if (!table) return std::nullopt;
  Table result(std::size_t{n} * m);
  for (const auto& [s, count] : sums) {
    const auto most = static_cast<std::uint32_t>(std::min<std::uint64_t>(count + 1, schemes.columns(m, s)));
    addSums(result.columns, *table, schemes.build(m, most, s), count);
  }
  const bool rows = wanted.count(n) > sums.count(n), others = wanted.count(m) > sums.count(m);
  if (rows)
    result.columns.push_back(pairColumn(n, n, m, [](std::size_t i, std::size_t) { return static_cast<std::uint32_t>(i); }));
  if (others)
    result.columns.push_back(pairColumn(m, n, m, [](std::size_t, std::size_t j) { return static_cast<std::uint32_t>(j); }));
  return result;
}

std::optional<Table> mergedTable(std::uint32_t n, std::uint32_t m, const Composite& c, const Columns& wanted) {
  const auto table = build(c, c.columns);
  if (!table) return std::nullopt;
  std::size_t two = 0;  // where u stands
  while (table->columns[two].levels != 2) ++two;
  const Levels& u = table->columns[two].cells;
  const HadamardMatrix a = *hadamard(n);
  Table result(std::size_t{n} * m);
  const std::uint64_t own = c.columns.count(2) - 1, all = wanted.count(2);
  std::uint64_t sums = all - std::min(own, all);  // columns of two levels that C lacks
  const DifferenceScheme d = hadamardWith(m, u, static_cast<std::uint32_t>(std::min<std::uint64_t>(m, 2 + sums)));
  for (std::uint32_t l = 1; l < n && sums > 0; ++l) {
    for (std::uint32_t k = 2; k < d.columns && sums > 0; ++k, --sums) {
      result.columns.push_back(pairColumn(2, n, m, [&](std::size_t i, std::size_t j) {
        return (a.at(static_cast<std::uint32_t>(i), l) > 0 ? 0U : 1U) ^ d.at(static_cast<std::uint32_t>(j), k);
      }));
    }
  }
  for (std::size_t k = 0; k < table->columns.size(); ++k) {
    const Column& column = table->columns[k];
    if (k == two || wanted.count(column.levels) == 0) continue;
    result.columns.push_back(pairColumn(column.levels, n, m, [&](std::size_t, std::size_t j) { return column.cells[j]; }));
  }
  if (wanted.count(2 * n) != 0) {
    result.columns.push_back(
        pairColumn(2 * n, n, m, [&](std::size_t i, std::size_t j) { return static_cast<std::uint32_t>(i) + n * u[j]; }));
  }
  return result;
}

/// The columns of the one number of levels that the array is taken for.
std::optional<Table> plainTable(const BaseArray& array) {
  auto table = array.build(array.columns);
  const std::uint32_t levels = array.columns.begin()->levels;
  if (table) std::erase_if(table->columns, [&](const Column& column) { return column.levels != levels; });
  return table;
}

std::optional<Table> pairedTable(const BaseArray& a, const BaseArray& b) {
  const auto first = plainTable(a), second = plainTable(b);
  if (!first || !second) return std::nullopt;
  const std::size_t n = second->runs, m = first->runs, pairs = std::min(first->columns.size(), second->columns.size());
  Table result(n * m);
  for (std::size_t c = 0; c < pairs; ++c) {
    const Column &x = first->columns[c], &y = second->columns[c];
    result.columns.push_back(
        pairColumn(x.levels * y.levels, n, m, [&](std::size_t i, std::size_t j) { return x.cells[j] * y.levels + y.cells[i]; }));
  }
  for (std::size_t c = pairs; c < first->columns.size(); ++c) {
    const Column& x = first->columns[c];
    result.columns.push_back(pairColumn(x.levels, n, m, [&](std::size_t, std::size_t j) { return x.cells[j]; }));
  }
  for (std::size_t c = pairs; c < second->columns.size(); ++c) {
    const Column& y = second->columns[c];
    result.columns.push_back(pairColumn(y.levels, n, m, [&](std::size_t i, std::size_t) { return y.cells[i]; }));
  }
  return result;
}

std::optional<Table> wideFoldoverTable(std::uint32_t n, std::uint32_t m, const Columns& wanted) {
  const auto h = hadamard(n);
  if (!h) return std::nullopt;
  const std::uint32_t wide = 2 * m;
  Table result(std::size_t{wide} * n);
  for (std::uint32_t c = 1; c < n && result.columns.size() < wanted.count(2); ++c) {
    result.columns.push_back(pairColumn(2, n, wide, [&](std::size_t i, std::size_t j) {
      return (h->at(static_cast<std::uint32_t>(i), c) > 0 ? 0U : 1U) ^ (static_cast<std::uint32_t>(j) & 1);
    }));
  }
  result.columns.push_back(pairColumn(wide, n, wide, [](std::size_t, std::size_t j) { return static_cast<std::uint32_t>(j); }));
  return result;
}

}  // namespace

BaseArray singleColumn(std::uint64_t runs) {
  return {runs, {{static_cast<std::uint32_t>(runs), 1}}, fmt::format("{} levels", runs), [runs](const Columns&) {
            Table table(runs);
            table.columns.push_back({static_cast<std::uint32_t>(runs), Levels(runs)});
            std::iota(table.columns[0].cells.begin(), table.columns[0].cells.end(), 0U);
            return std::optional(table);
          }};
}

void kroneckerColumns(DifferenceSchemes& schemes, std::uint32_t n, std::uint32_t m, const Columns& a, Columns& columns) {
  columns.clear();
  columns.add(n);
  columns.add(m);
  for (const auto& [s, count] : a) columns.add(s, count * (schemes.columns(m, s) - 1));
}

BaseArray kroneckerProduct(std::uint32_t n, std::uint32_t m, const Composite& a) {
  DifferenceSchemes schemes;
  BaseArray array{std::uint64_t{n} * m, {}, kroneckerWords(schemes, n, m, a.columns), [n, m, a](const Columns& wanted) {
                    return kroneckerTable(n, m, a, wanted);
                  }};
  kroneckerColumns(schemes, n, m, a.columns, array.columns);
  return array;
}

void mergedColumns(std::uint32_t n, std::uint32_t m, const Columns& c, Columns& columns) {
  columns = c;
  columns.remove(2);
  columns.add(2 * n);
  columns.add(2, std::uint64_t{n - 1} * (m - 2));
}

BaseArray mergedProduct(std::uint32_t n, std::uint32_t m, const Composite& c) {
  BaseArray array{std::uint64_t{n} * m,
                  {},
                  fmt::format("Hadamard matrix of order {} over {} runs of {}, with {} levels from {} and 2", m, n,
                              levelText(Levels(n - 1, 2)), 2 * n, n),
                  [n, m, c](const Columns& wanted) { return mergedTable(n, m, c, wanted); }};
  mergedColumns(n, m, c.columns, array.columns);
  return array;
}

BaseArray pairedProduct(const BaseArray& a, const BaseArray& b) {
  return {a.runs * b.runs, pairedColumns(a.columns, b.columns), fmt::format("product of {} and {}", a.words, b.words),
          [a, b](const Columns&) { return pairedTable(a, b); }};
}

Columns pairedColumns(const Columns& a, const Columns& b) {
  const auto& [s, k] = *a.begin();
  const auto& [u, l] = *b.begin();
  Columns columns{{s * u, std::min(k, l)}};
  if (k > l) columns.add(s, k - l);
  if (l > k) columns.add(u, l - k);
  return columns;
}

BaseArray gridProduct(std::uint64_t n, std::uint64_t m) {
  const auto rows = static_cast<std::uint32_t>(n), others = static_cast<std::uint32_t>(m);
  return {n * m,
          {{rows, 1}, {others, 1}},
          fmt::format("every combination of {} and {} levels", n, m),
          [rows, others](const Columns&) {
            Table result(std::size_t{rows} * others);
            result.columns.push_back(
                pairColumn(rows, others, rows, [](std::size_t, std::size_t j) { return static_cast<std::uint32_t>(j); }));
            result.columns.push_back(
                pairColumn(others, others, rows, [](std::size_t i, std::size_t) { return static_cast<std::uint32_t>(i); }));
            return std::optional(result);
          }};
}

BaseArray wideFoldover(std::uint32_t n, std::uint32_t m) {
  return {std::uint64_t{2} * m * n,
          {{2, n - 1}, {2 * m, 1}},
          fmt::format("Hadamard matrix of order {} and its negative, {} times", n, m),
          [n, m](const Columns& wanted) { return wideFoldoverTable(n, m, wanted); }};
}

}  // namespace tbem::design
