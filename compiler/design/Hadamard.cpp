#include "compiler/design/Hadamard.h"

#include "compiler/design/Galois.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tbem::design {

namespace {

HadamardMatrix blank(std::uint32_t order) {
  HadamardMatrix h;
  h.order = order;
  h.cells.assign(std::size_t{order} * order, 1);
  return h;
}
std::int8_t& cell(HadamardMatrix& h, std::uint32_t r, std::uint32_t c) { return h.cells[std::size_t{r} * h.order + c]; }

/// Signs of rows, then of columns, so that row and column 0 are +1.
void normalise(HadamardMatrix& h) {
  for (std::uint32_t r = 0; r < h.order; ++r) {
    if (h.at(r, 0) > 0) continue;
    for (std::uint32_t c = 0; c < h.order; ++c) cell(h, r, c) = static_cast<std::int8_t>(-h.at(r, c));
  }
  for (std::uint32_t c = 0; c < h.order; ++c) {
    if (h.at(0, c) > 0) continue;
    for (std::uint32_t r = 0; r < h.order; ++r) cell(h, r, c) = static_cast<std::int8_t>(-h.at(r, c));
  }
}

/// The character of a - b, with a border: the conference matrix of order q + 1 but for its corner and signs.
int jacobsthal(const Galois& field, std::uint32_t a, std::uint32_t b) {
  return field.quadraticCharacter(field.add(a, field.negate(b)));
}

/// H = I + S, S skew with border 1, -1, q = 3 mod 4.
HadamardMatrix paleyOne(std::uint32_t q) {
  const Galois field = *Galois::make(q);
  HadamardMatrix h = blank(q + 1);
  for (std::uint32_t r = 0; r <= q; ++r) {
    for (std::uint32_t c = 0; c <= q; ++c) {
      const int value = r == c || r == 0 ? 1 : c == 0 ? -1 : jacobsthal(field, r - 1, c - 1);
      cell(h, r, c) = static_cast<std::int8_t>(value);
    }
  }
  h.construction = fmt::format("Paley I over GF({})", q);
  return h;
}

/// Symmetric conference matrix C of order q + 1, q = 1 mod 4; 0 -> [1 -1; -1 -1], +-1 -> +-[1 1; 1 -1].
HadamardMatrix paleyTwo(std::uint32_t q) {
  const Galois field = *Galois::make(q);
  HadamardMatrix h = blank(2 * (q + 1));
  for (std::uint32_t r = 0; r <= q; ++r) {
    for (std::uint32_t c = 0; c <= q; ++c) {
      const int value = r == c ? 0 : r == 0 || c == 0 ? 1 : jacobsthal(field, r - 1, c - 1);
      const int block[2][2] = {{value == 0 ? 1 : value, value == 0 ? -1 : value},
                               {value == 0 ? -1 : value, value == 0 ? -1 : -value}};
      for (std::uint32_t i = 0; i < 2; ++i) {
        for (std::uint32_t j = 0; j < 2; ++j) cell(h, 2 * r + i, 2 * c + j) = static_cast<std::int8_t>(block[i][j]);
      }
    }
  }
  h.construction = fmt::format("Paley II over GF({})", q);
  return h;
}

HadamardMatrix kronecker(const HadamardMatrix& a, const HadamardMatrix& b) {
  HadamardMatrix h = blank(a.order * b.order);
  for (std::uint32_t r = 0; r < h.order; ++r) {
    for (std::uint32_t c = 0; c < h.order; ++c) {
      cell(h, r, c) = static_cast<std::int8_t>(a.at(r / b.order, c / b.order) * b.at(r % b.order, c % b.order));
    }
  }
  return h;
}

/// Four symmetric circulants of odd order n whose squares add to 4 n I (Williamson 1944). Bit j-1 of a number: cell j of the
/// first row is -1; cell 0 is +1. Order 92 is Baumert, Golomb and Hall's of 1962, 116 Baumert's of 1966; these quadruples were
/// found by a search over the autocorrelations.
struct Williamson {
  std::uint32_t n = 0;
  std::array<std::uint32_t, 4> rows{};
};
constexpr std::array<Williamson, 2> kWilliamson{{{23, {0x613, 0x254, 0xa7, 0x31f}}, {29, {0x2f3, 0xb11, 0x6bb, 0x30a6}}}};

const Williamson* williamsonOf(std::uint32_t order) {
  for (const Williamson& entry : kWilliamson) {
    if (order == 4 * entry.n) return &entry;
  }
  return nullptr;
}

HadamardMatrix williamson(const Williamson& entry) {
  // The quaternion array: which circulant stands in a block, with which sign.
  constexpr int kBlocks[4][4] = {{1, 2, 3, 4}, {-2, 1, -4, 3}, {-3, 4, 1, -2}, {-4, -3, 2, 1}};
  const std::uint32_t n = entry.n;
  HadamardMatrix h = blank(4 * n);
  for (std::uint32_t r = 0; r < h.order; ++r) {
    for (std::uint32_t c = 0; c < h.order; ++c) {
      const int block = kBlocks[r / n][c / n];
      const std::uint32_t apart = (r % n + n - c % n) % n, j = std::min(apart, n - apart);
      const std::uint32_t row = entry.rows[static_cast<std::size_t>(block < 0 ? -block - 1 : block - 1)];
      const bool negative = j != 0 && (row >> (j - 1) & 1) != 0;
      cell(h, r, c) = static_cast<std::int8_t>((block < 0) == negative ? 1 : -1);
    }
  }
  return h;
}

bool paleyOneReaches(std::uint32_t order) { return order >= 4 && order % 4 == 0 && primePower(order - 1).has_value(); }
bool paleyTwoReaches(std::uint32_t order) {
  return order >= 12 && order % 4 == 0 && (order / 2 - 1) % 4 == 1 && primePower(order / 2 - 1).has_value();
}

/// A factor a of order such that a Hadamard matrix of a is direct (2, Paley I or II) and order / a is reached; 0 if there is
/// none.
std::uint32_t splitOf(std::uint32_t order) {
  for (std::uint32_t a = 2; a <= order / 2; ++a) {
    if (order % a != 0) continue;
    const bool direct = a == 2 || paleyOneReaches(a) || paleyTwoReaches(a);
    if (direct && !hadamardConstruction(order / a).empty()) return a;
  }
  return 0;
}

}  // namespace

