#include "compiler/design/field/RaoHamming.h"

#include "compiler/design/field/Galois.h"

#include <fmt/format.h>

namespace tbem::design {

namespace {

Array blank(std::size_t runs, std::uint32_t levels, std::uint32_t columns, std::uint32_t strength) {
  Array array;
  array.levels.assign(columns, levels);
  array.cells.assign(runs * columns, 0);
  array.runs = runs;
  array.strength = strength;
  return array;
}

/// The digits of a row's number in base q, highest first: the first column changes slowest.
std::vector<std::uint32_t> digits(std::size_t row, std::uint32_t q, std::uint32_t length) {
  std::vector<std::uint32_t> out(length);
  for (std::uint32_t i = length; i-- > 0;) {
    out[i] = static_cast<std::uint32_t>(row % q);
    row /= q;
  }
  return out;
}

/// Points of PG(m-1, q), first non-zero coordinate 1: unit vectors first, then by weight of the space that they span.
std::vector<std::vector<std::uint32_t>> projectivePoints(std::uint32_t q, std::uint32_t m, std::uint32_t wanted) {
  std::vector<std::vector<std::uint32_t>> points;
  for (std::uint32_t i = 0; i < m && points.size() < wanted; ++i) {
    std::vector<std::uint32_t> unit(m, 0);
    unit[i] = 1;
    points.push_back(std::move(unit));
  }
  const std::size_t all = *powerUpTo(q, m, SIZE_MAX);
  for (std::size_t number = 1; number < all && points.size() < wanted; ++number) {
    std::vector<std::uint32_t> point = digits(number, q, m);
    std::uint32_t weight = 0, lead = 0;
    for (const std::uint32_t c : point) {
      if (c != 0 && weight++ == 0) lead = c;
    }
    if (weight >= 2 && lead == 1) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace

std::optional<std::size_t> powerUpTo(std::size_t base, std::uint32_t exponent, std::size_t limit) {
  std::size_t result = 1;
  for (std::uint32_t i = 0; i < exponent; ++i) {
    if (base != 0 && result > limit / base) return std::nullopt;
    result *= base;
  }
  return result <= limit ? std::optional(result) : std::nullopt;
}

std::optional<Array> raoHamming(std::uint32_t q, std::uint32_t m, std::uint32_t columns, std::size_t maxRuns) {
  const auto runs = powerUpTo(q, m, maxRuns);
  if (m < 2 || !primePower(q) || !runs || columns > (*runs - 1) / (q - 1)) return std::nullopt;
  const auto field = Galois::make(q);
  if (!field) return std::nullopt;
  const auto points = projectivePoints(q, m, columns);
  Array array = blank(*runs, q, columns, 2);
  // A row is an earlier one, without its first non-zero digit, plus that digit times a coordinate of the points.
  std::vector<std::uint32_t> term(columns);
  std::size_t place = 1;
  for (std::uint32_t i = m; i-- > 0; place *= q) {
    for (std::uint32_t digit = 1; digit < q; ++digit) {
      for (std::uint32_t c = 0; c < columns; ++c) term[c] = field->multiply(points[c][i], digit);
      for (std::size_t rest = 0; rest < place; ++rest) {
        const std::uint32_t* from = array.cells.data() + rest * columns;
        std::uint32_t* to = array.cells.data() + (digit * place + rest) * columns;
        for (std::uint32_t c = 0; c < columns; ++c) to[c] = field->add(from[c], term[c]);
      }
    }
  }
  array.construction = fmt::format("Rao-Hamming over GF({}): {} of {} columns", q, columns, (*runs - 1) / (q - 1));
  return array;
}

std::optional<Array> bush(std::uint32_t q, std::uint32_t t, std::uint32_t columns, std::size_t maxRuns) {
  const auto runs = powerUpTo(q, t, maxRuns);
  const std::uint32_t most = t == 3 && q % 2 == 0 ? q + 2 : q + 1;
  if (t < 2 || !primePower(q) || q + 1 < t || !runs || columns > most) return std::nullopt;
  const auto field = Galois::make(q);
  if (!field) return std::nullopt;
  Array array = blank(*runs, q, columns, t);
  for (std::size_t r = 0; r < *runs; ++r) {
    const auto coefficients = digits(r, q, t);  // highest power first
    for (std::uint32_t c = 0; c < columns; ++c) {
      std::uint32_t value = 0;
      if (c == q) {
        value = coefficients[0];
      } else if (c == q + 1) {
        value = coefficients[1];  // the nucleus of the conic, for q even
      } else {
        for (const std::uint32_t a : coefficients) value = field->add(field->multiply(value, c), a);  // Horner
      }
      array.at(r, c) = value;
    }
  }
  array.construction = fmt::format("Bush over GF({}): {} of {} columns", q, columns, most);
  return array;
}

std::optional<Array> zeroSum(std::uint32_t s, std::uint32_t t, std::uint32_t columns, std::size_t maxRuns) {
  const auto runs = powerUpTo(s, t, maxRuns);
  if (s < 2 || t < 1 || !runs || columns > t + 1) return std::nullopt;
  Array array = blank(*runs, s, columns, t);
  for (std::size_t r = 0; r < *runs; ++r) {
    const auto row = digits(r, s, t);
    std::uint32_t sum = 0;
    for (const std::uint32_t level : row) sum = (sum + level) % s;
    for (std::uint32_t c = 0; c < columns; ++c) array.at(r, c) = c < t ? row[c] : (s - sum) % s;
  }
  array.construction = fmt::format("all rows of {} columns, and minus their sum modulo {}", t, s);
  return array;
}

}  // namespace tbem::design
