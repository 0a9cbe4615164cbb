#include "compiler/design/field/Subspaces.h"

#include "compiler/design/array/Coordinates.h"
#include "compiler/design/field/Caps.h"
#include "compiler/design/field/DifferenceScheme.h"
#include "compiler/design/field/Galois.h"
#include "compiler/design/field/RaoHamming.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tbem::design {

namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::size_t kMostVectors = std::size_t{1} << 24;
constexpr std::size_t kMostSums = std::size_t{1} << 17;
constexpr std::uint8_t kNever = 255;

/// Sums of vectors of GF(p)^m by their numbers.
class Space {
public:
  Space(std::uint32_t p, std::uint32_t m) : p(p), size(*powerUpTo(p, m, kMostVectors)) {
    if (p == 2 || m < 2) return;
    const std::size_t high = *powerUpTo(p, (m + 1) / 2, kMostVectors);  // the lower half of the digits are no more
    if (high * high > kMostSums) return;
    half = static_cast<std::uint32_t>(high);
    sums.resize(high * high);
    for (std::uint32_t a = 0; a < half; ++a) {  // those of all digits but the lowest are there
      for (std::uint32_t b = 0; b < half; ++b)
        sums[std::size_t{a} * half + b] = a == 0 ? b : (a % p + b % p) % p + p * sums[std::size_t{a / p} * half + b / p];
    }
  }
  std::uint32_t add(std::uint32_t a, std::uint32_t b) const {
    if (p == 2) return a ^ b;
    if (sums.empty()) return addDigits(a, b);
    return sums[std::size_t{a / half} * half + b / half] * half + sums[std::size_t{a % half} * half + b % half];
  }
  std::uint32_t times(std::uint32_t a, std::uint32_t factor) const {
    if (factor == 1) return a;
    std::uint32_t result = 0;
    for (std::uint32_t place = 1; a != 0; place *= p, a /= p) result += a % p * factor % p * place;
    return result;
  }

  const std::uint32_t p;
  const std::size_t size;

private:
  std::uint32_t addDigits(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t sum = 0;
    for (std::uint32_t place = 1; a != 0 || b != 0; place *= p, a /= p, b /= p) sum += (a % p + b % p) % p * place;
    return sum;
  }

  std::uint32_t half = 1;  ///< p to the half of m
  Numbers sums;            ///< of two vectors of half the digits; none where they are too many
};

class Greedy {
public:
  Greedy(std::uint32_t strength, std::uint32_t p, std::uint32_t m, std::uint32_t field)
      : strength(strength), field(field), space(p, m), fewest(space.size, kNever), layers(strength - 1) {
    fewest[0] = 0;
    layers[0].push_back(0);
    if (field > 1) line = Galois::make(static_cast<std::uint32_t>(*powerUpTo(p, field, Galois::kLargest)));
  }

  /// Points that are tried before all others.
  Numbers preferred;

  /// A subspace of so many dimensions, none of whose vectors but 0 is a sum of `strength` - 1 from those before.
  bool add(std::uint32_t dimensions, Numbers& basis) {
    const bool found = addFrom(dimensions, basis);
    if (found) useSpan();
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

  /// What the subspace at hand makes sums of few. Only the sums of at most strength - 2 lead to such as are forbidden.
  void useSpan() {
    for (std::uint32_t summands = strength - 1; summands > 0; --summands) {
      Numbers& from = layers[summands - 1];
      std::erase_if(from, [&](std::uint32_t v) { return fewest[v] != summands - 1; });
      for (std::size_t i = 1; i < span.size(); ++i) {
        for (const std::uint32_t v : from) {
          const std::uint32_t sum = space.add(v, span[i]);
          if (fewest[sum] <= summands) continue;
          fewest[sum] = static_cast<std::uint8_t>(summands);
          if (summands < layers.size()) layers[summands].push_back(sum);
        }
      }
    }
  }

  const std::uint32_t strength, field;
  const Space space;
  std::optional<Galois> line;
  std::vector<std::uint8_t> fewest;  ///< of each vector: of how many subspaces it is a sum, if of less than `strength`
  std::vector<Numbers> layers;       ///< by that number, those below strength - 1, and some that have become a sum of fewer
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
