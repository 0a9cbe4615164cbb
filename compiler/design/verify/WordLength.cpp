// The generalised word-length pattern from the distances between rows.
#include "compiler/design/verify/Verify.h"

#include <algorithm>
#include <map>

namespace tbem::design {

namespace {

using Polynomial = std::vector<__int128>;  // coefficients of z^0 ..
constexpr __int128 kHuge = static_cast<__int128>(1) << 100;

/// polynomial *= 1 + a z, cut at its length; false where a coefficient leaves 100 bits.
bool timesLinear(Polynomial& polynomial, std::int64_t a) {
  for (std::size_t j = polynomial.size(); j-- > 1;) {
    polynomial[j] += polynomial[j - 1] * a;
    if (polynomial[j] > kHuge || polynomial[j] < -kHuge) return false;
  }
  return true;
}

}  // namespace

std::optional<std::vector<Rational>> wordLengthPattern(const Array& array, std::uint32_t maxLength) {
  const std::size_t k = array.columns();
  if (array.runs == 0 || static_cast<double>(array.runs) * static_cast<double>(array.runs) * static_cast<double>(k) > 4e9)
    return std::nullopt;
  // Columns of equal levels are exchangeable: a pair of rows matters only by its coincidences among them.
  std::vector<std::uint32_t> groups = array.levels;
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  std::vector<std::size_t> groupOf(k);
  std::vector<std::uint32_t> sizes(groups.size(), 0);
  for (std::size_t c = 0; c < k; ++c) {
    groupOf[c] = static_cast<std::size_t>(std::lower_bound(groups.begin(), groups.end(), array.levels[c]) - groups.begin());
    ++sizes[groupOf[c]];
  }
  std::map<std::vector<std::uint32_t>, std::int64_t> pairs;
  for (std::size_t r = 0; r < array.runs; ++r) {
    for (std::size_t s = r; s < array.runs; ++s) {
      std::vector<std::uint32_t> equal(groups.size(), 0);
      for (std::size_t c = 0; c < k; ++c) equal[groupOf[c]] += array.at(r, c) == array.at(s, c) ? 1 : 0;
      pairs[equal] += r == s ? 1 : 2;
    }
  }
  const std::size_t length = std::min<std::size_t>(maxLength, k) + 1;
  Polynomial sum(length, 0);
  for (const auto& [equal, count] : pairs) {
    Polynomial product(length, 0);
    product[0] = 1;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::uint32_t i = 0; i < sizes[g]; ++i) {
        if (!timesLinear(product, i < equal[g] ? static_cast<std::int64_t>(groups[g]) - 1 : -1)) return std::nullopt;
      }
    }
    for (std::size_t j = 0; j < length; ++j) {
      if (product[j] > kHuge / count || product[j] < -kHuge / count) return std::nullopt;
      sum[j] += product[j] * count;
    }
  }
  std::vector<Rational> pattern;
  const __int128 squared = static_cast<__int128>(array.runs) * static_cast<__int128>(array.runs);
  for (const __int128 total : sum) {
    const auto value = Rational::make(total, squared);
    if (!value) return std::nullopt;
    pattern.push_back(*value);
  }
  return pattern;
}

}  // namespace tbem::design
