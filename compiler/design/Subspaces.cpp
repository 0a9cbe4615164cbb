#include "compiler/design/Subspaces.h"

#include "compiler/design/Caps.h"
#include "compiler/design/Coordinates.h"
#include "compiler/design/DifferenceScheme.h"
#include "compiler/design/Galois.h"
#include "compiler/design/RaoHamming.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::size_t kMostVectors = std::size_t{1} << 24;
constexpr std::uint8_t kNever = 255;

/// Sums of vectors of GF(p)^m by their numbers: of the low and the high half of the digits by tables.
class Space {
public:
  Space(std::uint32_t p, std::uint32_t m) : p(p), half(1), size(*powerUpTo(p, m, kMostVectors)) {
    for (std::uint32_t i = 0; i < m / 2; ++i) half *= p;
  }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t sum = 0;
    for (std::uint32_t place = 1; a != 0 || b != 0; place *= p, a /= p, b /= p) sum += (a % p + b % p) % p * place;
    return sum;
  }
  std::uint32_t times(std::uint32_t a, std::uint32_t factor) const {
    std::uint32_t result = 0;
    for (std::uint32_t place = 1; a != 0; place *= p, a /= p) result += a % p * factor % p * place;
    return result;
  }
  /// least[v] becomes the least of least[v + c b] over all c.
  void spread(std::vector<std::uint8_t>& least, std::uint32_t b) const {
    const std::vector<std::uint8_t> before = least;
    const auto high = static_cast<std::uint32_t>(size / half);
    Numbers low(half), top(high);
    for (std::uint32_t c = 1; c < p; ++c) {
      const std::uint32_t by = times(b, c);
      for (std::uint32_t i = 0; i < half; ++i) low[i] = add(i, by % half);
      for (std::uint32_t i = 0; i < high; ++i) top[i] = add(i, by / half) * half;
      std::uint8_t* to = least.data();
      for (std::uint32_t i = 0; i < high; ++i) {
        const std::uint8_t* from = before.data() + top[i];
        for (std::uint32_t j = 0; j < half; ++j, ++to) *to = std::min(*to, from[low[j]]);
      }
    }
  }

  const std::uint32_t p;
  std::uint32_t half;
  const std::size_t size;
};

class Greedy {
public:
  Greedy(std::uint32_t strength, std::uint32_t p, std::uint32_t m, std::uint32_t field)
      : strength(strength), field(field), space(p, m), fewest(space.size, kNever) {
    fewest[0] = 0;
    if (field > 1) line = Galois::make(static_cast<std::uint32_t>(*powerUpTo(p, field, Galois::kLargest)));
  }

  /// Points that are tried before all others.
  Numbers preferred;

  /// A subspace of so many dimensions, none of whose vectors but 0 is a sum of `strength` - 1 from those before.
  bool add(std::uint32_t dimensions, Numbers& basis) {
    const bool found = addFrom(dimensions, basis);
    if (found) use(basis);
    return found;
  }

private:
  bool free(std::uint32_t v) const { return fewest[v] >= strength; }

  bool addFrom(std::uint32_t dimensions, Numbers& basis) {
    const std::size_t most = dimensions == field ? 200 : 4;
    const auto from = [&](std::size_t b) { return free(static_cast<std::uint32_t>(b)) && extends(b, dimensions, basis); };
    if (std::any_of(preferred.begin(), preferred.end(), from)) return true;
    while (next < space.size && !free(static_cast<std::uint32_t>(next))) ++next;  // what is forbidden stays so
    std::size_t tried = 0;
    for (std::size_t b = next; b < space.size && tried < most; ++b) {
      if (from(b)) return true;
      tried += free(static_cast<std::uint32_t>(b)) ? 1 : 0;
    }
    return false;
  }

  /// A subspace with this vector.
  bool extends(std::size_t b, std::uint32_t dimensions, Numbers& basis) {
    basis.clear();
    span.assign(1, 0);
    if (!take(static_cast<std::uint32_t>(b), basis)) return false;
    return dimensions == field ? complete(basis) : grow(dimensions, basis);
  }

