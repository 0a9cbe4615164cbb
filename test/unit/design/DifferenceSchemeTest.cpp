#include "compiler/design/field/DifferenceScheme.h"

#include <gtest/gtest.h>

#include <vector>

using namespace tbem::design;

namespace {

/// The components of an element over the prime factors of `levels`, smallest first: this file's own reading of the group.
std::vector<std::uint32_t> components(std::uint32_t element, std::uint32_t levels) {
  std::vector<std::uint32_t> parts;
  for (std::uint32_t p = 2; levels > 1; ++p) {
    for (; levels % p == 0; levels /= p, element /= p) parts.push_back(element % p * 1000 + p);
  }
  return parts;
}

/// a - b, component by component, as one number.
std::uint32_t difference(std::uint32_t a, std::uint32_t b, std::uint32_t levels) {
  const auto x = components(a, levels), y = components(b, levels);
  std::uint32_t result = 0, place = 1;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::uint32_t p = x[i] % 1000;
    result += (x[i] / 1000 + p - y[i] / 1000) % p * place;
    place *= p;
  }
  return result;
}

}  // namespace

TEST(DifferenceSchemes, DifferencesAreEven) {
  DifferenceSchemes schemes;
  for (std::uint32_t levels = 2; levels <= 16; ++levels) {
    for (std::uint32_t rows = levels; rows <= 50; rows += levels) {
      const std::uint32_t columns = schemes.columns(rows, levels);
      ASSERT_GE(columns, 2U);
      ASSERT_LE(columns, rows);  // Jungnickel's bound: at most as many columns as rows
      const DifferenceScheme d = schemes.build(rows, columns, levels);
      for (std::uint32_t a = 0; a < columns; ++a) {
        for (std::uint32_t b = 0; b < a; ++b) {
          std::vector<std::uint32_t> counts(levels, 0);
          for (std::uint32_t r = 0; r < rows; ++r) ++counts[difference(d.at(r, a), d.at(r, b), levels)];
          EXPECT_EQ(counts, std::vector<std::uint32_t>(levels, rows / levels)) << rows << " x " << columns << " over " << levels;
        }
      }
      for (std::uint32_t r = 0; r < rows; ++r) EXPECT_EQ(d.at(r, 0), 0U);
    }
  }
}

// Sizes in the literature: Jungnickel 1979 (2q), Dawson 1985 (4q), Seberry 1979, Johnson, Dulmage and Mendelsohn 1961.
TEST(DifferenceSchemes, KnownSizes) {
  DifferenceSchemes schemes;
  EXPECT_EQ(schemes.columns(6, 3), 6U);
  EXPECT_EQ(schemes.columns(10, 5), 10U);
  EXPECT_EQ(schemes.columns(18, 9), 18U);
  EXPECT_EQ(schemes.columns(20, 5), 20U);
  EXPECT_EQ(schemes.columns(28, 7), 28U);
  EXPECT_EQ(schemes.columns(12, 3), 12U);
  EXPECT_EQ(schemes.columns(12, 4), 12U);
  EXPECT_EQ(schemes.columns(12, 6), 6U);
  EXPECT_EQ(schemes.columns(12, 12), 6U);
  EXPECT_EQ(schemes.columns(36, 3), 36U);
  EXPECT_EQ(schemes.columns(7, 3), 1U);
}
