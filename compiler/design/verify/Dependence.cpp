// Factors that determine each other in every row of a design.
#include "compiler/design/verify/Aliases.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

namespace tbem::design {

namespace {

/// y by x in every row that has both; nothing where one x has two ys.
std::optional<std::map<double, double>> functionOf(const std::vector<Point>& points, std::uint32_t x, std::uint32_t y) {
  std::map<double, double> values;
  for (const Point& point : points) {
    if (std::isnan(point[x]) || std::isnan(point[y])) continue;
    const auto [at, fresh] = values.emplace(point[x], point[y]);
    if (!fresh && at->second != point[y]) return std::nullopt;
  }
  return values;
}

/// slope and offset such that y = slope x + offset exactly, on two pairs or more.
std::optional<std::pair<Rational, Rational>> lineThrough(const std::map<double, double>& values) {
  if (values.size() < 2) return std::nullopt;
  std::vector<std::pair<Rational, Rational>> exact;
  for (const auto& [x, y] : values) {
    const auto rx = Rational::fromDouble(x), ry = Rational::fromDouble(y);
    if (!rx || !ry || rx->toDouble() != x || ry->toDouble() != y) return std::nullopt;
    exact.emplace_back(*rx, *ry);
  }
  const auto dx = sub(exact[1].first, exact[0].first), dy = sub(exact[1].second, exact[0].second);
  const auto slope = dx && dy ? div(*dy, *dx) : std::nullopt;
  const auto rise = slope ? mul(*slope, exact[0].first) : std::nullopt;
  const auto offset = rise ? sub(exact[0].second, *rise) : std::nullopt;
  if (!offset) return std::nullopt;
  for (const auto& [x, y] : exact) {
    const auto product = mul(*slope, x);
    const auto sum = product ? add(*product, *offset) : std::nullopt;
    if (!sum || *sum != y) return std::nullopt;
  }
  return std::pair{*slope, *offset};
}

std::string levelName(const Factor& factor, double value) {
  return factor.numeric() ? fmt::format("{:g}", value) : factor.labels[static_cast<std::size_t>(value)];
}

std::string lineText(const Factor& x, const Factor& y, Rational slope, Rational offset) {
  std::string text = fmt::format("`{}` = ", y.name);
  if (slope == Rational::of(-1)) {
    text += "-";
  } else if (slope != Rational::of(1)) {
    text += slope.str() + " ";
  }
  text += fmt::format("`{}`", x.name);
  if (offset.num > 0) text += " + " + offset.str();
  if (offset.num < 0) text += " - " + Rational{-offset.num, offset.den}.str();
  return text + " in every row";
}

std::string tableText(const Factor& x, const Factor& y, const std::map<double, double>& values, bool mutual) {
  std::string text = mutual ? fmt::format("`{}` and `{}` determine each other in every row (", x.name, y.name)
                            : fmt::format("`{}` determines `{}` in every row (", x.name, y.name);
  std::size_t shown = 0;
  for (const auto& [a, b] : values) {
    if (shown == 4) {
      text += ", ...";
      break;
    }
    text += fmt::format("{}{} with {}", shown++ == 0 ? "" : ", ", levelName(x, a), levelName(y, b));
  }
  return text + ")";
}

bool constant(const std::map<double, double>& values) {
  for (const auto& [x, y] : values) {
    if (y != values.begin()->second) return false;
  }
  return true;
}

}  // namespace

std::vector<Dependence> dependences(const std::vector<Factor>& factors, const std::vector<Point>& points) {
  std::vector<Dependence> found;
  for (std::uint32_t x = 0; x < factors.size(); ++x) {
    for (std::uint32_t y = 0; y < factors.size(); ++y) {
      if (x == y) continue;
      const auto forward = functionOf(points, x, y);
      if (!forward || forward->size() < 2 || constant(*forward)) continue;
      const bool mutual = functionOf(points, y, x).has_value();
      if (mutual && y < x) continue;  // said once
      Dependence dependence{x, y, mutual, false, {}, {}, ""};
      const auto line = factors[x].numeric() && factors[y].numeric() ? lineThrough(*forward) : std::nullopt;
      if (line) {
        dependence.linear = true;
        dependence.slope = line->first;
        dependence.offset = line->second;
        dependence.text = lineText(factors[x], factors[y], line->first, line->second);
      } else {
        dependence.text = tableText(factors[x], factors[y], *forward, mutual);
      }
      found.push_back(std::move(dependence));
    }
  }
  return found;
}

}  // namespace tbem::design
