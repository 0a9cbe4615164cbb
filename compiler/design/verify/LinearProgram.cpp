// Delsarte's linear programming bound on the size of an orthogonal array.
#include "compiler/design/verify/Bounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
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

/// Maximises over x >= 0 with A x <= 1: dense simplex from the origin, without the columns of the basis. A row of the table is a
/// constraint with its right side last, the last row the objective.
class Simplex {
public:
  Simplex(std::vector<std::vector<double>> table, std::size_t variables)
      : table(std::move(table)), columns(variables), rows(this->table.size() - 1), inColumn(variables), inRow(rows) {
    std::iota(inColumn.begin(), inColumn.end(), std::size_t{0});
    std::iota(inRow.begin(), inRow.end(), variables);
  }

  /// Stops before the optimum where that takes too long: a weaker bound follows from it, never a wrong one.
  std::vector<double> solution() {
    constexpr double kMostWork = 1e7;  // cells that are changed, some 10 ms
    for (double work = 0; work < kMostWork; work += static_cast<double>(rows * columns)) {
      const auto column = entering();
      const auto row = column ? leaving(*column) : std::nullopt;
      if (!row) break;
      pivot(*row, *column);
    }
    std::vector<double> values(columns, 0);
    for (std::size_t r = 0; r < rows; ++r) {
      if (inRow[r] < columns) values[inRow[r]] = table[r][columns];
    }
    return values;
  }

private:
  static constexpr double kSmall = 1e-7;
  static constexpr int kMostIdle = 50;  // pivots that gain nothing, until Bland's rule, which does not cycle

  std::vector<std::vector<double>> table;
  std::size_t columns, rows;
  std::vector<std::size_t> inColumn, inRow;  ///< which variable a column or a row stands for; slack variables come last
  int idle = 0;

  /// The column that helps most at once (Dantzig), or the first variable that helps (Bland).
  std::optional<std::size_t> entering() const {
    std::optional<std::size_t> best;
    for (std::size_t c = 0; c < columns; ++c) {
      if (table[rows][c] <= kSmall) continue;
      if (!best || (idle < kMostIdle ? table[rows][c] > table[rows][*best] : inColumn[c] < inColumn[*best])) best = c;
    }
    return best;
  }

  /// Of the rows that limit the column most the one with the largest pivot, which keeps rounding small, or the first (Bland).
  std::optional<std::size_t> leaving(std::size_t column) const {
    std::optional<std::size_t> leave;
    double best = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      if (table[r][column] <= kSmall) continue;
      const double ratio = table[r][columns] / table[r][column];
      const bool first = leave && (idle < kMostIdle ? table[r][column] > table[*leave][column] : inRow[r] < inRow[*leave]);
      if (leave && !(ratio < best - kSmall || (ratio < best + kSmall && first))) continue;
      leave = r;
      best = ratio;
    }
    return leave;
  }

  void pivot(std::size_t row, std::size_t column) {
    std::vector<double>& own = table[row];
    idle = own[columns] > kSmall ? 0 : idle + 1;
    const double scale = 1 / own[column];
    own[column] = 1;
    for (double& value : own) value *= scale;
    for (std::size_t r = 0; r <= rows; ++r) {
      const double factor = table[r][column];
      if (r == row || factor == 0) continue;
      table[r][column] = 0;
      double* to = table[r].data();
      for (std::size_t c = 0; c <= columns; ++c) to[c] -= factor * own[c];
    }
    std::swap(inRow[row], inColumn[column]);
  }
};

/// By effect and pair of rows, as the points are numbered.
std::vector<std::vector<std::int64_t>> charactersOf(const Scheme& scheme) {
  std::vector<std::vector<std::vector<std::int64_t>>> ofPart;
  for (const Scheme::Part& part : scheme.parts) {
    ofPart.emplace_back(part.count + 1);
    for (std::int64_t j = 0; j <= part.count; ++j) {
      for (std::int64_t i = 0; i <= part.count; ++i) ofPart.back()[j].push_back(krawtchouk(part.levels, part.count, j, i));
    }
  }
  const std::size_t n = scheme.points.size();
  std::vector<std::vector<std::int64_t>> k(n, std::vector<std::int64_t>(n, 1));
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t p = 0; p < ofPart.size(); ++p) k[j][i] *= ofPart[p][scheme.points[j][p]][scheme.points[i][p]];
    }
  }
  return k;
}

}  // namespace

std::uint64_t linearProgrammingBound(const std::vector<std::uint32_t>& levels, std::uint32_t strength) {
  const auto scheme = schemeOf(levels);
  if (!scheme) return 1;
  const std::vector<std::vector<std::int64_t>> k = charactersOf(*scheme);
  const std::size_t n = k.size();
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
  std::vector<std::vector<double>> table(n, std::vector<double>(variables.size() + 1, 0));
  for (std::size_t i = 1; i < n; ++i) {
    for (std::size_t v = 0; v < variables.size(); ++v)
      table[i - 1][v] =
          -variables[v].sign * static_cast<double>(k[variables[v].j][i]) / static_cast<double>(k[variables[v].j][0]);
    table[i - 1].back() = 1;
  }
  for (std::size_t v = 0; v < variables.size(); ++v) table[n - 1][v] = variables[v].sign;
  const std::vector<double> solution = Simplex(std::move(table), variables.size()).solution();
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
