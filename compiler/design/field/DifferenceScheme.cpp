#include "compiler/design/field/DifferenceScheme.h"

#include "compiler/design/field/DifferenceTables.h"
#include "compiler/design/field/Galois.h"
#include "compiler/design/field/Hadamard.h"

#include <algorithm>

namespace tbem::design {

namespace {

DifferenceScheme blank(std::uint32_t rows, std::uint32_t columns, std::uint32_t levels) {
  return {rows, columns, levels, std::vector<std::uint32_t>(std::size_t{rows} * columns, 0)};
}
std::uint32_t& cell(DifferenceScheme& scheme, std::uint32_t r, std::uint32_t c) {
  return scheme.cells[std::size_t{r} * scheme.columns + c];
}

/// The multiplication table of GF(rows); a power of the same prime is the group of the lowest digits.
DifferenceScheme fieldScheme(std::uint32_t rows, std::uint32_t columns, std::uint32_t levels) {
  const Galois field = *Galois::make(rows);
  DifferenceScheme scheme = blank(rows, columns, levels);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) cell(scheme, r, c) = field.multiply(r, c) % levels;
  }
  return scheme;
}

DifferenceScheme hadamardScheme(std::uint32_t rows, std::uint32_t columns) {
  const HadamardMatrix h = *hadamard(rows);
  DifferenceScheme scheme = blank(rows, columns, 2);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) cell(scheme, r, c) = h.at(r, c) > 0 ? 0 : 1;
  }
  return scheme;
}

/// Coefficients of a quadratic form a x^2 + b x y + c y^2 in each of blocks x blocks.
struct Forms {
  std::uint32_t blocks = 0;
  std::vector<std::uint32_t> a, b, c;
};

/// D(2q, 2q, q), q odd (Jungnickel 1979). In the difference of columns (j, y) and (k, z) the values of block i are those of a
/// quadratic in x, each taken 1 + character((value - vertex) / lead) times; the two blocks' leads are a square and a non-square
/// (1 and n), and the vertices agree, which fixes the other coefficients: 4 c10 = 1 - 1/n, 4 c11 = n - 1.
Forms twoBlocks(const Galois& field) {
  std::uint32_t n = 2;
  while (field.quadraticCharacter(n) != -1) ++n;
  const auto divide = [&](std::uint32_t a, std::uint32_t b) {
    std::uint32_t quotient = 0;
    while (field.multiply(quotient, b) != a) ++quotient;
    return quotient;
  };
  const std::uint32_t two = field.add(1, 1), four = field.add(two, two), minusOne = field.negate(1);
  const std::uint32_t c10 = divide(field.add(1, field.negate(divide(1, n))), four), c11 = divide(field.add(n, minusOne), four);
  return {2, {0, 1, 0, n}, {1, 1, 1, n}, {0, 0, c10, c11}};
}

Forms fourBlocks(const FormTable& table) {
  Forms forms{4, {}, {}, {}};
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      forms.a.push_back(table.a[i][j]);
      forms.b.push_back(table.b[i][j]);
      forms.c.push_back(table.c[i][j]);
    }
  }
  return forms;
}

const FormTable* formTable(std::uint32_t levels) {
  for (const FormTable& table : kFormTables) {
    if (table.levels == levels) return &table;
  }
  return nullptr;
}

DifferenceScheme formScheme(std::uint32_t rows, std::uint32_t columns, std::uint32_t q) {
  const Galois field = *Galois::make(q);
  const Forms forms = rows == 2 * q ? twoBlocks(field) : fourBlocks(*formTable(q));
  DifferenceScheme scheme = blank(rows, columns, q);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t col = 0; col < columns; ++col) {
      const std::uint32_t x = r % q, y = col % q, at = r / q * forms.blocks + col / q;
      const std::uint32_t square = field.multiply(forms.a[at], field.multiply(x, x));
      const std::uint32_t cross = field.multiply(forms.b[at], field.multiply(x, y));
      cell(scheme, r, col) = field.add(field.add(square, cross), field.multiply(forms.c[at], field.multiply(y, y)));
    }
  }
  return scheme;
}

/// A table for these sizes, or one over a larger group of which `levels` is a quotient: then its digits are dropped.
const DifferenceTable* differenceTable(std::uint32_t rows, std::uint32_t levels) {
  const DifferenceTable* found = nullptr;
  for (const DifferenceTable& table : kDifferenceTables) {
    if (table.rows != rows || table.levels % levels != 0) continue;
    // The quotient drops the lowest digits, which are of the smallest prime.
    std::uint32_t rest = table.levels / levels;
    while (rest % 2 == 0) rest /= 2;
    if (rest == 1 && (found == nullptr || table.columns > found->columns)) found = &table;
  }
  return found;
}

DifferenceScheme tableScheme(std::uint32_t rows, std::uint32_t columns, std::uint32_t levels) {
  const DifferenceTable& table = *differenceTable(rows, levels);
  DifferenceScheme scheme = blank(rows, columns, levels);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      const char letter = table.cells[c][r];
      const auto element = static_cast<std::uint32_t>(letter <= '9' ? letter - '0' : letter - 'a' + 10);
      cell(scheme, r, c) = element / (table.levels / levels);
    }
  }
  return scheme;
}

