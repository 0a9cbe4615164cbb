#include "compiler/design/field/LinearArrays.h"

#include "compiler/design/array/Coordinates.h"
#include "compiler/design/field/Galois.h"
#include "compiler/design/field/RaoHamming.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace tbem::design {

namespace {

using Levels = std::vector<std::uint32_t>;

/// q^m = runs, or nothing.
std::optional<std::uint32_t> exponentOf(std::uint64_t runs, std::uint64_t q) {
  std::uint32_t m = 0;
  for (; runs % q == 0; runs /= q) ++m;
  return runs == 1 ? std::optional(m) : std::nullopt;
}

std::uint32_t countOf(const Columns& wanted, std::uint32_t levels) { return static_cast<std::uint32_t>(wanted.count(levels)); }

/// A column for each of the first `count` vectors, in rows of all vectors of GF(q)^m: their products.
Table vectorTable(std::uint32_t q, std::uint32_t m, const std::vector<Levels>& vectors, std::size_t count) {
  const Galois field = *Galois::make(q);
  const Levels sums = sumsOf(q, [&](std::uint32_t a, std::uint32_t b) { return field.add(a, b); });
  Table table(*powerUpTo(q, m, SIZE_MAX));
  for (std::size_t c = 0; c < std::min(count, vectors.size()); ++c) {
    Levels cells{0}, terms(q);
    for (std::uint32_t i = 0; i < m; ++i) {
      for (std::uint32_t digit = 0; digit < q; ++digit) terms[digit] = field.multiply(digit, vectors[c][i]);
      addCoordinate(cells, terms, sums, q);
    }
    table.columns.push_back({q, std::move(cells)});
  }
  return table;
}

/// The elliptic quadric of PG(3, q): (1, x, y, x^2 + x y + n y^2) with the form irreducible, and (0, 0, 0, 1).
Table ovoidTable(std::uint32_t q, std::size_t count) {
  const Galois field = *Galois::make(q);
  std::uint32_t n = 1;
  const auto hasRoot = [&] {
    for (std::uint32_t x = 0; x < q; ++x) {
      if (field.add(field.add(field.multiply(x, x), x), n) == 0) return true;
    }
    return false;
  };
  while (hasRoot()) ++n;
  std::vector<Levels> points{{0, 0, 0, 1}};
  for (std::uint32_t x = 0; x < q; ++x) {
    for (std::uint32_t y = 0; y < q; ++y) {
      const std::uint32_t form = field.add(field.multiply(x, field.add(x, y)), field.multiply(n, field.multiply(y, y)));
      points.push_back({1, x, y, form});
    }
  }
  return vectorTable(q, 4, points, count);
}

/// Twenty points of PG(4, 3), no three on a line; found by search.
constexpr std::array<std::string_view, 20> kCap{"11100", "12020", "10122", "10100", "00121", "10020", "00112",
                                                "12000", "01012", "10112", "01101", "01211", "01201", "01111",
                                                "12220", "11111", "10220", "12101", "12200", "00001"};

Table capTable(std::size_t count) {
  std::vector<Levels> points;
  for (const std::string_view text : kCap) {
    Levels point;
    for (const char c : text) point.push_back(static_cast<std::uint32_t>(c - '0'));
    points.push_back(std::move(point));
  }
  return vectorTable(3, 5, points, count);
}

/// Points x of GF(q^e), a row for each choice of coefficients: the trace onto GF(q) of sum a_j x^j, and a constant where there is
/// one. Dual to cyclic codes and their extensions (MacWilliams and Sloane, ch. 7 and 16).
struct TraceCode {
  std::uint32_t q = 0, e = 0;
  std::vector<std::uint32_t> exponents;  ///< one of each cyclotomic class
  std::uint32_t order = 0;               ///< the points: the roots of unity of this order
  bool constant = false;                 ///< a constant term, and one more column: the constant alone, as at the point 0
};

std::uint32_t power(const Galois& field, std::uint32_t base, std::uint32_t exponent) {
  std::uint32_t result = 1;
  for (std::uint32_t i = 0; i < exponent; ++i) result = field.multiply(result, base);
  return result;
}

/// A root of unity of exactly this order.
std::uint32_t rootOf(const Galois& field, std::uint32_t order) {
  const auto orderOf = [&](std::uint32_t a) {
    std::uint32_t of = 1;
    for (std::uint32_t x = a; x != 1; x = field.multiply(x, a)) ++of;
    return of;
  };
  std::uint32_t root = 2;
  while (orderOf(root) % order != 0) ++root;
  return power(field, root, orderOf(root) / order);
}

/// The columns of the first `count` points.
Table traceTable(const TraceCode& code, std::size_t count) {
  const Galois field = *Galois::make(static_cast<std::uint32_t>(*powerUpTo(code.q, code.e, Galois::kLargest)));
  Levels traces(field.size()), label(field.size(), 0);
  for (std::uint32_t a = 0; a < field.size(); ++a) {
    for (std::uint32_t i = 0, x = a; i < code.e; ++i, x = power(field, x, code.q)) traces[a] = field.add(traces[a], x);
  }
  Levels subfield;  // its elements, by their labels
  for (const std::uint32_t a : std::set<std::uint32_t>(traces.begin(), traces.end())) {
    label[a] = static_cast<std::uint32_t>(subfield.size());
    subfield.push_back(a);
  }
  const Levels sums =
      sumsOf(code.q, [&](std::uint32_t x, std::uint32_t y) { return label[field.add(subfield[x], subfield[y])]; });
  Levels constants{0};
  if (code.constant) {
    constants.resize(code.q);
    std::iota(constants.begin(), constants.end(), 0U);
  }
  const std::uint32_t root = rootOf(field, code.order);
  Table table;
  for (std::uint32_t c = 0, x = 1; c < code.order + (code.constant ? 1 : 0) && c < count; ++c, x = field.multiply(x, root)) {
    Levels cells = constants, terms(field.size());
    for (const std::uint32_t j : code.exponents) {
      const std::uint32_t factor = c < code.order ? power(field, x, j) : 0;  // the last column is the constant alone
      for (std::uint32_t a = 0; a < field.size(); ++a) terms[a] = label[traces[field.multiply(a, factor)]];
      addCoordinate(cells, terms, sums, code.q);
    }
    table.runs = cells.size();
    table.columns.push_back({code.q, std::move(cells)});
  }
  return table;
}

/// Representatives of the cyclotomic classes modulo n that meet 1 .. last; nothing where one has fewer than e members.
std::optional<std::vector<std::uint32_t>> classes(std::uint32_t q, std::uint32_t e, std::uint32_t n, std::uint32_t last) {
  std::set<std::uint32_t> seen;
  std::vector<std::uint32_t> result;
  for (std::uint32_t j = 1; j <= last; ++j) {
    if (seen.count(j % n) != 0) continue;
    std::uint32_t size = 0;
    for (std::uint32_t k = j % n; seen.insert(k).second; k = static_cast<std::uint32_t>(std::uint64_t{k} * q % n)) ++size;
    if (size != e) return std::nullopt;
    result.push_back(j);
  }
  return result;
}

/// Extended narrow-sense primitive BCH: OA(q^(1 + e r), q^e, q, t), r classes in 1 .. t-1; without constant and the point 0,
/// OA(q^(e r), q^e - 1, q, t) with r classes in 1 .. t.
void addBch(std::vector<BaseArray>& arrays, std::uint64_t runs, std::uint32_t q, std::uint32_t m, std::uint32_t t) {
  for (std::uint32_t e = 2; powerUpTo(q, e, Galois::kLargest); ++e) {
    const auto size = static_cast<std::uint32_t>(*powerUpTo(q, e, Galois::kLargest));
    for (const bool constant : {true, false}) {
      const auto exponents = classes(q, e, size - 1, constant ? t - 1 : t);
      if (!exponents || exponents->size() * e + (constant ? 1 : 0) != m) continue;
      const TraceCode code{q, e, *exponents, size - 1, constant};
      arrays.push_back(
          {runs,
           {{q, size - (constant ? 0 : 1)}},
           fmt::format("{}BCH code of length {} over GF({})", constant ? "extended " : "", size - (constant ? 0 : 1), q),
           [code](const Columns& wanted) { return std::optional(traceTable(code, countOf(wanted, code.q))); }});
    }
  }
}

/// The Golay codes over GF(3) and the quadratic-residue codes over GF(4): 11 and 12 columns of strength 4 and 5.
void addResidueCodes(std::vector<BaseArray>& arrays, std::uint64_t runs, std::uint32_t q, std::uint32_t m, std::uint32_t t) {
  const bool extended = m == 6;
  if ((q != 3 && q != 4) || (m != 5 && m != 6) || t > m - 1) return;
  const TraceCode code{q, 5, {1}, 11, extended};
  arrays.push_back(
      {runs,
       {{q, extended ? 12 : 11}},
       fmt::format("{} code of length {} over GF({})", q == 3 ? "Golay" : "quadratic-residue", extended ? 12 : 11, q),
       [code](const Columns& wanted) { return std::optional(traceTable(code, countOf(wanted, code.q))); }});
}

/// The Gray image of the octacode over Z4, 256 words of length 16 (Forney, Sloane, Trott 1993); `derived`: the words that begin
/// with 0, without it, of strength 4.
Array nordstromRobinson(bool derived) {
  constexpr std::array<std::uint32_t, 8> kRow{3, 1, 2, 1, 0, 0, 0, 1};
  Array array = blankArray(256, Levels(16, 2));
  for (std::uint32_t r = 0; r < 256; ++r) {
    for (std::uint32_t c = 0; c < 8; ++c) {
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < 4; ++i) sum += (r >> (2 * i) & 3) * (c == 7 ? 1 : kRow[(c + 7 - i) % 7]);
      array.at(r, 2 * c) = sum % 4 >= 2 ? 1 : 0;
      array.at(r, 2 * c + 1) = sum % 4 == 1 || sum % 4 == 2 ? 1 : 0;
    }
  }
  if (!derived) return array;
  Array half = blankArray(128, Levels(15, 2));
  std::size_t to = 0;
  for (std::size_t r = 0; r < array.runs; ++r) {
    if (array.at(r, 0) != 0) continue;
    for (std::size_t c = 0; c < 15; ++c) half.at(to, c) = array.at(r, c + 1);
    ++to;
  }
  return half;
}

