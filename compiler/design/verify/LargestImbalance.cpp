#include "compiler/design/verify/Verify.h"

#include <cmath>

namespace tbem::design {

namespace {

class Search {
public:
  explicit Search(const Array& array) : array(array) {}

  void count(const std::vector<std::uint32_t>& columns) {
    std::size_t combinations = 1;
    for (const std::uint32_t column : columns) combinations *= array.levels[column];
    std::vector<std::uint64_t> counts(combinations, 0);
    for (std::size_t r = 0; r < array.runs; ++r) {
      std::size_t place = 0;
      for (const std::uint32_t column : columns) place = place * array.levels[column] + array.at(r, column);
      ++counts[place];
    }
    const double even = static_cast<double>(array.runs) / static_cast<double>(combinations);
    for (std::size_t place = 0; place < combinations; ++place) {
      const double off = std::abs(static_cast<double>(counts[place]) - even) / even;
      if (off <= largest + 1e-12) continue;
      largest = off;
      found = Imbalance{
          columns,
          {},
          counts[place],
          Rational::make(static_cast<std::int64_t>(array.runs), static_cast<std::int64_t>(combinations)).value_or(Rational{})};
      std::size_t rest = place;
      found->combination.resize(columns.size());
      for (std::size_t i = columns.size(); i-- > 0; rest /= array.levels[columns[i]])
        found->combination[i] = static_cast<std::uint32_t>(rest % array.levels[columns[i]]);
    }
  }

  std::optional<Imbalance> found;

private:
  const Array& array;
  double largest = 0;
};

}  // namespace

std::optional<Imbalance> largestImbalance(const Array& array) {
  Search search(array);
  for (std::uint32_t a = 0; array.runs > 0 && a < array.columns(); ++a) {
    if (nestingOf(array.nested, a) != nullptr) continue;
    search.count({a});
    for (std::uint32_t b = a + 1; b < array.columns(); ++b) {
      if (nestingOf(array.nested, b) == nullptr) search.count({a, b});
    }
  }
  return search.found;
}

}  // namespace tbem::design