std::string hadamardConstruction(std::uint32_t order) {
  if (order == 0 || order > kLargestHadamard || (order > 2 && order % 4 != 0)) return "";
  if (order <= 2) return "Sylvester";
  if ((order & (order - 1)) == 0) return "Sylvester";
  if (paleyOneReaches(order)) return fmt::format("Paley I over GF({})", order - 1);
  if (paleyTwoReaches(order)) return fmt::format("Paley II over GF({})", order / 2 - 1);
  if (const Williamson* entry = williamsonOf(order)) return fmt::format("Williamson, four circulants of order {}", entry->n);
  const std::uint32_t a = splitOf(order);
  return a == 0 ? "" : fmt::format("Kronecker product of orders {} and {}", a, order / a);
}

std::optional<HadamardMatrix> hadamard(std::uint32_t order) {
  const std::string construction = hadamardConstruction(order);
  if (construction.empty()) return std::nullopt;
  HadamardMatrix h = blank(order);
  if (order == 2) {
    cell(h, 1, 1) = -1;
  } else if (order > 2 && (order & (order - 1)) == 0) {
    h = kronecker(*hadamard(2), *hadamard(order / 2));
  } else if (paleyOneReaches(order)) {
    h = paleyOne(order - 1);
  } else if (paleyTwoReaches(order)) {
    h = paleyTwo(order / 2 - 1);
  } else if (const Williamson* entry = williamsonOf(order)) {
    h = williamson(*entry);
  } else if (order > 2) {
    const std::uint32_t a = splitOf(order);
    if (a == 0) return std::nullopt;
    h = kronecker(*hadamard(a), *hadamard(order / a));
  }
  normalise(h);
  h.construction = construction;
  return h;
}

std::optional<Array> hadamardArray(std::uint32_t runs, std::uint32_t columns) {
  if (runs < 4 || columns + 1 > runs) return std::nullopt;
  const auto h = hadamard(runs);
  if (!h) return std::nullopt;
  Array array;
  array.levels.assign(columns, 2);
  array.runs = runs;
  array.strength = 2;
  array.cells.resize(std::size_t{runs} * columns);
  for (std::uint32_t r = 0; r < runs; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c) array.at(r, c) = h->at(r, c + 1) > 0 ? 0 : 1;
  }
  array.construction =
      fmt::format("Hadamard matrix of order {} ({}): {} of {} columns", runs, h->construction, columns, runs - 1);
  return array;
}

std::optional<Array> foldoverArray(std::uint32_t runs, std::uint32_t columns) {
  if (runs < 8 || runs % 8 != 0 || columns > runs / 2) return std::nullopt;
  const auto h = hadamard(runs / 2);
  if (!h) return std::nullopt;
  Array array;
  array.levels.assign(columns, 2);
  array.runs = runs;
  array.strength = 3;
  array.cells.resize(std::size_t{runs} * columns);
  for (std::uint32_t r = 0; r < runs; ++r) {
    const int sign = r < runs / 2 ? 1 : -1;
    for (std::uint32_t c = 0; c < columns; ++c) array.at(r, c) = sign * h->at(r % (runs / 2), c) > 0 ? 0 : 1;
  }
  array.construction = fmt::format("Hadamard matrix of order {} ({}) and its negative: {} of {} columns", runs / 2,
                                   h->construction, columns, runs / 2);
  return array;
}

}  // namespace tbem::design
