// Delsarte's linear programming bound on the size of an orthogonal array.
#include "compiler/design/ArrayChoice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

namespace tbem::design {

namespace {

using Wide = __int128;

/// Factors of equal levels are exchangeable: what matters of a pair of rows, or of an effect, is in how many columns of each
/// number of levels it is not zero.
struct Scheme {
  struct Part {
    std::int64_t levels = 0, count = 0;
  };
  std::vector<Part> parts;
  std::vector<std::vector<std::int64_t>> points;  ///< all vectors of weights, zero first
};

std::int64_t binomial(std::int64_t n, std::int64_t k) {
  if (k < 0 || k > n) return 0;
  std::int64_t result = 1;
  for (std::int64_t i = 1; i <= k; ++i) result = result * (n - k + i) / i;
  return result;
}

/// K_j(i) of k columns of s levels: the sum over all effects of weight j of their characters at a pair of rows that differ in i
/// columns.
std::int64_t krawtchouk(std::int64_t s, std::int64_t k, std::int64_t j, std::int64_t i) {
  std::int64_t sum = 0;
  for (std::int64_t m = 0; m <= j; ++m) {
    std::int64_t power = 1;
    for (std::int64_t e = 0; e < j - m; ++e) power *= s - 1;
    sum += (m % 2 == 0 ? 1 : -1) * power * binomial(i, m) * binomial(k - i, j - m);
  }
  return sum;
}

/// Nothing where the program would be large or its numbers leave 40 bits.
std::optional<Scheme> schemeOf(const std::vector<std::uint32_t>& levels) {
  constexpr std::size_t kMostPoints = 160;
  constexpr double kMostBits = 40;
  std::map<std::uint32_t, std::int64_t> counts;
  double bits = 0;
  for (const std::uint32_t s : levels) {
    if (s < 2) continue;
    ++counts[s];
    bits += std::log2(s);
  }
  Scheme scheme;
  scheme.points = {{}};
  for (const auto& [s, count] : counts) {
    scheme.parts.push_back({s, count});
    std::vector<std::vector<std::int64_t>> longer;
    for (const auto& point : scheme.points) {
      for (std::int64_t w = 0; w <= count && longer.size() <= kMostPoints; ++w) {
        longer.push_back(point);
        longer.back().push_back(w);
      }
    }
    scheme.points = std::move(longer);
    if (scheme.points.size() > kMostPoints || bits > kMostBits) return std::nullopt;
  }
  return scheme;
}

/// Maximises sum x over x >= 0, A x <= 1: dense simplex from the origin. A row of the tableau is a constraint, the last the
/// objective.
std::vector<double> maximise(std::vector<std::vector<double>> table, std::size_t variables) {
  const std::size_t rows = table.size() - 1, right = variables + rows;
  std::vector<std::size_t> basis(rows);
  for (std::size_t r = 0; r < rows; ++r) basis[r] = variables + r;
  constexpr double kSmall = 1e-9;
  constexpr int kMostPivots = 4000;  // an unfinished program gives a weaker bound, never a wrong one
  for (int pivot = 0; pivot < kMostPivots; ++pivot) {
    // The first column that helps (Bland): no cycles.
    std::size_t enter = 0;
    while (enter < right && table[rows][enter] <= kSmall) ++enter;
    if (enter == right) break;
    std::optional<std::size_t> leave;
    for (std::size_t r = 0; r < rows; ++r) {
      if (table[r][enter] <= kSmall) continue;
      const double ratio = table[r][right] / table[r][enter];
      const double best = leave ? table[*leave][right] / table[*leave][enter] : 0;
      if (!leave || ratio < best - kSmall || (ratio < best + kSmall && basis[r] < basis[*leave])) leave = r;
    }
    if (!leave) break;
    const double scale = table[*leave][enter];
    for (double& value : table[*leave]) value /= scale;
    for (std::size_t r = 0; r <= rows; ++r) {
      const double factor = table[r][enter];
      if (r == *leave || factor == 0) continue;
      for (std::size_t c = 0; c <= right; ++c) table[r][c] -= factor * table[*leave][c];
    }
    basis[*leave] = enter;
  }
  std::vector<double> solution(variables, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    if (basis[r] < variables) solution[basis[r]] = table[r][right];
  }
  return solution;
}

}  // namespace

std::uint64_t linearProgrammingBound(const std::vector<std::uint32_t>& levels, std::uint32_t strength) {
  const auto scheme = schemeOf(levels);
  if (!scheme) return 1;
  const std::size_t n = scheme->points.size();
  const auto character = [&](std::size_t j, std::size_t i) {
    std::int64_t product = 1;
    for (std::size_t p = 0; p < scheme->parts.size(); ++p)
      product *= krawtchouk(scheme->parts[p].levels, scheme->parts[p].count, scheme->points[j][p], scheme->points[i][p]);
    return product;
  };
  std::vector<std::vector<std::int64_t>> k(n, std::vector<std::int64_t>(n));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) k[j][i] = character(j, i);
  }
  // f = sum_j f_j K_j >= 0, f_j <= 0 for effects of more than `strength` factors: then f(0) <= sum over pairs of rows / N of f <=
  // N f_0. With f_0 = 1 the largest f(0); variables f_j K_j(0), those of free sign as two.
  struct Variable {
    std::size_t j = 0;
    int sign = 1;
  };
  std::vector<Variable> variables;
  for (std::size_t j = 1; j < n; ++j) {
    std::int64_t weight = 0;
    for (const std::int64_t w : scheme->points[j]) weight += w;
    variables.push_back({j, -1});
    if (weight <= static_cast<std::int64_t>(strength)) variables.push_back({j, 1});
  }
  std::vector<std::vector<double>> table(n, std::vector<double>(variables.size() + n, 0));
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t v = 0; v < variables.size(); ++v)
      table[i - 1][v] =
          -variables[v].sign * static_cast<double>(k[variables[v].j][i]) / static_cast<double>(k[variables[v].j][0]);
    table[i - 1][variables.size() + i - 1] = 1;
    table[i - 1].back() = 1;
  }
  for (std::size_t v = 0; v < variables.size(); ++v) table[n - 1][v] = variables[v].sign;
  const std::vector<double> solution = maximise(std::move(table), variables.size());
  // Certified: coefficients rounded to integers over 2^40, signs kept; f_0 raised until f >= 0 holds exactly.
  const double unit = std::ldexp(1.0, 40);
  std::vector<Wide> f(n, 0);
  f[0] = static_cast<Wide>(unit);
  for (std::size_t v = 0; v < variables.size(); ++v) {
    const std::size_t j = variables[v].j;
    f[j] += variables[v].sign * static_cast<Wide>(solution[v] * unit / static_cast<double>(k[j][0]));
  }
  const auto valueAt = [&](std::size_t i) {
    Wide sum = 0;
    for (std::size_t j = 0; j < n; ++j) sum += f[j] * k[j][i];
    return sum;
  };
  Wide missing = 0;
  for (std::size_t i = 1; i < n; ++i) missing = std::max(missing, -valueAt(i));
  f[0] += missing;
  const Wide top = valueAt(0);
  return top <= f[0] ? 1 : static_cast<std::uint64_t>((top + f[0] - 1) / f[0]);
}

}  // namespace tbem::design
