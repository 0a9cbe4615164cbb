// Lower bounds on the size of an orthogonal array.
#include "compiler/design/verify/Bounds.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace tbem::design {

namespace {

using Wide = unsigned __int128;
constexpr Wide kLimit = static_cast<Wide>(UINT64_MAX);

/// Elementary symmetric polynomials e_0 .. e_degree of the numbers; entries above 64 bits are kept at kLimit + 1.
std::vector<Wide> elementary(const std::vector<std::uint64_t>& numbers, std::uint32_t degree) {
  std::vector<Wide> e(degree + 1, 0);
  e[0] = 1;
  for (const std::uint64_t x : numbers) {
    for (std::uint32_t j = degree; j >= 1; --j) {
      e[j] = e[j - 1] > kLimit ? kLimit + 1 : std::min<Wide>(kLimit + 1, e[j] + e[j - 1] * x);
    }
  }
  return e;
}

/// Rao's bound: for t = 2u the number of effects of at most u factors; for t = 2u + 1, plus those of u + 1 factors that hold the
/// one of most levels.
Wide raoBound(std::vector<std::uint64_t> freedoms, std::uint32_t t) {
  std::sort(freedoms.begin(), freedoms.end());
  const auto u = t / 2;
  Wide sum = 0;
  for (const Wide e : elementary(freedoms, u)) sum = std::min<Wide>(kLimit + 1, sum + e);
  if (t % 2 == 1 && !freedoms.empty()) {
    const std::uint64_t most = freedoms.back();
    freedoms.pop_back();
    sum = std::min<Wide>(kLimit + 1, sum + std::min<Wide>(kLimit + 1, elementary(freedoms, u)[u]) * most);
  }
  return sum;
}

/// lcm of all products of `t` of the numbers: for each prime, the sum of its t largest exponents.
Wide divisorOf(const std::vector<std::uint32_t>& levels, std::uint32_t t) {
  std::map<std::uint64_t, std::vector<std::uint32_t>> exponents;  // by prime, one for each number that it divides
  for (std::uint64_t rest : levels) {
    for (std::uint64_t p = 2; rest > 1; ++p) {
      if (p * p > rest) p = rest;
      std::uint32_t e = 0;
      for (; rest % p == 0; rest /= p) ++e;
      if (e != 0) exponents[p].push_back(e);
    }
  }
  Wide result = 1;
  for (auto& [p, all] : exponents) {
    std::sort(all.rbegin(), all.rend());
    if (all.size() > t) all.resize(t);
    for (std::uint32_t e = std::accumulate(all.begin(), all.end(), 0U); e > 0; --e) {
      result *= p;
      if (result > kLimit) return kLimit + 1;
    }
  }
  return result;
}

/// Bush 1952 (Hedayat, Sloane, Stufken, theorem 2.19): the most columns of OA(s^t, k, s, t).
std::uint64_t mostOfIndexOne(std::uint64_t s, std::uint64_t t) {
  if (s <= t) return t + 1;
  return s % 2 == 1 && t >= 3 ? s + t - 2 : s + t - 1;
}

/// Bose and Bush 1952 (Hedayat, Sloane, Stufken, theorem 2.8): the most columns of OA(lambda s^2, k, s, 2).
std::uint64_t mostOfStrengthTwo(std::uint64_t lambda, std::uint64_t s) {
  const std::uint64_t rao = (lambda * s * s - 1) / (s - 1), b = (lambda - 1) % (s - 1);
  if (b == 0) return rao;
  const std::uint64_t square = 1 + 4 * s * (s - 1 - b), offset = 2 * s - 2 * b - 1;
  std::uint64_t theta = 0;
  while ((2 * (theta + 1) + offset) * (2 * (theta + 1) + offset) <= square) ++theta;
  return rao - theta - 1;
}

/// Bierbrauer 1995: N >= s^k (1 - (s - 1) k / (s (t + 1))). True where that excludes N; large s^k are let pass.
bool belowBierbrauer(std::uint64_t runs, std::uint64_t s, std::uint64_t k, std::uint64_t t) {
  if (s * (t + 1) <= (s - 1) * k) return false;
  Wide power = s * (t + 1) - (s - 1) * k;
  for (std::uint64_t i = 0; i < k; ++i) {
    power *= s;
    if (power > kLimit * s * (t + 1)) return true;
  }
  return static_cast<Wide>(runs) * s * (t + 1) < power;
}

/// The name of a bound that excludes OA(runs, k, s, t), s^t dividing runs, or nothing. Rows with one level of a column, without
/// it, are an array of one strength less: so the bound of strength two counts for all.
const char* excluded(std::uint64_t runs, std::uint64_t s, std::uint64_t k, std::uint64_t t) {
  if (belowBierbrauer(runs, s, k, t)) return "Bierbrauer's bound";
  for (; t >= 2 && k > t; --t, --k, runs /= s) {
    Wide power = 1;
    for (std::uint64_t i = 0; i < t && power <= kLimit; ++i) power *= s;
    if (power == runs && k > mostOfIndexOne(s, t)) return "Bush's bound";
    if (t == 2 && runs / (s * s) < kLimit / (s * s) && k > mostOfStrengthTwo(runs / (s * s), s)) return "Bose and Bush's bound";
  }
  return nullptr;
}

}  // namespace

Bounds bounds(const std::vector<std::uint32_t>& levels, std::uint32_t strength) {
  std::vector<std::uint32_t> varying;
  std::vector<std::uint64_t> freedoms;
  for (const std::uint32_t level : levels) {
    if (level < 2) continue;
    varying.push_back(level);
    freedoms.push_back(level - 1);
  }
  const auto t = std::min<std::uint32_t>(strength, static_cast<std::uint32_t>(varying.size()));
  const Wide divisor = divisorOf(varying, t), rao = raoBound(freedoms, t);
  if (divisor > kLimit || rao > kLimit) return {0, 0, 0, ""};
  const Wide least = (rao + divisor - 1) / divisor * divisor;
  Bounds result{static_cast<std::uint64_t>(divisor), static_cast<std::uint64_t>(rao), 0,
                least == divisor ? "divisibility" : "Rao's bound"};
  if (least > kLimit) return result;
  result.smallest = static_cast<std::uint64_t>(least);
  std::map<std::uint32_t, std::uint64_t> columns;
  for (const std::uint32_t s : varying) ++columns[s];
  constexpr int kMostSteps = 1000;  // each next multiple is excluded or not; without a limit the bound is still one
  bool raised = t >= 2;
  for (int step = 0; raised && step < kMostSteps && result.smallest <= UINT64_MAX - result.divisor; ++step) {
    raised = false;
    for (const auto& [s, k] : columns) {
      const char* by = k > t ? excluded(result.smallest, s, k, t) : nullptr;
      if (by == nullptr) continue;
      result.smallest += result.divisor;
      result.by = by;
      raised = true;
      break;
    }
  }
  return result;
}

Bounds sharpBounds(const std::vector<std::uint32_t>& levels, std::uint32_t strength) {
  Bounds result = bounds(levels, strength);
  const std::uint64_t least = linearProgrammingBound(levels, strength);
  if (result.smallest == 0 || least <= result.smallest) return result;
  result.smallest = (least + result.divisor - 1) / result.divisor * result.divisor;
  result.by = "linear programming";
  return result;
}

}  // namespace tbem::design
