// Lower bounds on the size of an orthogonal array.
#include "compiler/design/ArrayChoice.h"

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
  if (divisor > kLimit || rao > kLimit) return {0, 0, 0};
  const Wide smallest = (rao + divisor - 1) / divisor * divisor;
  return {static_cast<std::uint64_t>(divisor), static_cast<std::uint64_t>(rao),
          smallest > kLimit ? 0 : static_cast<std::uint64_t>(smallest)};
}

}  // namespace tbem::design
