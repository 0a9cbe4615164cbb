#include "compiler/design/field/SpecialArrays.h"

#include "compiler/design/field/Hadamard.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

std::uint32_t digit(std::string_view text, std::size_t at) { return static_cast<std::uint32_t>(text[at] - '0'); }

/// Four rows for each level of p: a two-level column is one of the three balanced patterns a, b, c in them, or its negative (A,
/// B, C). Two columns are orthogonal where their patterns agree as often with equal signs as with opposite ones. Sizes as in the
/// catalogue of R's DoE.base; the columns were found by a clique search.
struct FourRowsEach {
  std::uint32_t levels = 0;
  std::array<std::string_view, 12> columns;
};
constexpr std::array<FourRowsEach, 3> kFourRowsEach{{
    {3, {"aCC", "baA", "cCc", "bAb"}},
    {5, {"babBB", "bBCbc", "cAaCB", "caBAa", "aBaBb", "abCaa", "cBAaC", "bAcca"}},
    {7,
     {"bacCAbA", "bAabcAC", "bcAAaCb", "aABBCbC", "aCAbBCB", "aBCCABb", "bcCcAaB", "bAcaCBc", "bCABcca", "aaccbBC", "abaBcCc",
      "acbCacB"}},
}};

Array fourRowsEach(const FourRowsEach& table, std::uint32_t k) {
  constexpr std::array<std::string_view, 3> kPatterns{"0011", "0101", "0110"};
  Levels levels(k, 2);
  levels.push_back(table.levels);
  Array array = blankArray(std::size_t{4} * table.levels, std::move(levels), 2);
  for (std::uint32_t r = 0; r < array.runs; ++r) {
    for (std::uint32_t c = 0; c < k; ++c) {
      const char letter = table.columns[c][r / 4];
      const bool negative = letter < 'a';
      array.at(r, c) = digit(kPatterns[static_cast<std::size_t>(letter - (negative ? 'A' : 'a'))], r % 4) ^ (negative ? 1U : 0U);
    }
    array.at(r, k) = r / 4;
  }
  return array;
}

/// A half of the twelve rows in which eight columns of the table's D(12, 12, 3), less its column 3, hold every element twice, as
/// in the other half; so half and level of the group make a column of six levels.
constexpr std::string_view kHalf = "000001111011";
constexpr std::array<std::uint32_t, 8> kEvenInHalf{0, 1, 2, 4, 8, 9, 10, 11};

Array thirtySix() {
  DifferenceSchemes schemes;
  const DifferenceScheme d = schemes.build(12, 12, 3);
  const LevelGroup group(3);
  Levels half;
  for (const char c : kHalf) half.push_back(c == '0' ? 0 : 1);
  const DifferenceScheme h = hadamardWith(12, half, 12);
  Levels levels(8, 3);
  levels.insert(levels.end(), 10, 2);
  levels.push_back(6);
  Array array = blankArray(36, std::move(levels), 2);
  for (std::uint32_t r = 0; r < 36; ++r) {
    const std::uint32_t a = r % 3, j = r / 3;
    for (std::uint32_t c = 0; c < 8; ++c)
      array.at(r, c) = group.add(a, group.add(d.at(j, kEvenInHalf[c]), group.negate(d.at(j, 3))));
    for (std::uint32_t c = 0; c < 10; ++c) array.at(r, 8 + c) = h.at(j, c + 2);
    array.at(r, 18) = a + 3 * half[j];
  }
  return array;
}

/// 2 3^3 6^3 in 36 runs, by cells (i, j) of a Latin square: the symbols, then the other columns. Found by a SAT solver; the size
/// is in the catalogue of R's DoE.base.
constexpr std::array<std::string_view, 5> kLatin{"012345125403230514341052453120504231", "001011100110110001001101011100110010",
                                                 "100212212010020121101202211020022101", "201012120201012120201012120201012120",
                                                 "121002201120012201120012202110010221"};

Array latinSix() {
  Array array = blankArray(36, {6, 6, 6, 2, 3, 3, 3}, 2);
  for (std::uint32_t r = 0; r < 36; ++r) {
    array.at(r, 0) = r / 6;
    array.at(r, 1) = r % 6;
    for (std::uint32_t c = 0; c < 5; ++c) array.at(r, 2 + c) = digit(kLatin[c], r);
  }
  return array;
}