/// The code has strength 5, and each of the eight cosets of the Reed-Muller code RM(1, 4) in it strength 3; so three columns that
/// tell the coset apart make 19 of strength 4 (construction X4 of MacWilliams and Sloane 1977, chapter 18, on the dual). RM(1, 4)
/// is what twice the octacode and its word of ones generate: that word is 1, 0, 1, 1 in the generators, up to even numbers.
Array nordstromRobinsonWithCosets() {
  const Array code = nordstromRobinson(false);
  Array array = blankArray(256, Levels(19, 2));
  for (std::uint32_t r = 0; r < 256; ++r) {
    for (std::uint32_t c = 0; c < 16; ++c) array.at(r, c) = code.at(r, c);
    const auto odd = [r](std::uint32_t generator) { return r >> (2 * generator) & 1; };
    array.at(r, 16) = odd(1);
    array.at(r, 17) = odd(0) ^ odd(2);
    array.at(r, 18) = odd(0) ^ odd(3);
  }
  return array;
}

/// Points and lines of PG(m-1, 2), any three of them independent: a line (two of its points are given) is a column of four
/// levels. Found by search; the sizes are those of Brouwer, Cohen and Nguyen 2006.
struct PointsAndLines {
  std::uint32_t m = 0;
  std::vector<std::array<std::uint32_t, 2>> lines;
  std::vector<std::uint32_t> points;
};
const std::vector<PointsAndLines>& pointsAndLines() {
  static const std::vector<PointsAndLines> kSets{
      {5, {{11, 26}, {9, 15}}, {31, 3, 29, 1}},
      {6, {{50, 60}, {53, 56}, {20, 27}, {62, 45}}, {52, 36, 23, 5}},
      {6, {{50, 60}, {53, 56}, {20, 27}}, {47, 5, 31, 12, 36, 6, 37}},
      {6, {{55, 49}, {25, 12}}, {5, 38, 58, 39, 14, 44, 4, 7, 24, 56, 26, 37}},
      {7, {{19, 49}, {105, 126}, {56, 82}}, {119, 11,  64, 78, 6, 63,  16, 107, 101, 10, 32, 45,
                                             102, 115, 35, 95, 8, 104, 5,  67,  60,  46, 77}},
      {7, {{114, 22}, {87, 102}}, {35, 15, 60,  77, 84, 89,  40, 97,  64, 123, 32, 10, 12, 92,
                                   16, 27, 115, 4,  45, 111, 55, 103, 72, 52,  30, 57, 24, 117}},
      {7, {{37, 75}, {31, 42}, {55, 92}, {24, 99}}, {74, 71, 57,  108, 11, 117, 122, 10, 52, 119,
                                                     54, 72, 120, 56,  4,  9,   6,   34, 69, 59}},
      {7,
       {{13, 118}, {54, 72}, {12, 103}, {34, 76}, {63, 80}},
       {82, 90, 116, 96, 117, 71, 125, 97, 83, 85, 78, 42, 91, 104, 79, 124, 105, 70}},
      {7, {{30, 41}, {49, 90}, {42, 81}, {8, 87}, {39, 80}, {19, 71}}, {54, 83, 114, 21, 111, 51, 75, 106, 86, 18, 46}},
      {7, {{49, 83}, {31, 79}, {21, 71}, {14, 39}, {26, 32}, {42, 78}, {4, 34}}, {95, 89, 33, 107, 18, 25, 124}},
  };
  return kSets;
}