/// Rows and columns are pairs; the cell is the sum of both cells.
DifferenceScheme kroneckerSum(const DifferenceScheme& first, const DifferenceScheme& second, std::uint32_t columns) {
  const LevelGroup group(first.levels);
  DifferenceScheme scheme = blank(first.rows * second.rows, columns, first.levels);
  for (std::uint32_t r = 0; r < scheme.rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      cell(scheme, r, c) =
          group.add(first.at(r / second.rows, c / second.columns), second.at(r % second.rows, c % second.columns));
    }
  }
  return scheme;
}

/// Rows are pairs; the cell is the pair of both cells, of a power of a prime (first, the smaller prime) and the coprime rest.
DifferenceScheme productScheme(const DifferenceScheme& first, const DifferenceScheme& second, std::uint32_t columns) {
  DifferenceScheme scheme = blank(first.rows * second.rows, columns, first.levels * second.levels);
  for (std::uint32_t r = 0; r < scheme.rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) {
      cell(scheme, r, c) = first.at(r / second.rows, c) + first.levels * second.at(r % second.rows, c);
    }
  }
  return scheme;
}

/// The largest power of the smallest prime factor of `levels` that divides it.
std::uint32_t firstPart(std::uint32_t levels) {
  std::uint32_t p = 2, part = 1;
  while (levels % p != 0) ++p;
  for (; levels % p == 0; levels /= p) part *= p;
  return part;
}

}  // namespace

LevelGroup::LevelGroup(std::uint32_t levels) {
  for (std::uint32_t p = 2; levels > 1; ++p) {
    for (; levels % p == 0; levels /= p) primes.push_back(p);
  }
}

std::uint32_t LevelGroup::add(std::uint32_t a, std::uint32_t b) const {
  if (primes.size() == 1) return (a + b) % primes[0];
  std::uint32_t sum = 0, place = 1;
  for (const std::uint32_t p : primes) {
    sum += (a + b) % p * place;
    a /= p;
    b /= p;
    place *= p;
  }
  return sum;
}

std::uint32_t LevelGroup::negate(std::uint32_t a) const {
  std::uint32_t result = 0, place = 1;
  for (const std::uint32_t p : primes) {
    result += (p - a % p) % p * place;
    a /= p;
    place *= p;
  }
  return result;
}

std::uint32_t DifferenceSchemes::columns(std::uint32_t rows, std::uint32_t levels) { return best(rows, levels).columns; }

DifferenceSchemes::Best DifferenceSchemes::best(std::uint32_t rows, std::uint32_t levels) {
  if (levels < 2 || rows % levels != 0) return {};
  const std::uint64_t key = std::uint64_t{rows} << 32 | levels;
  const auto at = known.find(key);
  if (at != known.end()) return at->second;
  Best best{Way::Two, 2, {}, {}};
  const auto offer = [&](Way way, std::uint32_t columns, std::pair<std::uint32_t, std::uint32_t> first = {},
                         std::pair<std::uint32_t, std::uint32_t> second = {}) {
    if (columns > best.columns) best = {way, columns, first, second};
  };
  const auto ofRows = primePower(rows), ofLevels = primePower(levels);
  if (ofRows && ofLevels && ofRows->prime == ofLevels->prime && rows <= Galois::kLargest) offer(Way::Field, rows);
  if (levels == 2 && hadamardReaches(rows)) offer(Way::Hadamard, rows);
  if (ofLevels && levels % 2 == 1 && levels <= Galois::kLargest &&
      (rows == 2 * levels || (rows == 4 * levels && formTable(levels))))
    offer(Way::Forms, rows);
  if (const DifferenceTable* table = differenceTable(rows, levels)) offer(Way::Table, table->columns);
  // A full scheme (as many columns as rows) cannot be beaten.
  for (std::uint32_t r = levels; best.columns < rows && r * levels <= rows; r += levels) {
    if (rows % r == 0 && rows / r % levels == 0)
      offer(Way::KroneckerSum, columns(r, levels) * columns(rows / r, levels), {r, levels}, {rows / r, levels});
  }
  const std::uint32_t part = firstPart(levels), rest = levels / part;
  for (std::uint32_t r = part; rest > 1 && r * rest <= rows; r += part) {
    if (rows % r == 0 && rows / r % rest == 0)
      offer(Way::Product, std::min(columns(r, part), columns(rows / r, rest)), {r, part}, {rows / r, rest});
  }
  known[key] = best;
  return best;
}

DifferenceScheme DifferenceSchemes::build(std::uint32_t rows, std::uint32_t columns, std::uint32_t levels) {
  const Best way = best(rows, levels);
  switch (way.way) {
    case Way::Field:
      return fieldScheme(rows, columns, levels);
    case Way::Hadamard:
      return hadamardScheme(rows, columns);
    case Way::Forms:
      return formScheme(rows, columns, levels);
    case Way::Table:
      return tableScheme(rows, columns, levels);
    case Way::KroneckerSum: {
      const std::uint32_t second = this->columns(way.second.first, levels);
      return kroneckerSum(build(way.first.first, this->columns(way.first.first, levels), levels),
                          build(way.second.first, second, levels), columns);
    }
    case Way::Product:
      return productScheme(build(way.first.first, columns, way.first.second), build(way.second.first, columns, way.second.second),
                           columns);
    case Way::Two:
    case Way::Zero:
      break;
  }
  DifferenceScheme scheme = blank(rows, columns, levels);
  for (std::uint32_t r = 0; r < rows && columns == 2; ++r) cell(scheme, r, 1) = r % levels;
  return scheme;
}

}  // namespace tbem::design