/// Columns over Z3 and Z2 that differ evenly from each other and from the projections of the table's D(12, 6, 6).
constexpr std::array<std::string_view, 3> kThrees{"011020221210", "021002101122", "020011210221"};
constexpr std::array<std::string_view, 6> kTwos{"011100100011", "011010010110", "011001111000",
                                                "010010101101", "001110011001", "000100111110"};

/// Rows (i, j), i < 6, j < 12: the columns i + d(j) over Z6, Z3, and those of `twos` over Z2; room for `more` columns after them.
Array extendedSix(std::vector<std::string_view> twos, const Levels& more) {
  DifferenceSchemes schemes;
  const DifferenceScheme d = schemes.build(12, 6, 6);
  const LevelGroup group(6);
  Levels levels(6, 6);
  levels.insert(levels.end(), 3, 3);
  levels.insert(levels.end(), twos.size(), 2);
  levels.insert(levels.end(), more.begin(), more.end());
  Array array = blankArray(72, std::move(levels), 2);
  for (std::uint32_t r = 0; r < 72; ++r) {
    const std::uint32_t i = r % 6, j = r / 6;
    for (std::uint32_t c = 0; c < 6; ++c) array.at(r, c) = group.add(i, d.at(j, c));
    for (std::uint32_t c = 0; c < 3; ++c) array.at(r, 6 + c) = (i / 2 + digit(kThrees[c], j)) % 3;
    for (std::uint32_t c = 0; c < twos.size(); ++c) array.at(r, 9 + c) = (i + digit(twos[c], j)) % 2;
  }
  return array;
}

/// 6^6 3^3 2^6 and j, 12 levels.
Array seventyTwo() {
  Array array = extendedSix({kTwos.begin(), kTwos.end()}, {12});
  for (std::uint32_t r = 0; r < 72; ++r) array.at(r, 15) = r / 6;
  return array;
}

/// 6^6 3^3 2^4, a column of four levels from the first two of kTwos, and the columns of an array of twelve runs, but one: of two
/// levels, it would be the sum of those two.
std::optional<Array> seventyTwoWithFour(const Composite& twelve) {
  const Levels levels = twelve.columns.listed();
  const auto table = build(twelve, twelve.columns);
  const auto array = table ? rowsOf(*table, levels) : std::nullopt;
  if (!array) return std::nullopt;
  Levels more{4};
  more.insert(more.end(), levels.begin() + 1, levels.end());  // ascending: the first has two
  Array result = extendedSix({kTwos.begin() + 2, kTwos.end()}, more);
  std::array<Levels, 2> rows;  // of the twelve, by the level of the column that goes
  for (std::uint32_t r = 0; r < 12; ++r) rows[array->at(r, 0)].push_back(r);
  std::array<std::size_t, 2> used{0, 0};
  for (std::uint32_t j = 0; j < 12; ++j) {
    const std::uint32_t first = digit(kTwos[0], j), second = digit(kTwos[1], j), sum = first ^ second;
    const std::uint32_t from = rows[sum][used[sum]++];
    for (std::uint32_t i = 0; i < 6; ++i) {
      const std::size_t r = std::size_t{j} * 6 + i;
      result.at(r, 13) = 2 * ((i + first) % 2) + (i + second) % 2;
      for (std::size_t c = 1; c < levels.size(); ++c) result.at(r, 13 + c) = array->at(from, c);
    }
  }
  return result;
}