Array pointsAndLinesArray(const PointsAndLines& set) {
  Levels levels(set.lines.size(), 4);
  levels.insert(levels.end(), set.points.size(), 2);
  Array array = blankArray(std::size_t{1} << set.m, std::move(levels));
  const auto parity = [](std::uint32_t x) { return static_cast<std::uint32_t>(__builtin_popcount(x) & 1); };
  for (std::uint32_t r = 0; r < array.runs; ++r) {
    std::size_t c = 0;
    for (const auto& line : set.lines) array.at(r, c++) = 2 * parity(r & line[0]) + parity(r & line[1]);
    for (const std::uint32_t point : set.points) array.at(r, c++) = parity(r & point);
  }
  return array;
}

}  // namespace

std::vector<BaseArray> codeArrays(std::uint64_t runs, std::uint32_t t) {
  std::vector<BaseArray> arrays;
  for (std::uint32_t s = 2; std::uint64_t{s} * s <= runs; ++s) {
    const auto m = exponentOf(runs, s);
    if (!m) continue;
    const bool field = primePower(s) && s <= Galois::kLargest;
    if (*m == t) {
      arrays.push_back({runs, {{s, t + 1}}, fmt::format("zero sums modulo {}", s), [=](const Columns& wanted) {
                          return zeroSum(s, t, countOf(wanted, s), runs);
                        }});
      const std::uint32_t most = t == 3 && s % 2 == 0 ? s + 2 : s + 1;
      if (field && s + 1 >= t)
        arrays.push_back({runs, {{s, most}}, fmt::format("Bush over GF({})", s), [=](const Columns& wanted) {
                            return bush(s, t, countOf(wanted, s), runs);
                          }});
    }
    if (!field) continue;
    if (*m == 4 && t == 3 && s > 2)
      arrays.push_back({runs, {{s, s * s + 1}}, fmt::format("ovoid in PG(3, {})", s), [s](const Columns& wanted) {
                          return std::optional(ovoidTable(s, countOf(wanted, s)));
                        }});
    if (*m == 5 && t == 3 && s == 3)
      arrays.push_back({runs, {{3, 20}}, "cap of 20 points in PG(4, 3)", [](const Columns& wanted) {
                          return std::optional(capTable(countOf(wanted, 3)));
                        }});
    addBch(arrays, runs, s, *m, t);
    addResidueCodes(arrays, runs, s, *m, t);
  }
  if (runs == 256 && t <= 5)
    arrays.push_back(
        {runs, {{2, 16}}, "Nordstrom-Robinson code", [](const Columns&) { return std::optional(nordstromRobinson(false)); }});
  if (runs == 256 && t == 4)
    arrays.push_back({runs, {{2, 19}}, "Nordstrom-Robinson code and the cosets of RM(1, 4) in it", [](const Columns&) {
                        return std::optional(nordstromRobinsonWithCosets());
                      }});
  if (runs == 128 && t <= 4)
    arrays.push_back({runs, {{2, 15}}, "shortened Nordstrom-Robinson code", [](const Columns&) {
                        return std::optional(nordstromRobinson(true));
                      }});
  for (const PointsAndLines& set : pointsAndLines()) {
    if (t != 3 || runs != std::uint64_t{1} << set.m) continue;
    arrays.push_back({runs,
                      {{2, set.points.size()}, {4, set.lines.size()}},
                      fmt::format("{} points and {} lines of PG({}, 2)", set.points.size(), set.lines.size(), set.m - 1),
                      [&set](const Columns&) { return std::optional(pointsAndLinesArray(set)); }});
  }
  return arrays;
}

}  // namespace tbem::design
