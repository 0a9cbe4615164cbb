#include "compiler/spec/network/Causes.h"

#include <algorithm>
#include <numeric>

namespace tbem::spec {

namespace {

constexpr std::size_t kMaxCauses = 3;

using Box = std::vector<std::vector<std::uint32_t>>;  ///< by factor: levels, ascending

/// Calls visit(position) for each combination of the box until it returns false.
template <class Visit>
bool everywhere(const Broken& broken, const Box& box, Visit&& visit) {
  std::vector<std::size_t> at(box.size(), 0);
  for (;;) {
    std::size_t position = 0;
    for (std::size_t i = 0; i < box.size(); ++i) position = position * broken.sizes[i] + box[i][at[i]];
    if (!visit(position)) return false;
    std::size_t i = box.size();
    while (i-- > 0) {
      if (++at[i] < box[i].size()) break;
      at[i] = 0;
    }
    if (i == static_cast<std::size_t>(-1)) return true;
  }
}

bool allBroken(const Broken& broken, const Box& box) {
  return everywhere(broken, box, [&](std::size_t position) {
    return broken.at[position] || (!broken.exists.empty() && !broken.exists[position]);
  });
}

/// The largest box around a point in which everything breaks: whole factors first, then single levels.
Box grow(const Broken& broken, std::size_t point) {
  Box box(broken.factors.size());
  for (std::size_t i = broken.factors.size(); i-- > 0;) {
    box[i] = {static_cast<std::uint32_t>(point % broken.sizes[i])};
    point /= broken.sizes[i];
  }
  for (std::size_t i = 0; i < box.size(); ++i) {
    Box wider = box;
    wider[i].resize(broken.sizes[i]);
    std::iota(wider[i].begin(), wider[i].end(), 0U);
    if (allBroken(broken, wider)) box = std::move(wider);
  }
  for (std::size_t i = 0; i < box.size(); ++i) {
    for (std::uint32_t level = 0; level < broken.sizes[i]; ++level) {
      if (std::find(box[i].begin(), box[i].end(), level) != box[i].end()) continue;
      Box wider = box;
      wider[i].push_back(level);
      std::sort(wider[i].begin(), wider[i].end());
      if (allBroken(broken, wider)) box = std::move(wider);
    }
  }
  return box;
}

/// The levels in words and as a condition: the shortest true statement among =, even, odd, >=, <=, and the list.
Cause describe(std::uint32_t position, const graph::FactorSpec& factor, const std::vector<std::uint32_t>& levels) {
  const auto made = [&](std::string text, std::string condition) {
    return Cause{position, levels, factor.name + " " + text, std::move(condition)};
  };
  const auto same = [&](std::string text) { return made(text, factor.name + " " + text); };
  if (levels.size() == 1) return same("= " + factor.levels[levels.front()].text);
  const auto chosen = [&](std::size_t i) { return std::find(levels.begin(), levels.end(), i) != levels.end(); };
  const auto isExactly = [&](auto property) {
    if (levels.back() >= factor.values().size()) return false;
    for (std::size_t i = 0; i < factor.values().size(); ++i) {
      if (!factor.levels[i].number || property(*factor.levels[i].number) != chosen(i)) return false;
    }
    return true;
  };
  if (isExactly([](const Rational& v) { return v.isInt() && v.num % 2 == 0; })) return made("even", factor.name + " mod 2 = 0");
  if (isExactly([](const Rational& v) { return v.isInt() && v.num % 2 != 0; })) return made("odd", factor.name + " mod 2 <> 0");
  for (const std::uint32_t i : levels) {
    if (!factor.levels[i].number) break;
    const Rational end = *factor.levels[i].number;
    if (isExactly([&](const Rational& v) { return compare(v, end) >= 0; })) return same(">= " + end.str());
    if (isExactly([&](const Rational& v) { return compare(v, end) <= 0; })) return same("<= " + end.str());
  }
  std::string text, condition;
  for (const std::uint32_t i : levels) {
    text += (text.empty() ? "" : ", ") + factor.levels[i].text;
    condition += (condition.empty() ? "" : " or ") + factor.name + " = " + factor.levels[i].text;
  }
  return made("in {" + text + "}", "(" + condition + ")");
}

}  // namespace

std::vector<std::vector<Cause>> causesOf(const Broken& broken, const graph::ExperimentSpec& spec, bool& all) {
  std::vector<std::vector<Cause>> causes;
  std::vector<bool> left = broken.at;
  all = false;
  while (causes.size() < kMaxCauses) {
    const auto next = std::find(left.begin(), left.end(), true);
    if (next == left.end()) break;
    const Box box = grow(broken, static_cast<std::size_t>(next - left.begin()));
    everywhere(broken, box, [&](std::size_t position) {
      left[position] = false;
      return true;
    });
    std::vector<Cause> cause;
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (box[i].size() == broken.sizes[i]) continue;
      cause.push_back(describe(broken.factors[i], spec.factors[broken.factors[i]], box[i]));
    }
    causes.push_back(std::move(cause));
  }
  all = std::find(left.begin(), left.end(), true) == left.end();
  return causes;
}

}  // namespace tbem::spec