/// Columns d over Z3 for columns b of a Hadamard matrix of order 12, so that the difference of two takes each value once in each
/// combination of their b; and, where `even`, each d each value twice in both halves of its b (else the first d may be 0). Row by
/// row, with steps back. There are none for three columns that are even, nor for four.
std::vector<Levels> thirdsOf(const std::vector<Levels>& b, bool even) {
  const std::size_t k = b.size();
  std::vector<Levels> d(k, Levels(12, 0));
  const auto fits = [&](std::size_t row) {
    for (std::size_t x = 0; x < k; ++x) {
      std::uint32_t same = 0;
      for (std::size_t r = 0; r <= row; ++r) same += b[x][r] == b[x][row] && d[x][r] == d[x][row] ? 1 : 0;
      if (even && same > 2) return false;
      for (std::size_t y = 0; y < x; ++y) {
        for (std::size_t r = 0; r < row; ++r) {
          const bool cell = b[x][r] == b[x][row] && b[y][r] == b[y][row];
          if (cell && (d[x][r] + 3 - d[y][r]) % 3 == (d[x][row] + 3 - d[y][row]) % 3) return false;
        }
      }
    }
    return true;
  };
  const std::size_t first = even ? 0 : 1;
  std::uint32_t choices = 1;
  for (std::size_t x = first; x < k; ++x) choices *= 3;
  Levels tried(12, 0);
  for (std::size_t row = 0; row < 12;) {
    bool placed = false;
    while (!placed && tried[row] < choices) {
      std::uint32_t rest = tried[row]++;
      for (std::size_t x = first; x < k; ++x, rest /= 3) d[x][row] = rest % 3;
      placed = fits(row);
    }
    if (placed) {
      ++row;
    } else if (row == 0) {
      return {};
    } else {
      tried[row--] = 0;
    }
  }
  return d;
}

/// 2^(3-t) 3^(4-t) 6^(8+t). Rows (i, j), i < 9, j < 12; columns a(i) of OA(9, 3^4) and b(j) of a Hadamard matrix of order 12. Two
/// columns (b(j), a(i) + d(j)) with different a are balanced because their b are; with the same a because of their d. An a serves
/// two columns and is one itself, or, `triples` of them, three columns; b that serve none are columns.
std::optional<Array> hundredEight(std::uint32_t triples) {
  const HadamardMatrix h = *hadamard(12);
  const std::uint32_t threes = 4 - triples, sixes = 8 + triples;
  Levels levels(threes, 3);
  levels.insert(levels.end(), sixes, 6);
  levels.insert(levels.end(), 11 - sixes, 2);
  Array array = blankArray(108, std::move(levels), 2);
  const auto a = [](std::uint32_t i, std::uint32_t l) { return l == 0 ? i / 3 : (i % 3 + (l - 1) * (i / 3)) % 3; };
  const auto b = [&h](std::uint32_t j, std::uint32_t column) { return h.at(j, column) > 0 ? 0U : 1U; };
  for (std::uint32_t r = 0; r < 108; ++r) {
    for (std::uint32_t l = 0; l < threes; ++l) array.at(r, l) = a(r % 9, l);
    for (std::uint32_t c = sixes; c < 11; ++c) array.at(r, threes + c) = b(r / 9, c + 1);
  }
  std::uint32_t column = 0;
  for (std::uint32_t l = 0; l < 4; ++l) {
    std::vector<Levels> halves(l < threes ? 2 : 3, Levels(12));
    for (std::uint32_t x = 0; x < halves.size(); ++x) {
      for (std::uint32_t j = 0; j < 12; ++j) halves[x][j] = b(j, column + x + 1);
    }
    const std::vector<Levels> d = thirdsOf(halves, l < threes);
    if (d.empty()) return std::nullopt;
    for (std::uint32_t x = 0; x < halves.size(); ++x, ++column) {
      for (std::uint32_t r = 0; r < 108; ++r)
        array.at(r, threes + column) = 3 * halves[x][r / 9] + (a(r % 9, l) + d[x][r / 9]) % 3;
    }
  }
  return array;
}

/// Two orthogonal Latin squares of order 10 (Parker 1959) from a quasi-difference matrix over Z7 with three fixed symbols 7, 8,
/// 9: blocks (symbol, 0, b, c) and their rotations, each developed over Z7; a row of zeros, developed; the nine rows of the fixed
/// symbols.
Array latinTen() {
  constexpr std::array<std::array<std::uint32_t, 4>, 3> kBlocks{{{7, 0, 1, 4}, {8, 0, 2, 1}, {9, 0, 4, 2}}};
  Array array = blankArray(100, {10, 10, 10, 10}, 2);
  std::size_t r = 0;
  for (const auto& block : kBlocks) {
    for (std::uint32_t turn = 0; turn < 4; ++turn) {
      for (std::uint32_t x = 0; x < 7; ++x, ++r) {
        for (std::uint32_t c = 0; c < 4; ++c) {
          const std::uint32_t value = block[(c + turn) % 4];
          array.at(r, c) = value >= 7 ? value : (value + x) % 7;
        }
      }
    }
  }
  for (std::uint32_t x = 0; x < 7; ++x, ++r) {
    for (std::uint32_t c = 0; c < 4; ++c) array.at(r, c) = x;
  }
  for (std::uint32_t x = 0; x < 9; ++x, ++r) {
    const std::uint32_t a = x / 3, b = x % 3;
    const std::array<std::uint32_t, 4> row{a, b, (a + b) % 3, (a + 2 * b) % 3};
    for (std::uint32_t c = 0; c < 4; ++c) array.at(r, c) = 7 + row[c];
  }
  return array;
}

}  // namespace

