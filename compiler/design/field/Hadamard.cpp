#include "compiler/design/field/Hadamard.h"

#include "compiler/design/field/FourCirculants.h"
#include "compiler/design/field/Galois.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
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
  const std::vector<std::int8_t> first(h.cells.begin(), h.cells.begin() + h.order);
  const std::int8_t* signs = first.data();
  for (std::uint32_t r = 0; r < h.order; ++r) {
    std::int8_t* row = &cell(h, r, 0);
    const int own = row[0] * signs[0];
    for (std::uint32_t c = 0, end = h.order; c < end; ++c) row[c] = static_cast<std::int8_t>(row[c] * own * signs[c]);
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
  std::vector<std::int8_t> values(q);  // of row 1; in a prime field the other rows are it, cycled
  for (std::uint32_t c = 0; c < q; ++c) values[c] = static_cast<std::int8_t>(c == 0 ? 1 : jacobsthal(field, 0, c));
  const bool cyclic = primePower(q)->exponent == 1;
  for (std::uint32_t r = 0; r < q; ++r) {
    std::int8_t* row = &cell(h, r + 1, 0);
    *row++ = -1;
    if (cyclic) {
      std::copy_n(values.begin(), q - r, std::copy_n(values.end() - r, r, row));
    } else {
      for (std::uint32_t c = 0; c < q; ++c) row[c] = values[field.add(c, field.negate(r))];
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

/// Goethals and Seidel's array (1967) of four circulants A, B, C, D and R, the identity with its columns reversed.
HadamardMatrix goethalsSeidel(const FourCirculants& circulants) {
  // Which circulant stands in a block, 1 to 4, with which sign; + 4: transposed. Off the diagonal they are multiplied by R.
  constexpr int kBlocks[4][4] = {{1, 2, 3, 4}, {-2, 1, 8, -7}, {-3, -8, 1, 6}, {-4, 7, -6, 1}};
  const auto n = static_cast<std::uint32_t>(circulants.rows[0].size());
  HadamardMatrix h = blank(4 * n);
  for (std::uint32_t r = 0; r < h.order; ++r) {
    for (std::uint32_t c = 0; c < h.order; ++c) {
      const int block = kBlocks[r / n][c / n], which = std::abs(block);
      const std::uint32_t i = r % n, j = c % n;
      const std::uint32_t at = which == 1 ? j + n - i : which < 5 ? 2 * n - 1 - j - i : i + j + 1;
      const int value = circulants.rows[static_cast<std::size_t>((which - 1) % 4)][at % n];
      cell(h, r, c) = static_cast<std::int8_t>(block < 0 ? -value : value);
    }
  }
  return h;
}

bool paleyOneReaches(std::uint32_t order) { return order >= 4 && order % 4 == 0 && primePower(order - 1).has_value(); }
bool paleyTwoReaches(std::uint32_t order) {
  return order >= 12 && order % 4 == 0 && (order / 2 - 1) % 4 == 1 && primePower(order / 2 - 1).has_value();
}

bool miyamotoReaches(std::uint32_t order) {
  const std::uint32_t q = order / 4, half = q / 2;
  return order % 4 == 0 && q % 8 == 1 && primePower(q).has_value() && (paleyOneReaches(half) || paleyTwoReaches(half));
}

/// A symmetric one: Paley I with its rows in the order of the negative elements, or Paley II.
HadamardMatrix symmetricPaley(std::uint32_t order) {
  if (!paleyOneReaches(order)) return paleyTwo(order / 2 - 1);
  const Galois field = *Galois::make(order - 1);
  HadamardMatrix h = blank(order);
  for (std::uint32_t r = 1; r < order; ++r) {
    for (std::uint32_t c = 1; c < order; ++c) {
      const int value = field.quadraticCharacter(field.add(r - 1, c - 1));
      cell(h, r, c) = static_cast<std::int8_t>(value == 0 ? -1 : value);
    }
  }
  return h;
}

/// Miyamoto 1991, as Seberry and Yamada have it (1992): four matrices W of order q = 2 n + 1, any W V^T symmetric, whose squares
/// W W^T add to 4 q I, in Williamson's array. Each is 1 or -1 in the corner, 1 in the border, and U (x) [1 1; 1 1] + V (x) [1 -1;
/// -1 1]: U, V are -A, I; B R, 0; and twice 0, H. A and B are the circulants of the character at differences of squares, of
/// squares and non-squares of GF(q); H is a symmetric Hadamard matrix of order n.
HadamardMatrix miyamoto(std::uint32_t q) {
  constexpr int kBlocks[4][4] = {{1, 2, 3, 4}, {-2, 1, -4, 3}, {-3, 4, 1, -2}, {-4, -3, 2, 1}};
  const Galois field = *Galois::make(q);
  const std::uint32_t n = q / 2, g = field.primitive();
  std::vector<int> a, b;
  for (std::uint32_t i = 0, square = 1; i < n; ++i, square = field.multiply(square, field.multiply(g, g))) {
    a.push_back(jacobsthal(field, square, 1));
    b.push_back(jacobsthal(field, square, g));
  }
  const HadamardMatrix symmetric = symmetricPaley(n);
  const auto inner = [&](int which, std::uint32_t r, std::uint32_t c) {
    const std::uint32_t i = r / 2, j = c / 2;
    const int sign = r % 2 == c % 2 ? 1 : -1;
    if (which == 1) return i == j ? sign : -a[(i + n - j) % n];
    return which == 2 ? b[(i + j + 1) % n] : sign * symmetric.at(i, j);
  };
  HadamardMatrix h = blank(4 * q);
  for (std::uint32_t r = 0; r < h.order; ++r) {
    for (std::uint32_t c = 0; c < h.order; ++c) {
      const int block = kBlocks[r / q][c / q], which = std::abs(block);
      const std::uint32_t i = r % q, j = c % q;
      const int value = i == 0 && j == 0 ? (which == 1 ? 1 : -1) : i == 0 || j == 0 ? 1 : inner(which, i - 1, j - 1);
      cell(h, r, c) = static_cast<std::int8_t>(block < 0 ? -value : value);
    }
  }
  return h;
}

bool direct(std::uint32_t order) { return order == 2 || paleyOneReaches(order) || paleyTwoReaches(order); }

/// A factor a of order such that a Hadamard matrix of a is direct and order / a is reached; 0 if there is none.
template <class Reaches>
std::uint32_t splitOf(std::uint32_t order, Reaches reaches) {
  for (std::uint32_t a = 2; a <= order / 2; ++a) {
    if (order % a == 0 && reaches(order / a) && direct(a)) return a;
  }
  return 0;
}

std::vector<bool> reachedOrders() {
  std::vector<bool> reached(kLargestHadamard + 1);
  reached[1] = reached[2] = true;
  for (std::uint32_t n = 4; n <= kLargestHadamard; n += 4) {
    reached[n] = direct(n) || fourCirculantsReach(n / 4) || miyamotoReaches(n) ||
                 splitOf(n, [&](std::uint32_t b) { return reached[b]; }) != 0;
  }
  return reached;
}

}  // namespace

bool hadamardReaches(std::uint32_t order) {
  static const std::vector<bool> kReached = reachedOrders();  // searches ask thousands of times
  return order <= kLargestHadamard && kReached[order];
}

std::string hadamardConstruction(std::uint32_t order) {
  if (!hadamardReaches(order)) return "";
  if ((order & (order - 1)) == 0) return "Sylvester";
  if (paleyOneReaches(order)) return fmt::format("Paley I over GF({})", order - 1);
  if (paleyTwoReaches(order)) return fmt::format("Paley II over GF({})", order / 2 - 1);
  if (fourCirculantsReach(order / 4)) return fourCirculants(order / 4)->words;
  if (miyamotoReaches(order)) return fmt::format("Miyamoto over GF({})", order / 4);
  const std::uint32_t a = splitOf(order, hadamardReaches);
  return fmt::format("Kronecker product of orders {} and {}", a, order / a);
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
  } else if (const auto circulants = order > 2 ? fourCirculants(order / 4) : std::nullopt) {
    h = goethalsSeidel(*circulants);
  } else if (miyamotoReaches(order)) {
    h = miyamoto(order / 4);
  } else if (order > 2) {
    const std::uint32_t a = splitOf(order, hadamardReaches);
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