  /// b into the basis, if all that is then spanned is free.
  bool take(std::uint32_t b, Numbers& basis) {
    const std::size_t before = span.size();
    for (std::uint32_t c = 1; c < space.p; ++c) {
      const std::uint32_t by = space.times(b, c);
      for (std::size_t i = 0; i < before; ++i) {
        const std::uint32_t sum = space.add(span[i], by);
        if (sum == 0 || !free(sum)) {
          span.resize(before);
          return false;
        }
        span.push_back(sum);
      }
    }
    basis.push_back(b);
    return true;
  }

  /// The other multiples of the first of the basis by powers of x: a line over the larger field.
  bool complete(Numbers& basis) {
    while (basis.size() < field) {
      const std::uint32_t q = line->size();
      std::uint32_t multiple = 0;
      std::uint64_t place = 1;
      for (std::uint32_t rest = basis.back(); rest != 0; rest /= q, place *= q)
        multiple += line->multiply(rest % q, space.p) * static_cast<std::uint32_t>(place);
      if (!take(multiple, basis)) return false;
    }
    return true;
  }

  bool grow(std::uint32_t dimensions, Numbers& basis) {
    for (std::size_t b = basis.back() + std::size_t{1}; b < space.size && basis.size() < dimensions; ++b) {
      if (free(static_cast<std::uint32_t>(b))) take(static_cast<std::uint32_t>(b), basis);
    }
    return basis.size() == dimensions;
  }

  void use(const Numbers& basis) {
    std::vector<std::uint8_t> least = fewest;
    for (const std::uint32_t b : basis) space.spread(least, b);
    for (std::size_t v = 0; v < fewest.size(); ++v) {
      if (least[v] != kNever) fewest[v] = std::min<std::uint8_t>(fewest[v], least[v] + 1);
    }
  }

  const std::uint32_t strength, field;
  const Space space;
  std::optional<Galois> line;
  std::vector<std::uint8_t> fewest;  ///< of each vector: of how many subspaces it is a sum
  Numbers span;                      ///< of the basis at hand
  std::size_t next = 1;              ///< all before are forbidden
};

std::uint32_t exponentOf(std::uint32_t power, std::uint32_t p) {
  std::uint32_t exponent = 0;
  for (; power > 1; power /= p) ++exponent;
  return exponent;
}

}  // namespace

std::optional<Subspaces> independentSubspaces(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::uint32_t p,
                                              std::uint32_t m, std::uint32_t field) {
  if (!powerUpTo(p, m, kMostVectors) || !powerUpTo(p, field, Galois::kLargest) || m % field != 0) return std::nullopt;
  Greedy greedy(strength, p, m, field);
  const auto q = static_cast<std::uint32_t>(*powerUpTo(p, field, Galois::kLargest));
  if (strength == 3 && m / field >= 2) {
    for (const auto& point : capPoints(q, m / field, levels.size())) {
      std::uint32_t number = 0;
      for (auto digit = point.rbegin(); digit != point.rend(); ++digit) number = number * q + *digit;
      greedy.preferred.push_back(number);
    }
  }
  std::vector<std::size_t> order(levels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return levels[a] > levels[b]; });
  Subspaces result{p, m, std::vector<Numbers>(levels.size()), field};
  for (const std::size_t column : order) {
    if (!greedy.add(exponentOf(levels[column], p), result.bases[column])) return std::nullopt;
  }
  return result;
}

Table subspaceTable(const Subspaces& subspaces) {
  const std::uint32_t p = subspaces.p;
  Table table(*powerUpTo(p, subspaces.m, kMostVectors));
  for (const Numbers& basis : subspaces.bases) {
    const auto s = static_cast<std::uint32_t>(*powerUpTo(p, static_cast<std::uint32_t>(basis.size()), kMostVectors));
    const LevelGroup group(s);
    const Numbers sums = sumsOf(s, [&](std::uint32_t a, std::uint32_t b) { return group.add(a, b); });
    Numbers cells{0}, terms(p), rest = basis;
    for (std::uint32_t i = 0; i < subspaces.m; ++i) {
      for (std::uint32_t digit = 0; digit < p; ++digit) {
        terms[digit] = 0;
        for (std::size_t j = rest.size(); j-- > 0;) terms[digit] = terms[digit] * p + rest[j] % p * digit % p;
      }
      for (std::uint32_t& vector : rest) vector /= p;
      addCoordinate(cells, terms, sums, s);
    }
    table.columns.push_back({s, std::move(cells)});
  }
  return table;
}

}  // namespace tbem::design
