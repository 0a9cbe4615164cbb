#include "compiler/design/field/Caps.h"

#include "compiler/design/field/Galois.h"

#include <algorithm>
#include <array>

namespace tbem::design {

namespace {

using Points = std::vector<std::vector<std::uint32_t>>;
constexpr std::uint64_t kMany = std::uint64_t{1} << 40;

/// Union of orbits of a power of a Singer cycle of PG(5, 3): powers of x modulo x^6 + x^5 + 2, exponents 52 k + r, k < 7. The
/// residues were found by a search.
constexpr std::array<std::uint32_t, 8> kHill{0, 1, 9, 14, 22, 29, 39, 42};

Points hillCap() {
  std::vector<std::uint32_t> power{1, 0, 0, 0, 0, 0};
  Points points;
  for (std::uint32_t e = 0; e < 364; ++e) {
    if (std::find(kHill.begin(), kHill.end(), e % 52) != kHill.end()) points.push_back(power);
    const std::uint32_t top = power.back();
    std::rotate(power.begin(), power.end() - 1, power.end());
    power[0] = top;  // x^6 = 2 x^5 + 1
    power[5] = (power[5] + 2 * top) % 3;
  }
  return points;
}

/// x^2 + x y + n y^2 with the least n for which it is irreducible.
class Form {
public:
  explicit Form(const Galois& field) : field(field) {
    while (hasRoot()) ++n;
  }
  std::uint32_t operator()(std::uint32_t x, std::uint32_t y) const {
    return field.add(field.multiply(x, field.add(x, y)), field.multiply(n, field.multiply(y, y)));
  }

private:
  bool hasRoot() const {
    for (std::uint32_t x = 0; x < field.size(); ++x) {
      if ((*this)(x, 1) == 0) return true;
    }
    return false;
  }
  const Galois& field;
  std::uint32_t n = 1;
};

/// Sizes of caps in AG(dimensions, q) and in PG(m-1, q), and of how many dimensions the affine factor is; 0: it is no product.
struct Way {
  std::uint64_t size = 0;
  std::uint32_t affine = 0;
};
std::uint64_t product(std::uint64_t a, std::uint64_t b) { return a > kMany / b ? kMany : a * b; }

Way affineWay(std::uint32_t q, std::uint32_t dimensions) {
  if (dimensions == 0) return {1, 0};
  if (q == 2) return {std::uint64_t{1} << std::min(dimensions, 40U), 0};
  if (dimensions == 1) return {2, 0};
  if (dimensions == 2) return {q % 2 == 0 ? q + 2U : q + 1U, 0};
  if (dimensions == 3) return {std::uint64_t{q} * q, 0};
  Way best;
  for (const std::uint32_t part : {1U, 2U, 3U}) {
    const std::uint64_t size = product(affineWay(q, part).size, affineWay(q, dimensions - part).size);
    if (size > best.size) best = {size, part};
  }
  return best;
}

Way projectiveWay(std::uint32_t q, std::uint32_t m) {
  if (q == 2) return {std::uint64_t{1} << std::min(m - 1, 40U), 0};
  if (m <= 2) return {m, 0};
  if (m == 3) return {q % 2 == 0 ? q + 2U : q + 1U, 0};
  if (m == 4) return {std::uint64_t{q} * q + 1, 0};
  if (m == 6 && q == 3) return {56, 0};
  Way best;
  for (std::uint32_t part = 1; part + 2 <= m; ++part) {
    const std::uint64_t size = product(projectiveWay(q, m - part).size, affineWay(q, part).size);
    if (size > best.size) best = {size, part};
  }
  return best;
}

Points products(const Points& first, const Points& second, std::size_t wanted) {
  Points points;
  for (const auto& a : first) {
    for (const auto& b : second) {
      if (points.size() == wanted) return points;
      points.push_back(a);
      points.back().insert(points.back().end(), b.begin(), b.end());
    }
  }
  return points;
}

Points affinePoints(const Galois& field, std::uint32_t dimensions, std::size_t wanted) {
  const std::uint32_t q = field.size();
  if (dimensions == 1) return {{0}, {1}};
  const std::uint32_t part = q == 2 ? 1 : affineWay(q, dimensions).affine;
  if (part != 0) return products(affinePoints(field, part, wanted), affinePoints(field, dimensions - part, wanted), wanted);
  const Form form(field);
  Points points;
  if (dimensions == 2 && q % 2 == 0) points.push_back({0, 0});  // the nucleus
  for (std::uint32_t x = 0; x < q; ++x) {
    for (std::uint32_t y = 0; y < q; ++y) {
      const std::uint32_t value = form(x, y);
      if (dimensions == 3) points.push_back({x, y, value});
      if (dimensions == 2 && value == 1) points.push_back({x, y});
    }
  }
  return points;
}

Points projectivePoints(const Galois& field, std::uint32_t m, std::size_t wanted) {
  const std::uint32_t q = field.size();
  if (m == 2 && q > 2) return {{1, 0}, {0, 1}};
  if (q == 2) return products({{1}}, affinePoints(field, m - 1, wanted), wanted);
  if (q == 3 && m == 6) return hillCap();
  if (m > 4) {
    const std::uint32_t part = projectiveWay(q, m).affine;
    return products(projectivePoints(field, m - part, wanted), affinePoints(field, part, wanted), wanted);
  }
  Points points = products({{1}}, affinePoints(field, m - 1, wanted), wanted);
  if (m == 4) points.push_back({0, 0, 0, 1});
  return points;
}

}  // namespace

std::uint64_t capSize(std::uint32_t q, std::uint32_t m) { return projectiveWay(q, m).size; }

Points capPoints(std::uint32_t q, std::uint32_t m, std::size_t wanted) {
  Points points = projectivePoints(*Galois::make(q), m, wanted);
  if (points.size() > wanted) points.resize(wanted);
  return points;
}

}  // namespace tbem::design