DifferenceScheme hadamardWith(std::uint32_t order, const std::vector<std::uint32_t>& wanted, std::uint32_t columns) {
  const HadamardMatrix h = *hadamard(order);
  std::array<std::vector<std::uint32_t>, 2> rows;  // of the matrix, by the level of column 1
  for (std::uint32_t r = 0; r < order; ++r) rows[h.at(r, 1) > 0 ? 0 : 1].push_back(r);
  std::array<std::size_t, 2> used{0, 0};
  DifferenceScheme scheme{order, columns, 2, std::vector<std::uint32_t>(std::size_t{order} * columns)};
  for (std::uint32_t r = 0; r < order; ++r) {
    const std::uint32_t from = rows[wanted[r]][used[wanted[r]]++];
    for (std::uint32_t c = 0; c < columns; ++c) scheme.cells[std::size_t{r} * columns + c] = h.at(from, c) > 0 ? 0 : 1;
  }
  return scheme;
}

BaseArray extendedTwelve(const Composite& twelve) {
  BaseArray array{72, twelve.columns, fmt::format("difference scheme D(12, 6, 6), extended, over 12 runs ({})", twelve.words()),
                  [twelve](const Columns&) { return seventyTwoWithFour(twelve); }};
  array.columns.add(Columns{{2, 3}, {3, 3}, {4, 1}, {6, 6}});  // of two levels four more and one less
  return array;
}

std::vector<BaseArray> specialArrays(std::uint64_t runs) {
  std::vector<BaseArray> arrays;
  for (const FourRowsEach& table : kFourRowsEach) {
    if (runs != std::uint64_t{4} * table.levels) continue;
    std::uint32_t k = 0;
    while (k < table.columns.size() && !table.columns[k].empty()) ++k;
    arrays.push_back({runs,
                      {{2, k}, {table.levels, 1}},
                      fmt::format("balanced quadruples of rows for each of {} levels", table.levels),
                      [&table, k](const Columns&) { return std::optional(fourRowsEach(table, k)); }});
  }
  if (runs == 36) {
    arrays.push_back(
        {runs, {{2, 10}, {3, 8}, {6, 1}}, "difference scheme D(12, 12, 3) and a Hadamard matrix of order 12", [](const Columns&) {
           return std::optional(thirtySix());
         }});
    arrays.push_back({runs, {{2, 1}, {3, 3}, {6, 3}}, "a Latin square of order 6 with four more columns", [](const Columns&) {
                        return std::optional(latinSix());
                      }});
  }
  if (runs == 72) {
    arrays.push_back({runs,
                      {{2, 6}, {3, 3}, {6, 6}, {12, 1}},
                      "difference scheme D(12, 6, 6), extended over three and two levels",
                      [](const Columns&) { return std::optional(seventyTwo()); }});
  }
  if (runs == 108) {
    for (std::uint32_t triples = 0; triples < 4; ++triples) {
      arrays.push_back({runs,
                        {{2, 3 - triples}, {3, 4 - triples}, {6, 8 + triples}},
                        "columns of a Hadamard matrix of order 12 and sums over Z3",
                        [triples](const Columns&) { return hundredEight(triples); }});
    }
  }
  if (runs == 100) {
    arrays.push_back(
        {runs, {{10, 4}}, "two orthogonal Latin squares of order 10", [](const Columns&) { return std::optional(latinTen()); }});
  }
  return arrays;
}

}  // namespace tbem::design
